// Alert channels: who is told of issues, and of which.
import { Link } from '@tanstack/react-router';
import type { AlertChannel } from 'hookyard/client';
import type { Column } from '../../components/DataTable.tsx';
import { ChoiceFilter, TextFilter } from '../../components/filters.tsx';
import { flagOf, YES_NO } from '../../components/flags.ts';
import { ListPage } from '../../components/ListPage.tsx';
import { Status } from '../../components/Status.tsx';
import { plain } from '../../format.ts';
import { usePageSearch } from '../../search.ts';
import { Time } from '../../zone.tsx';
import { TYPES } from './values.ts';

const AGAIN_MS = 10_000;

export const typeText = (type: AlertChannel['type']): string => TYPES[type] ?? type;

/** `disabled`, `failing` or `works`. */
export const healthOf = ({ enabled, failingSince }: AlertChannel): string =>
  enabled ? (failingSince === null ? 'works' : 'failed') : 'disabled';

const columns: Column<AlertChannel>[] = [
  {
    title: 'Channel',
    cell: (channel) => (
      <Link to={`/alert-channels/${channel.id}`}>
        <bdi>{plain(channel.name)}</bdi>
      </Link>
    ),
    csv: (channel) => channel.name,
  },
  { title: 'To', cell: (channel) => typeText(channel.type), csv: (channel) => channel.type },
  { title: 'State', cell: (channel) => <Status of={healthOf(channel)} />, csv: healthOf },
  {
    title: 'Last message',
    cell: (channel) => <Time at={channel.lastSentAt} />,
    csv: (channel) => channel.lastSentAt,
  },
  {
    title: 'What went wrong',
    cell: (channel) => <bdi>{plain(channel.lastError ?? '-')}</bdi>,
    csv: (channel) => channel.lastError,
    wideOnly: true,
  },
  { title: 'Id', cell: (channel) => channel.id, csv: (channel) => channel.id, wideOnly: true },
];

export function Channels() {
  const [search] = usePageSearch();
  return (
    <ListPage
      title="Alert channels"
      list="listAlertChannels"
      input={{ search: search.search, enabled: flagOf(search, 'enabled') }}
      columns={columns}
      every={AGAIN_MS}
      path="/alert-channels"
      make={{ label: 'New channel', to: '/alert-channels/new', scope: 'alerts:write' }}
      filters={
        <>
          <TextFilter name="search" label="Name" />
          <ChoiceFilter name="enabled" label="Enabled" choices={YES_NO} />
        </>
      }
      empty="There is none: nobody is told of issues."
    />
  );
}
