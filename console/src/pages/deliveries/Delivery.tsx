// One delivery: what was sent beside what was answered, attempt by attempt; where it comes from and what became of it.
import { Alert, Anchor, Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { Link, useNavigate } from '@tanstack/react-router';
import type { Attempt, DeliveryWithAttempts } from 'hookyard/client';
import { useMemo } from 'react';
import { useMay } from '../../api/caller.tsx';
import { told } from '../../api/errors.ts';
import { useAct, useAsk } from '../../api/queries.ts';
import { ChoiceFilter } from '../../components/filters.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Headers } from '../../components/Headers.tsx';
import { Name } from '../../components/Name.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { Status } from '../../components/Status.tsx';
import { durationText, plain } from '../../format.ts';
import { bytesOf, Payload } from '../../payload/Payload.tsx';
import { usePageSearch } from '../../search.ts';
import { isOpen, STATUSES } from '../../words/deliveries.ts';
import { Time } from '../../zone.tsx';
import { Chain } from './Chain.tsx';

const OPEN_MS = 2000;

export function DeliveryPage() {
  return (
    <RecordPage
      get="getDelivery"
      every={OPEN_MS}
      title="Delivery"
      actions={(delivery) => <Actions delivery={delivery} />}
    >
      {(delivery) => <Shown delivery={delivery} />}
    </RecordPage>
  );
}

function Shown({ delivery }: { delivery: DeliveryWithAttempts }) {
  const [search] = usePageSearch();
  const latest = delivery.attempts.at(-1);
  const attempt = delivery.attempts.find(({ attemptNumber }) => String(attemptNumber) === search.attempt) ?? latest;
  return (
    <>
      <Group gap="md" my="xs">
        <Status of={delivery.status} />
        <Text>
          to <Name {...delivery.destination} />
          {delivery.route && (
            <>
              {' '}
              by route <Name {...delivery.route} />
            </>
          )}
        </Text>
        <Text>
          Created <Time at={delivery.createdAt} />
        </Text>
        {delivery.nextAttemptAt && (
          <Text>
            Next attempt <Time at={delivery.nextAttemptAt} />
          </Text>
        )}
        {delivery.finishedAt && (
          <Text>
            Ended <Time at={delivery.finishedAt} />
          </Text>
        )}
      </Group>
      <Text my="xs">
        {STATUSES[delivery.status].means} {STATUSES[delivery.status].next}
      </Text>
      {delivery.holdReason !== null && (
        <Alert color="yellow" title="It is held" my="xs">
          <bdi className="anywhere">{plain(delivery.holdReason)}</bdi>
        </Alert>
      )}
      {delivery.error !== null && (
        <Alert color={isOpen(delivery.status) ? 'yellow' : 'red'} title="Why" my="xs">
          <bdi className="anywhere">{plain(delivery.error)}</bdi>
        </Alert>
      )}
      <Group gap="md">
        <Link to={`/events/${delivery.eventId}`}>Its event</Link>
        <Link to="/deliveries" search={{ eventId: delivery.eventId, range: 'all' } as never}>
          All deliveries of the event
        </Link>
        {delivery.temporalUrl && (
          <Anchor href={delivery.temporalUrl} target="_blank" rel="noreferrer">
            Its workflow in Temporal, for engineers
          </Anchor>
        )}
      </Group>
      <Chain of={delivery} />
      <h2>Attempts: {delivery.attemptCount}</h2>
      {delivery.attempts.length > 1 && (
        <ChoiceFilter
          name="attempt"
          label="Show attempt"
          choices={delivery.attempts.map((one) => ({
            value: String(one.attemptNumber),
            label: `${one.attemptNumber}: ${one.status}, ${one.statusCode ?? one.error?.slice(0, 60) ?? 'no answer'}`,
          }))}
        />
      )}
      <div className="side">
        <Sent id={delivery.id} attempt={attempt} />
        {attempt ? (
          <Answered attempt={attempt} />
        ) : (
          <section>
            <h2>Answered</h2>
            <p>No attempt was made yet.</p>
          </section>
        )}
      </div>
    </>
  );
}

function Sent({ id, attempt }: { id: string; attempt: Attempt | undefined }) {
  const mayRead = useMay('payloads:read');
  const input = { id, includeBody: mayRead, ...(attempt && { attempt: attempt.attemptNumber }) };
  const { data, error, refetch } = useAsk('getDeliveryRequest', input);
  return (
    <section>
      <h2>{data?.state === 'made' ? 'Sent' : data?.state === 'next' ? 'Will be sent' : 'Would be sent'}</h2>
      {error && <Failed error={error} again={() => void refetch()} />}
      {data?.problem && <Alert title={data.problem.code}>{plain(data.problem.message)}</Alert>}
      {data?.doubts.map((doubt) => (
        <Alert key={doubt.code} color="yellow" my={4}>
          {plain(doubt.message)}
        </Alert>
      ))}
      {data?.request && (
        <>
          <Text className="anywhere">
            <strong>{data.request.method}</strong> <bdi>{plain(data.request.url)}</bdi>
          </Text>
          <Headers title="Request headers" of={attempt?.requestHeaders ?? data.request.headers} />
          {data.request.body !== undefined && (
            <BodyOf
              title="Payload that was sent"
              body={data.request.body}
              encoding={data.request.bodyEncoding}
              name={`${id}-sent`}
            />
          )}
        </>
      )}
    </section>
  );
}

function Answered({ attempt }: { attempt: Attempt }) {
  return (
    <section>
      <h2>Answered</h2>
      <Group gap="xs">
        <Status of={attempt.status} />
        <Text>
          {attempt.statusCode ?? 'no answer'} after {durationText(attempt.latency)}
        </Text>
        <Text>
          Began <Time at={attempt.startedAt} ms />
        </Text>
      </Group>
      {attempt.error !== null && <Text className="anywhere">{plain(attempt.error)}</Text>}
      <Timings attempt={attempt} />
      <Headers title="Answer headers" of={attempt.responseHeaders} />
      {attempt.responseBody !== null && attempt.responseBody !== '' && (
        <BodyOf title="Body of the answer" body={attempt.responseBody} encoding={undefined} name="answer" />
      )}
    </section>
  );
}

interface BodyProps {
  title: string;
  body: string;
  encoding: 'base64' | undefined;
  /** Of the file when it is saved. */
  name: string;
}

function BodyOf({ title, body, encoding, name }: BodyProps) {
  const bytes = useMemo(() => bytesOf(body, encoding), [body, encoding]);
  return <Payload bytes={bytes} name={name} title={title} />;
}

function Timings({ attempt: { timings, connection } }: { attempt: Attempt }) {
  if (!timings) return null;
  const steps = [
    ['name look-up', timings.dns],
    ['connection', timings.connect],
    ['TLS', timings.tls],
    ['first byte', timings.firstByte],
  ].filter(([, ms]) => ms !== null);
  return (
    <Text size="sm" className="quiet">
      {steps.map(([name, ms]) => `${name} ${durationText(Number(ms))}`).join(', ')}
      {connection &&
        `; ${connection.address}:${connection.port}${connection.reused ? ', a connection that was open' : ''}`}
    </Text>
  );
}

function Actions({ delivery }: { delivery: DeliveryWithAttempts }) {
  const mayWrite = useMay('deliveries:write');
  const navigate = useNavigate();
  const stale = ['getDelivery', 'listDeliveries', 'getEvent', 'listEvents'] as const;
  const retry = useAct('retryDelivery', stale);
  const cancel = useAct('cancelDelivery', stale);
  const replay = useAct('replayDelivery', stale);
  if (!mayWrite) return null;
  const { id } = delivery;
  const say = (message: string) => notifications.show({ message });
  const onError = (error: Error) =>
    notifications.show({ color: 'red', title: told(error).title, message: told(error).message });
  const hasEnded = !isOpen(delivery.status);
  return (
    <>
      {delivery.status === 'retrying' && (
        <Button
          size="xs"
          loading={retry.isPending}
          onClick={() => retry.mutate({ id }, { onError, onSuccess: () => say('The next attempt is made now') })}
        >
          Retry now
        </Button>
      )}
      {!hasEnded && (
        <Button
          size="xs"
          variant="default"
          loading={cancel.isPending}
          onClick={() => cancel.mutate({ id }, { onError, onSuccess: () => say('It is cancelled') })}
        >
          Cancel
        </Button>
      )}
      {hasEnded && (
        <Button
          size="xs"
          loading={replay.isPending}
          onClick={() =>
            replay.mutate(
              { id },
              {
                onError,
                onSuccess: ({ deliveryId }) => {
                  say('It is sent again: this is the new delivery');
                  void navigate({ to: `/deliveries/${deliveryId}` });
                },
              },
            )
          }
        >
          Replay
        </Button>
      )}
    </>
  );
}
