// How quickly a circuit stops attempts when it opens, and how soon it tries again when its cooldown is over.
import type { Lane } from '../../core/lane.ts';
import { createPipe, SECRET, type Service } from '../support/service.ts';
import { allArrived, createSender, type Receiver, sendAtRate } from '../support/traffic.ts';
import { delay, waitFor } from '../support/wait.ts';
import { type BreakableDestination, makeBreakable, openedAt } from './destination.ts';
import { type Stalls, watchStalls } from './stalls.ts';

export const THRESHOLD = 5;
/** Webhooks per second during all of it: enough to have attempts under way at any time. */
export const LOAD: Record<Lane, number> = { workflow: 50, express: 200 };

const HEALTHY_SECONDS = 2;
// Long enough for the retries of what failed first, which would come a second later.
const COOLDOWN_SECONDS = 5;
const MARGIN_SECONDS = 2;
const OPEN_DEADLINE_MS = 30_000;
const PROBE_DEADLINE_MS = 30_000;

export interface Opening {
  /** From the answer to the failed attempt that reaches the threshold until the last attempt that still arrives, ms. */
  stoppedAfterMs: number;
  /** Attempts that arrive in that time. */
  late: number;
  /** From that answer until the last attempt is begun by a worker, ms; 0 when it was before. */
  begunUntilMs: number;
  /** How long the bench itself stood still in that time at the most, ms. */
  stalledMs: number;
  /** From the end of the cooldown until the first probe arrives, ms. */
  probeAfterMs: number;
}

/** One outage of a route under a steady load, until everything that was held is delivered. */
export async function measureOpening(
  service: Service,
  receiver: Receiver,
  { lane, body }: { lane: Lane; body: string },
): Promise<Opening> {
  const destination = makeBreakable(receiver);
  const stalls = watchStalls();
  const { webhookUrl, routeId } = await createPipe(service, receiver.url, {
    route: { circuitFailureThreshold: THRESHOLD, circuitCooldownSeconds: COOLDOWN_SECONDS },
  });
  const sender = createSender(webhookUrl, SECRET, body);
  const [sent, opening] = await Promise.all([
    sendAtRate(sender.send, LOAD[lane], HEALTHY_SECONDS + COOLDOWN_SECONDS + MARGIN_SECONDS),
    breakDown(service, routeId, destination, stalls),
  ]);
  stalls.stop();
  await sender.close();
  await allArrived(
    receiver,
    sent.map((event) => event.eventId),
  );
  return opening;
}

async function breakDown(
  service: Service,
  routeId: string,
  destination: BreakableDestination,
  stalls: Stalls,
): Promise<Opening> {
  await delay(HEALTHY_SECONDS * 1000);
  destination.isDown = () => true;
  const opened = await waitFor('an open circuit', () => openedAt(service, routeId), OPEN_DEADLINE_MS);
  const cooledDown = opened + COOLDOWN_SECONDS * 1000;
  destination.isDown = () => Date.now() < cooledDown;
  const probe = await waitFor(
    'a probe',
    () => destination.hits.find((hit) => hit.at >= cooledDown),
    COOLDOWN_SECONDS * 1000 + PROBE_DEADLINE_MS,
  );
  const failed = destination.hits.filter((hit) => !hit.taken);
  const decisive = failed[THRESHOLD - 1];
  const last = failed.at(-1);
  if (!decisive || !last) throw new Error('The circuit opened before its threshold was reached');
  return {
    stoppedAfterMs: last.at - decisive.at,
    late: failed.length - THRESHOLD,
    begunUntilMs: Math.max(0, (await lastBegun(service, routeId, cooledDown)) - decisive.at),
    stalledMs: Math.round(stalls.longest(decisive.at, last.at)),
    probeAfterMs: probe.at - cooledDown,
  };
}

/** When the last failed attempt before a time was begun, ms since 1970. */
async function lastBegun(service: Service, routeId: string, before: number): Promise<number> {
  const { rows } = await service.pool.query<{ at: Date | null }>(
    `select max(a.started_at) as at from attempts a join deliveries d on d.id = a.delivery_id
     where d.route_id = $1 and a.status = 'failed' and a.started_at < $2`,
    [routeId, new Date(before)],
  );
  return rows[0]?.at?.getTime() ?? Number.NaN;
}
