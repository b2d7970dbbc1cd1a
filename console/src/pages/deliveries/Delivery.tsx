// One delivery: why it is as it is, its attempts as a timeline, request beside response, and what was changed on the
// way.
import type { Delivery, Attempt, DeliveryWithAttempts } from '@hookyard/client';
import { Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call, told } from '../../api/client.ts';
import { AGAIN_MS, useAsk, askAgain, WATCH_MS } from '../../api/queries.ts';
import { Failed, Loaded } from '../../components/Failed.tsx';
import { Holds } from '../../components/Pausing.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { MoreActions } from '../../components/actions.tsx';
import { Card, Id, Status, toneOf, Callout, Headers, Name, PageLink, statusText } from '../../components/ui.tsx';
import { plural, countText, durationText, plain, shortened } from '../../format.ts';
import { bytesOf, Payload } from '../../payload/Payload.tsx';
import { usePageSearch } from '../../search.ts';
import { isOpen, STATUSES, waitingText } from '../../words.ts';
import { Time } from '../../zone.tsx';
import { nameOf } from './columns.tsx';

// Where a delivery comes from and what came of it: failovers and replays, forwards and backwards.

/** Of one event; more are only on the page of deliveries. */
const MOST = 100;

type Linked = Pick<Delivery, 'id' | 'eventId' | 'replayOf' | 'failoverOf'>;
const madeFrom = ({ replayOf, failoverOf }: Linked): string | null => replayOf ?? failoverOf;

