// Alert channels: where messages about issues go, whether they arrive, and about which issues.
import { Button } from '@mantine/core';
import type { AlertChannel } from '@hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { useAct } from '../../api/queries.ts';
import { RecordActions, RotateSecret } from '../../components/actions.tsx';
import { type Column, nameColumn } from '../../components/DataTable.tsx';
import { Failed } from '../../components/Failed.tsx';
import type { Filter } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { Callout, Card } from '../../components/ui.tsx';
import { exactTime } from '../../forms/recordPages.tsx';
import { durationText, plain, shortened } from '../../format.ts';
import { Time } from '../../zone.tsx';
import { Settings, TYPES } from './ChannelForm.tsx';

const MOST_OF_RESPONSE = 2000;
const FILTERS = [
  { name: 'search', label: 'Name', kind: 'search' },
  { name: 'enabled', label: 'Enabled', kind: 'flag' },
] as const satisfies Filter[];

const stateOf = ({ enabled, failingSince }: AlertChannel): string =>
  enabled ? (failingSince === null ? 'active' : 'failing') : 'disabled';

const columns: Column<AlertChannel>[] = [
  nameColumn(),
  { title: 'Status', value: stateOf, as: 'status' },
  { title: 'Type', value: (channel) => TYPES[channel.type] },
  { title: 'Last message', value: (channel) => channel.lastSentAt, as: 'time' },
  { title: 'Last error', value: (channel) => channel.lastError, wideOnly: true },
  { title: 'ID', value: (channel) => channel.id, as: 'id', wideOnly: true },
];

export const Channels = () => (
  <ListPage
    of="alert channel"
    list="listAlertChannels"
    filters={FILTERS}
    columns={columns}
    make="alerts:write"
    empty="Get notified about issues by email, Slack, Microsoft Teams, PagerDuty or webhook."
  />
);

export function ChannelPage() {
  const mayWrite = useMay('alerts:write');
  return (
    <RecordPage
      get="getAlertChannel"
      what="alert channel"
      status={stateOf}
      disabled="No messages are sent. When you enable the channel, it reports matching issues that are open and not yet reported."
      actions={(channel) => mayWrite && <Actions channel={channel} />}
      facts={(channel) => ({
        Type: TYPES[channel.type],
        'Last message': <Time at={channel.lastSentAt} />,
        Created: <Time at={channel.createdAt} />,
        Updated: <Time at={channel.updatedAt} />,
      })}
    >
      {(channel) => (
        <>
          {channel.failingSince !== null && (
            <Callout tone="bad" title="Messages not delivered">
              Since <Time at={channel.failingSince} exact />: <bdi>{plain(channel.lastError ?? 'unknown error')}</bdi>.
              Fix the configuration, then send a test message.
            </Callout>
          )}
          {channel.withheldEmails.length > 0 && (
            <Callout tone="warn" title="Addresses that receive no email">
              {plain(channel.withheldEmails.join(', '))}: not confirmed, or in a domain that the operator does not
              allow. See Settings.
            </Callout>
          )}
          {mayWrite && <Test id={channel.id} />}
          <Settings
            key={channel.updatedAt}
            of={channel}
            more={{ 'Previous secret valid until': exactTime(channel.previousSecretUntil) }}
          />
        </>
      )}
    </RecordPage>
  );
}

function Test({ id }: { id: string }) {
  const test = useAct('testAlertChannel');
  const { data } = test;
  return (
    <Card
      title="Test"
      actions={
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate({ id })}>
          Send test message
        </Button>
      }
    >
      {test.error && <Failed error={test.error} />}
      {!data && !test.error && <p className="quiet">Sends a message to check the configuration.</p>}
      {data && (
        <Callout
          role="status"
          tone={data.success ? 'ok' : 'bad'}
          title={data.success ? 'Message delivered' : 'Message not delivered'}
        >
          <bdi>{plain(data.success ? data.message : data.error)}</bdi>
          {` (${data.statusCode === null ? '' : `HTTP ${data.statusCode}, `}${durationText(data.latency)})`}
          {data.responseBody && (
            <div>
              <bdi>{plain(shortened(data.responseBody, MOST_OF_RESPONSE))}</bdi>
            </div>
          )}
        </Callout>
      )}
    </Card>
  );
}

function Actions({ channel }: { channel: AlertChannel }) {
  const { id } = channel;
  return (
    <RecordActions
      kind="alert channel"
      of={channel}
      disabling={<p>No messages are sent until you enable the channel.</p>}
      enabling={<p>The channel will report matching issues that are open and not yet reported.</p>}
      deleting={<p>No more messages will be sent to the channel.</p>}
      more={{
        'Rotate secret': channel.type === 'webhook' && (
          <RotateSecret kind="standard" run={(body) => call('rotateAlertChannelSecret', { id, body })}>
            Messages are signed with both secrets during the overlap, so the receiver can switch without interruption.
          </RotateSecret>
        ),
      }}
    />
  );
}
