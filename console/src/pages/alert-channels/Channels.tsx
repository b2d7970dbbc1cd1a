// Alert channels: who is told of issues, and of which.
import { Button, Group } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { AlertChannel } from 'hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { ENABLED, enabledOf } from '../../components/enabled.ts';
import { ChoiceFilter, TextFilter } from '../../components/filters.tsx';
import { Page } from '../../components/Page.tsx';
import { Status } from '../../components/Status.tsx';
import { plain } from '../../format.ts';
import { pageOf, usePageSearch } from '../../search.ts';
import { Time } from '../../zone.tsx';
import { TYPES } from './values.ts';

const AGAIN_MS = 10_000;

export const typeText = (type: AlertChannel['type']): string =>
  TYPES.find(({ value }) => value === type)?.label ?? type;

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
  const [search, set] = usePageSearch();
  const navigate = useNavigate();
  const mayWrite = useMay('alerts:write');
  const input = { page: pageOf(search), pageSize: 50, search: search.search, enabled: enabledOf(search) };
  const answer = useAsk('listAlertChannels', input, { keep: true, every: AGAIN_MS });
  return (
    <Page
      title="Alert channels"
      actions={
        <>
          {mayWrite && (
            <Button size="xs" onClick={() => void navigate({ to: '/alert-channels/new' })}>
              New channel
            </Button>
          )}
          <CopyMenu call={{ name: 'listAlertChannels', input }} columns={columns} rows={answer.data?.data ?? []} />
        </>
      }
    >
      <Group align="end" gap="xs" mb="sm">
        <TextFilter name="search" label="Name" />
        <ChoiceFilter name="enabled" label="Enabled" choices={ENABLED} />
      </Group>
      <DataTable
        title="Alert channels"
        columns={columns}
        idOf={(channel) => channel.id}
        answer={answer}
        onOpen={(channel) => void navigate({ to: `/alert-channels/${channel.id}` })}
        onPage={(page) => set({ page: String(page) })}
        empty={search.search || search.enabled ? 'None matches.' : 'There is none: nobody is told of issues.'}
      />
    </Page>
  );
}
