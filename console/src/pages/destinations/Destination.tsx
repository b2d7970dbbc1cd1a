// One destination: how well it takes deliveries, what waits for it, a test, its files if it is a warehouse, and what it is.
import { Alert, Button, Group, SimpleGrid, Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { Destination } from 'hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { ifUnchanged } from '../../api/versions.ts';
import { Figures } from '../../charts/Figures.tsx';
import { Count } from '../../components/Count.tsx';
import { ConfirmedAction } from '../../components/ConfirmedAction.tsx';
import { Headers } from '../../components/Headers.tsx';
import { Facts } from '../../components/Facts.tsx';
import { IssuesOf } from '../../components/IssuesOf.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { PauseAction, PausedAlert } from '../../components/Pausing.tsx';
import { Period, usePeriod } from '../../components/Period.tsx';
import { RotateSecret } from '../../components/RotateSecret.tsx';
import { durationText, plain } from '../../format.ts';
import { Time } from '../../zone.tsx';
import { Batches } from './Batches.tsx';
import { Health } from './Health.tsx';
import { HeldBack } from './HeldBack.tsx';
import { TestSend } from './TestSend.tsx';

const AGAIN_MS = 10_000;

export function DestinationPage() {
  return (
    <RecordPage
      get="getDestination"
      every={AGAIN_MS}
      title="Destination"
      titleOf={({ name }) => `Destination ${plain(name)}`}
      actions={(destination) => <Actions destination={destination} />}
    >
      {(destination) => <Shown destination={destination} />}
    </RecordPage>
  );
}

function Shown({ destination }: { destination: Destination }) {
  const range = usePeriod();
  const maySee = useMay('deliveries:read');
  const mayRoutes = useMay('routes:read');
  const mayTest = useMay('destinations:write');
  const { id } = destination;
  const search = { destinationId: id };
  return (
    <>
      {destination.description && <Text className="anywhere">{plain(destination.description)}</Text>}
      {!destination.enabled && (
        <Alert color="yellow" title="This destination is disabled" my="sm">
          What would go to it is recorded as skipped, and can be replayed.
        </Alert>
      )}
      <PausedAlert kind="destination" of={destination} />
      <IssuesOf of={search} />
      {mayRoutes && <HeldBack id={id} />}
      <Health id={id} isWarehouse={destination.type !== 'http'} />
      {mayTest && <TestSend id={id} isWarehouse={destination.type !== 'http'} />}
      <Group justify="space-between" mt="sm">
        <h2>Figures</h2>
        <Period />
      </Group>
      {maySee && (
        <SimpleGrid cols={{ base: 1, lg: 2 }}>
          <Figures
            title="Deliveries"
            metric="deliveries"
            members={['delivered', 'failed', 'failedOver', 'notSent']}
            range={range}
            of={search}
          />
          {destination.type === 'http' && (
            <Figures
              title="Latency of answers (ms)"
              metric="latency"
              members={['p50', 'p95', 'p99']}
              range={range}
              of={search}
            />
          )}
        </SimpleGrid>
      )}
      {destination.type !== 'http' && <Batches id={id} />}
      <h2>What it is</h2>
      {destination.type === 'http' ? <HttpFacts of={destination} /> : <StoreFacts of={destination} />}
      <Group>
        {maySee && (
          <Link to="/deliveries" search={{ ...search, range: '24h' } as never}>
            Its deliveries
          </Link>
        )}
        {mayRoutes && (
          <Link to="/routes" search={search as never}>
            <Count list="listRoutes" input={search} one="route leads here" many="routes lead here" />
          </Link>
        )}
      </Group>
    </>
  );
}

function HttpFacts({ of }: { of: Extract<Destination, { type: 'http' }> }) {
  const { retryPolicy: policy, forwardHeaders: forward } = of;
  return (
    <>
      <Facts
        of={[
          ['Address', <bdi key="url">{`${of.method} ${plain(of.url)}`}</bdi>],
          ['Authentication', of.authType === 'none' ? 'none' : of.authType.replaceAll('_', ' ')],
          ...Object.entries(of.authConfig ?? {}).map(([name, value]): [string, string] => [name, plain(value)]),
          ['Deliveries are signed', of.signingSecret === null ? 'no' : `with ${of.signingSecret}`],
          of.previousSigningSecretUntil !== null && [
            'The secret before is used too until',
            <Time key="until" at={of.previousSigningSecretUntil} />,
          ],
          [
            'Retries',
            `${policy.maxRetries}, first after ${durationText(policy.initialDelay)}, times ${policy.backoffMultiplier}, at most ${durationText(policy.maxDelay)}`,
          ],
          ['Timeout of an attempt', durationText(of.timeoutMs)],
          ['Attempts a minute, at most', of.rateLimitPerMinute ?? 'any'],
          ['Attempts at a time, at most', of.maxConcurrency ?? 'as many as it copes with'],
          ['Received headers it gets', forward === null ? 'all but those that steer servers' : plain(String(forward))],
          ['Of the address of a webhook it gets', addressParts(of)],
          ['Slug', of.slug],
          ['Changed', <Time key="changed" at={of.updatedAt} />],
        ]}
      />
      {Object.keys(of.headers).length > 0 && <Headers title="Headers that it adds" of={of.headers} />}
    </>
  );
}

function addressParts({ forwardQuery, forwardPath }: Extract<Destination, { type: 'http' }>): string {
  const parts = [...(forwardPath ? ['its path below the source'] : []), ...(forwardQuery ? ['its query'] : [])];
  return parts.join(' and ') || 'nothing';
}

function StoreFacts({ of }: { of: Exclude<Destination, { type: 'http' }> }) {
  return (
    <>
      <Facts
        of={[
          ['Type', of.type.replaceAll('_', ' ')],
          ...Object.entries(of.config).map(([name, value]): [string, string] => [name, plain(String(value))]),
          ['Slug', of.slug],
          ['Changed', <Time key="changed" at={of.updatedAt} />],
        ]}
      />
      {of.fieldMapping.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, by keys too
        <section className="table" aria-label="Columns of its files" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Column</th>
                <th scope="col">From</th>
                <th scope="col">Type</th>
                <th scope="col">Else</th>
              </tr>
            </thead>
            <tbody>
              {of.fieldMapping.map((rule) => (
                <tr key={rule.target}>
                  <th scope="row">{plain(rule.target)}</th>
                  <td>{plain(rule.source)}</td>
                  <td>{rule.type}</td>
                  <td>{plain(rule.default ?? '-')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}

const OPEN = ['pending', 'retrying', 'circuit_open'] as const;

function Actions({ destination }: { destination: Destination }) {
  const mayWrite = useMay('destinations:write');
  const navigate = useNavigate();
  if (!mayWrite) return null;
  const { id, enabled } = destination;
  return (
    <>
      <Button size="xs" onClick={() => void navigate({ to: `/destinations/${id}/edit` })}>
        Edit
      </Button>
      {destination.type === 'http' && destination.signingSecret !== null && (
        <RotateSecret kind="standard" what="signing secret" run={(body) => call('rotateSigningSecret', { id, body })}>
          Until the overlap ends, deliveries are signed with both, so that the receiver can change over without losing
          one.
        </RotateSecret>
      )}
      <PauseAction kind="destination" of={destination} />
      <ConfirmedAction
        label={enabled ? 'Disable' : 'Enable'}
        title={`${enabled ? 'Disable' : 'Enable'} this destination`}
        verb={enabled ? 'Disable it' : 'Enable it'}
        run={async () => {
          await call('updateDestination', { id, body: { enabled: !enabled } }, ifUnchanged(destination));
          return enabled ? 'The destination is disabled' : 'The destination gets deliveries again';
        }}
      >
        {enabled
          ? 'What would go to it from now on is recorded as skipped. It can be replayed later.'
          : 'It gets deliveries of webhooks that come from now on. What was skipped can be replayed.'}
      </ConfirmedAction>
      <ConfirmedAction
        label="Delete"
        title={`Delete ${plain(destination.name)}`}
        verb="Delete it"
        isDestructive
        run={async () => {
          await call('deleteDestination', { id }, ifUnchanged(destination));
          return 'The destination is deleted';
        }}
        onDone={() => void navigate({ to: '/destinations' })}
      >
        <Text>These open deliveries are cancelled:</Text>
        <ul>
          {OPEN.map((status) => (
            <li key={status}>
              <Count
                list="listDeliveries"
                input={{ destinationId: id, status }}
                one={status.replace('_', ' ')}
                many={status.replace('_', ' ')}
              />
            </li>
          ))}
        </ul>
        <Text>
          It is taken out of <Count list="listRoutes" input={{ destinationId: id }} one="route" many="routes" />. What
          was delivered stays in the history. This cannot be undone.
        </Text>
      </ConfirmedAction>
    </>
  );
}