/** A delivery with all before it and all that came of them, oldest first. */
function chainOf<One extends Linked>(id: string, all: readonly One[]): One[] {
  const byId = new Map(all.map((one) => [one.id, one]));
  const wanted = new Set<string>();
  for (let one = byId.get(id); one && !wanted.has(one.id); one = byId.get(madeFrom(one) ?? '')) wanted.add(one.id);
  for (let size = 0; size < wanted.size; ) {
    size = wanted.size;
    for (const one of all) if (wanted.has(madeFrom(one) ?? '')) wanted.add(one.id);
  }
  // Ids begin with when they were made.
  return all.filter((one) => wanted.has(one.id)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function Chain({ of }: { of: Linked }) {
  const { data, error, refetch } = useAsk(
    'listDeliveries',
    { eventId: of.eventId, pageSize: MOST },
    { every: AGAIN_MS },
  );
  if (error) return <Failed error={error} again={() => void refetch()} />;
  const chain = chainOf(of.id, data?.data ?? []);
  const total = data?.pagination.total ?? 0;
  if (chain.length < 2) return null;
  return (
    <Card title="Failovers and replays">
      <ol className="steps">
        {chain.map((one) => (
          <li key={one.id} data-tone={toneOf(one.status)} aria-current={one.id === of.id ? 'true' : undefined}>
            <div className="step">
              <Status of={one.status} />
              {one.id === of.id ? <strong>This delivery</strong> : <Id of={one.id} />}
              <bdi>{nameOf(one.destination)}</bdi>
              <Time at={one.createdAt} />
              <span className="quiet">{originOf(one, of.id)}</span>
            </div>
          </li>
        ))}
      </ol>
      {total > MOST && (
        <p className="small quiet">
          Only the newest {MOST} of the event's {plural(total, 'delivery')} were searched
        </p>
      )}
    </Card>
  );
}

function originOf(one: Linked, shown: string): string {
  const from = madeFrom(one);
  if (from === null) return 'original';
  const kind = one.replayOf === null ? 'failover' : 'replay';
  return from === shown ? `${kind} of this delivery` : kind;
}

/** Characters of a response beside the error; the rest is below. */
const MOST_RESPONSE = 200;
const Changes = lazy(async () => ({ default: (await import('./Changes.tsx')).Changes }));

export function DeliveryPage() {
  return (
    <RecordPage
      get="getDelivery"
      every={WATCH_MS}
      what="delivery"
      status={({ status, waitsFor }) => (waitsFor === null ? status : 'waiting')}
      note={({ destination, createdAt }) => (
        <>
          to <Name {...destination} />, created <Time at={createdAt} />
        </>
      )}
      actions={(delivery) => <Actions delivery={delivery} />}
      facts={(delivery) => ({
        Event: <Id of={delivery.eventId} />,
        Destination: <Name {...delivery.destination} />,
        Route: delivery.route && <Name {...delivery.route} />,
        'Ordering key': delivery.orderKey !== null && (
          <PageLink to={`/destinations/${delivery.destinationId}`} search={{ tab: 'ordering-keys' }}>
            {delivery.orderKey === delivery.routeId ? 'Shared key of the route' : <bdi>{plain(delivery.orderKey)}</bdi>}
          </PageLink>
        ),
        Sequence: delivery.sequence !== null && countText(delivery.sequence),
        Created: <Time at={delivery.createdAt} exact />,
        'Next attempt': delivery.nextAttemptAt && <Time at={delivery.nextAttemptAt} />,
        Finished: delivery.finishedAt && <Time at={delivery.finishedAt} exact />,
        Related: (
          <PageLink to="/deliveries" search={{ eventId: delivery.eventId, range: 'all' }}>
            View the event's deliveries
          </PageLink>
        ),
      })}
    >
      {(delivery) => <Shown delivery={delivery} />}
    </RecordPage>
  );
}

function Shown({ delivery }: { delivery: DeliveryWithAttempts }) {
  const [search] = usePageSearch();
  const attempt =
    delivery.attempts.find(({ attemptNumber }) => String(attemptNumber) === search.attempt) ?? delivery.attempts.at(-1);
  const response = delivery.attempts.at(-1)?.responseBody;
  return (
    <>
      {delivery.status === 'circuit_open' && <Held delivery={delivery} />}
      {delivery.waitsFor !== null && (
        <Callout tone="warn" title={waitingText(delivery)}>
          <div>
            Starts once <Link to={`/deliveries/${delivery.waitsFor}`}>the earlier delivery</Link> succeeds or stops
            blocking the key.
          </div>
        </Callout>
      )}
      {delivery.replayedBy && <Replayed by={delivery.replayedBy} />}
      {!['delivered', 'circuit_open'].includes(delivery.status) &&
        delivery.waitsFor === null &&
        delivery.replayedBy === null && (
          <Callout
            tone={isOpen(delivery.status) ? 'warn' : toneOf(delivery.status) === 'bad' ? 'bad' : 'info'}
            title={plain(delivery.error ?? STATUSES[delivery.status])}
          >
            {response && <div className="mono anywhere">{plain(shortened(response.trim(), MOST_RESPONSE))}</div>}
            {delivery.error !== null && STATUSES[delivery.status]}
          </Callout>
        )}
      <Chain of={delivery} />
      <Card title={delivery.attemptCount === 0 ? 'Attempts' : plural(delivery.attemptCount, 'attempt')}>
        {delivery.attempts.length === 0 ? (
          <p className="quiet">No attempts</p>
        ) : (
          <ol className="steps">
            {delivery.attempts.map((one) => (
              <AttemptLine key={one.attemptNumber} of={one} isShown={one === attempt} />
            ))}
          </ol>
        )}
      </Card>
      <div className="grid-2 grid-narrow">
        <Request id={delivery.id} attempt={attempt} />
        {attempt && <Response attempt={attempt} />}
      </div>
      <Suspense fallback={null}>
        <Changes delivery={delivery} attempt={attempt?.attemptNumber} />
      </Suspense>
    </>
  );
}

function Replayed({ by: { id, status, createdAt } }: { by: NonNullable<DeliveryWithAttempts['replayedBy']> }) {
  const tone = toneOf(status);
  return (
    <Callout
      tone={tone === 'none' ? 'info' : tone}
      title={
        <>
          Replayed <Time at={createdAt} />: <Link to={`/deliveries/${id}`}>{statusText(status).toLowerCase()}</Link>
        </>
      }
    />
  );
}

/** Why it is held, and what resumes it. */
function Held({ delivery: { routeId, destinationId, failoverOf, holdReason } }: { delivery: DeliveryWithAttempts }) {
  const askRoute = { enabled: routeId !== null, scope: 'routes:read', every: WATCH_MS } as const;
  const { data: route } = useAsk('getRoute', { id: routeId ?? '' }, askRoute);
  const askDestination = { scope: 'destinations:read', every: WATCH_MS } as const;
  const { data: destination } = useAsk('getDestination', { id: destinationId }, askDestination);
  // The circuit breaker holds neither a failover nor what goes to a warehouse.
  const inCircuit = failoverOf === null && destination?.type === 'http';
  const holding = route && !inCircuit ? { ...route, circuitState: 'closed' as const } : route;
  const isHeld = holding?.paused || destination?.paused || (holding && holding.circuitState !== 'closed');
  return (
    <Callout tone="warn" title={isHeld ? 'Delivery held' : plain(holdReason ?? STATUSES.circuit_open)}>
      <Holds route={holding} destination={destination} />
    </Callout>
  );
}

function AttemptLine({ of, isShown }: { of: Attempt; isShown: boolean }) {
  return (
    <li data-tone={toneOf(of.status)}>
      <Link
        to="."
        search={(before: object) => ({ ...before, attempt: String(of.attemptNumber) }) as never}
        replace
        resetScroll={false}
        className="step"
        aria-current={isShown ? 'true' : undefined}
      >
        <strong>Attempt {of.attemptNumber}</strong>
        <span>{of.statusCode === null ? plain(of.error ?? 'No response').slice(0, 80) : `HTTP ${of.statusCode}`}</span>
        <span className="quiet">{durationText(of.latency)}</span>
        <Time at={of.startedAt} />
      </Link>
    </li>
  );
}

/** Where the attempt went is not known. */
const CHANGED = 'DESTINATION_CHANGED';
const CHANGED_TEXT = 'The destination was changed after this attempt. The original method and URL are not stored.';
/** Of other states: a preview. */
const TITLES: Record<string, string> = { made: 'Request', next: 'Next request' };

function Request({ id, attempt }: { id: string; attempt: Attempt | undefined }) {
  const mayRead = useMay('payloads:read');
  const input = { id, includeBody: mayRead, ...(attempt && { attempt: attempt.attemptNumber }) };
  const answer = useAsk('getDeliveryRequest', input);
  return (
    <Card title={TITLES[answer.data?.state ?? 'made'] ?? 'Request preview'}>
      <div className="stack">
        <Loaded answer={answer}>
          {({ problem, doubts, request }) => (
            <>
              {problem && (
                <Callout tone="bad" title={problem.code}>
                  {plain(problem.message)}
                </Callout>
              )}
              {doubts.map(({ code, message }) => (
                <Callout key={code} tone="warn" title={code === CHANGED ? CHANGED_TEXT : plain(message)} />
              ))}
              {request && !doubts.some(({ code }) => code === CHANGED) && (
                <p className="mono anywhere">
                  <strong>{request.method}</strong> <bdi>{plain(request.url)}</bdi>
                </p>
              )}
              {request?.body !== undefined && (
                <BodyOf title="Request body" body={request.body} encoding={request.bodyEncoding} name={`${id}-sent`} />
              )}
              {request && <Headers title="Request headers" of={attempt?.requestHeaders ?? request.headers} />}
            </>
          )}
        </Loaded>
      </div>
    </Card>
  );
}

function Response({ attempt }: { attempt: Attempt }) {
  return (
    <Card title="Response">
      <div className="stack">
        <div className="row row-loose">
          <Status
            of={attempt.status}
            label={attempt.statusCode === null ? 'No response' : `HTTP ${attempt.statusCode}`}
          />
          <span>{durationText(attempt.latency)}</span>
          <Time at={attempt.startedAt} ms exact />
        </div>
        {attempt.error !== null && <p className="anywhere">{plain(attempt.error)}</p>}
        <Timings attempt={attempt} />
        {attempt.responseBody !== null && attempt.responseBody !== '' && (
          <BodyOf title="Response body" body={attempt.responseBody} encoding={undefined} name="response" />
        )}
        <Headers title="Response headers" of={attempt.responseHeaders} />
      </div>
    </Card>
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
  const parts = [
    ['DNS', timings.dns],
    ['connect', timings.connect],
    ['TLS', timings.tls],
    ['wait', timings.firstByte],
  ].flatMap(([name, ms]) => (ms === null ? [] : [`${name} ${durationText(Number(ms))}`]));
  if (connection) parts.push(`${connection.address}:${connection.port}${connection.reused ? ' (reused)' : ''}`);
  return <p className="small quiet">{parts.join(' · ')}</p>;
}

function Actions({ delivery: { id, status, waitsFor, replayedBy, temporalUrl } }: { delivery: DeliveryWithAttempts }) {
  const mayWrite = useMay('deliveries:write');
  const navigate = useNavigate();
  const cancel = () => call('cancelDelivery', { id }).then(() => 'Delivery cancelled');
  const retry = () => call('retryDelivery', { id }).then(() => 'Retry started');
  const replay = async () => {
    const { deliveryId } = await call('replayDelivery', { id });
    void navigate({ to: `/deliveries/${deliveryId}` });
    return 'Replayed as a new delivery';
  };
  return (
    <>
      {temporalUrl && (
        <MoreActions>
          <Menu.Item
            component="a"
            href={temporalUrl}
            target="_blank"
            rel="noreferrer"
            title="Opens the workflow in the Temporal UI"
          >
            View in Temporal
          </Menu.Item>
        </MoreActions>
      )}
      {mayWrite && isOpen(status) && <Act verb="Cancel delivery" variant="default" run={cancel} />}
      {mayWrite && !isOpen(status) && replayedBy === null && (
        <Act verb="Replay" variant={toneOf(status) === 'bad' ? 'filled' : 'default'} run={replay} />
      )}
      {mayWrite && status === 'retrying' && waitsFor === null && <Act verb="Retry now" variant="filled" run={retry} />}
    </>
  );
}

interface ActProps {
  verb: string;
  variant: 'filled' | 'default';
  /** Answers what to say when it is done. */
  run: () => Promise<string>;
}

function Act({ verb, variant, run }: ActProps) {
  const { mutate, isPending } = useMutation({
    mutationFn: run,
    onSuccess: (message) => {
      notifications.show({ message });
      return askAgain();
    },
    onError: (error) => notifications.show({ color: 'red', title: told(error).title, message: told(error).message }),
  });
  return (
    <Button variant={variant} loading={isPending} onClick={() => mutate()}>
      {verb}
    </Button>
  );
}
