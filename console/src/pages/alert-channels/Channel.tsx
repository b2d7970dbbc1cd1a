// One alert channel: whether its messages arrive, a test, and which issues it tells of.
import { Alert, Button, Group, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { AlertChannel } from 'hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { useAct } from '../../api/queries.ts';
import { ifUnchanged } from '../../api/versions.ts';
import { ConfirmedAction } from '../../components/ConfirmedAction.tsx';
import { Facts } from '../../components/Facts.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Name } from '../../components/Name.tsx';
import { useNames } from '../../components/names.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { RotateSecret } from '../../components/RotateSecret.tsx';
import { durationText, plain, shortened } from '../../format.ts';
import { Time } from '../../zone.tsx';
import { KINDS } from '../../words/issues.ts';
import { typeText } from './Channels.tsx';
import { CONFIGS } from './values.ts';

const AGAIN_MS = 10_000;
const MINUTE_MS = 60_000;
const MOST_OF_ANSWER = 2000;

export function ChannelPage() {
  return (
    <RecordPage
      get="getAlertChannel"
      every={AGAIN_MS}
      title="Alert channel"
      titleOf={({ name }) => `Alert channel ${plain(name)}`}
      actions={(channel) => <Actions channel={channel} />}
    >
      {(channel) => <Shown channel={channel} />}
    </RecordPage>
  );
}

function Shown({ channel }: { channel: AlertChannel }) {
  const { quietHours } = channel;
  const mayWrite = useMay('alerts:write');
  return (
    <>
      {!channel.enabled && (
        <Alert color="yellow" title="This channel is disabled" my="sm">
          Nobody is told by it. When it is on again, it tells of the issues that are open then.
        </Alert>
      )}
      {channel.failingSince !== null && (
        <Alert color="red" title="Its messages do not arrive" my="sm">
          <Text size="sm" className="anywhere">
            Since <Time at={channel.failingSince} />: <bdi>{plain(channel.lastError ?? 'it is not known why')}</bdi>
          </Text>
          <Text size="sm">Correct it, then send a test: once one arrives, it tells again of what is open.</Text>
        </Alert>
      )}
      {channel.withheldEmails.length > 0 && (
        <Alert color="yellow" title="Some addresses get no mail" my="sm">
          {plain(channel.withheldEmails.join(', '))}: their owners have not agreed, or the operator does not accept
          their domain. See Settings.
        </Alert>
      )}
      {mayWrite && <Test id={channel.id} />}
      <h2>What it is</h2>
      <Facts
        of={[
          ['To', typeText(channel.type)],
          ...CONFIGS[channel.type].map(({ name, label }): [string, string] => [
            label,
            plain(channel.config[name] ?? '-'),
          ]),
          ['Last message', <Time key="last" at={channel.lastSentAt} />],
          channel.previousSecretUntil !== null && [
            'The secret before is valid until',
            <Time key="secret" at={channel.previousSecretUntil} />,
          ],
          ['What fails', channel.kinds === null ? 'anything' : channel.kinds.map((kind) => KINDS[kind]).join(', ')],
          ['Of sources', <Named key="sources" list="listSources" ids={channel.sourceIds} />],
          ['Of routes', <Named key="routes" list="listRoutes" ids={channel.routeIds} />],
          ['Of destinations', <Named key="destinations" list="listDestinations" ids={channel.destinationIds} />],
          ['From so many failures on', channel.afterCount],
          ['Of the end of an issue', channel.onResolved ? 'yes' : 'no'],
          ['That somebody acknowledged one', channel.onAcknowledged ? 'yes' : 'no'],
          [
            'Between two about an issue',
            channel.throttleMinutes === 0 ? 'no pause' : durationText(channel.throttleMinutes * MINUTE_MS),
          ],
          [
            'All changes in one message',
            channel.digestMinutes === null ? 'no' : `every ${durationText(channel.digestMinutes * MINUTE_MS)}`,
          ],
          [
            'Quiet hours',
            quietHours === null ? 'none' : plain(`${quietHours.from} to ${quietHours.to}, ${quietHours.timeZone}`),
          ],
          ['Created', <Time key="created" at={channel.createdAt} />],
          ['Changed', <Time key="changed" at={channel.updatedAt} />],
        ]}
      />
    </>
  );
}

function Named({ list, ids }: { list: Parameters<typeof useNames>[0]; ids: string[] | null }) {
  const { nameOf, problem } = useNames(list, ids !== null);
  if (ids === null) return 'all';
  return (
    <Group gap="xs">
      {problem}
      {ids.map((id) => (
        <Name key={id} id={id} name={nameOf(id)} />
      ))}
    </Group>
  );
}

function Test({ id }: { id: string }) {
  const test = useAct('testAlertChannel', ['getAlertChannel', 'listAlertChannels']);
  const { data } = test;
  return (
    <section aria-label="Test">
      <Group my="sm">
        <Button size="xs" loading={test.isPending} onClick={() => test.mutate({ id })}>
          Send a test message
        </Button>
      </Group>
      {test.error && <Failed error={test.error} />}
      {data && (
        <Alert
          role="status"
          color={data.success ? 'green' : 'red'}
          title={data.success ? 'It arrived' : 'It did not arrive'}
          my="sm"
        >
          <Text size="sm" className="anywhere">
            <bdi>{plain(data.success ? data.message : data.error)}</bdi>
            {data.statusCode !== null && ` Answered ${data.statusCode}`} after {durationText(data.latency)}.
          </Text>
          {data.responseBody && (
            <Text size="sm" className="anywhere">
              <bdi>{plain(shortened(data.responseBody, MOST_OF_ANSWER))}</bdi>
            </Text>
          )}
        </Alert>
      )}
    </section>
  );
}

function Actions({ channel }: { channel: AlertChannel }) {
  const mayWrite = useMay('alerts:write');
  const navigate = useNavigate();
  const { id, enabled } = channel;
  if (!mayWrite) return null;
  return (
    <>
      <Button size="xs" onClick={() => void navigate({ to: `/alert-channels/${id}/edit` })}>
        Edit
      </Button>
      {channel.type === 'webhook' && (
        <RotateSecret kind="standard" what="secret" run={(body) => call('rotateAlertChannelSecret', { id, body })}>
          Messages carry signatures with both secrets for a while, so that the receiver can change without a gap.
        </RotateSecret>
      )}
      <ConfirmedAction
        label={enabled ? 'Disable' : 'Enable'}
        title={`${enabled ? 'Disable' : 'Enable'} this channel`}
        verb={enabled ? 'Disable it' : 'Enable it'}
        run={async () => {
          await call('updateAlertChannel', { id, body: { enabled: !enabled } }, ifUnchanged(channel));
          return enabled ? 'The channel is disabled' : 'The channel is enabled';
        }}
      >
        {enabled ? 'Nobody is told by it until it is on again.' : 'It tells at once of the issues that are open.'}
      </ConfirmedAction>
      <ConfirmedAction
        label="Delete"
        title={`Delete ${plain(channel.name)}`}
        verb="Delete it"
        isDestructive
        run={async () => {
          await call('deleteAlertChannel', { id }, ifUnchanged(channel));
          return 'The channel is deleted';
        }}
        onDone={() => navigate({ to: '/alert-channels' })}
      >
        Nobody is told by it any more. This cannot be undone.
      </ConfirmedAction>
    </>
  );
}
