// What waits: of the organization, and of the whole installation for who has the operator's key.
import { Button, Group, PasswordInput, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState, useSyncExternalStore } from 'react';
import { useMay } from '../../api/caller.tsx';
import { clientWith, HookyardError } from '../../api/client.ts';
import { useAsk } from '../../api/queries.ts';
import { session } from '../../api/session.ts';
import { Failed } from '../../components/Failed.tsx';
import { countText, durationText, totalText } from '../../format.ts';
import { Time } from '../../zone.tsx';

const AGAIN_MS = 10_000;

export function Backlog() {
  const mayRead = useMay('deliveries:read');
  const { operatorKey } = useSyncExternalStore(session.subscribe, session.get);
  return (
    <section aria-label="Backlog">
      <h2>What waits</h2>
      {mayRead && <Waiting />}
      {operatorKey === null ? <AskForKey /> : <Installation operatorKey={operatorKey} />}
    </section>
  );
}

const WAITS = ['pending', 'retrying', 'circuit_open'] as const;

function Waiting() {
  return (
    <>
      <Group gap="lg">
        {WAITS.map((status) => (
          <Count key={status} status={status} />
        ))}
      </Group>
      <Oldest />
    </>
  );
}

/** The last of the list, whose newest come first. */
function Oldest() {
  const all = useAsk('listDeliveries', { status: [...WAITS], pageSize: 1 }, { every: AGAIN_MS });
  const { total, totalIsExact = true } = all.data?.pagination ?? { total: 0, totalIsExact: false };
  const last = useAsk(
    'listDeliveries',
    { status: [...WAITS], page: total, pageSize: 1 },
    { enabled: totalIsExact && total > 0, keep: true },
  );
  const error = all.error ?? last.error;
  if (error) return <Failed error={error} again={() => void Promise.all([all.refetch(), last.refetch()])} />;
  const oldest = last.data?.data[0];
  if (!totalIsExact || total === 0 || !oldest) return null;
  return (
    <Text>
      The oldest <Link to={`/deliveries/${oldest.id}`}>waits since</Link> <Time at={oldest.createdAt} /> (
      {durationText(Math.max(0, Date.now() - Date.parse(oldest.createdAt)))}).
    </Text>
  );
}

function Count({ status }: { status: (typeof WAITS)[number] }) {
  const { data, error } = useAsk('listDeliveries', { status, pageSize: 1 }, { every: AGAIN_MS });
  const word = { pending: 'for a first attempt', retrying: 'for a retry', circuit_open: 'for a circuit or a pause' }[
    status
  ];
  return (
    <Text>
      <Link to="/deliveries" search={{ status, range: 'all' } as never}>
        {error ? 'not known' : data ? totalText(data.pagination) : '…'} {word}
      </Link>
    </Text>
  );
}

function Installation({ operatorKey }: { operatorKey: string }) {
  const status = useQuery({
    queryKey: ['getStatus', {}],
    queryFn: () => clientWith(operatorKey).getStatus(),
    refetchInterval: AGAIN_MS,
  });
  const isWrong = status.error instanceof HookyardError && [401, 404].includes(status.error.status ?? 0);
  return (
    <>
      {status.error && <Failed error={status.error} />}
      {isWrong && (
        <Button size="xs" variant="default" onClick={() => session.setOperatorKey(null)}>
          Forget this key
        </Button>
      )}
      {status.data?.backlog && (
        <Text>
          The whole installation: {countText(status.data.backlog.due)} wait for a worker
          {status.data.backlog.oldestDueSeconds !== null &&
            `, the oldest for ${durationText(status.data.backlog.oldestDueSeconds * 1000)}`}
          ; ingest is {status.data.ingest.replace('_', ' ')}, Temporal {status.data.temporal},{' '}
          {status.data.workers?.length ?? 0} workers, {status.data.circuits?.open ?? 0} open circuits.
        </Text>
      )}
    </>
  );
}

function AskForKey() {
  const [key, setKey] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (key.trim() !== '') session.setOperatorKey(key.trim());
  };
  return (
    <details>
      <summary>The whole installation, for its operator</summary>
      <form onSubmit={submit}>
        <Group align="end">
          <PasswordInput
            label="Operator's key (HOOKYARD_OPERATOR_KEY)"
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            autoComplete="off"
            w={320}
          />
          <Button type="submit" variant="default">
            Show
          </Button>
        </Group>
      </form>
    </details>
  );
}
