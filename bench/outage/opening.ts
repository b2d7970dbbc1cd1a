// How quickly a circuit stops attempts when it opens, and how soon it tries again when its cooldown is over.
import type { Lane } from '../../core/lane.ts';
import { createPipe, SECRET, type Service } from '../support/service.ts';
import { allArrived, createSender, type Receiver, sendAtRate } from '../support/traffic.ts';
import { delay, waitFor } from '../support/wait.ts';
import { type BreakableDestination, makeBreakable, openedAt } from './destination.ts';

export const THRESHOLD = 5;
/** Webhooks per second during all of it: well below what a lane takes, and enough to have attempts under way at any time. */
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
  const { webhookUrl, routeId } = await createPipe(service, receiver.url, {
    route: { circuitFailureThreshold: THRESHOLD, circuitCooldownSeconds: COOLDOWN_SECONDS },
  });
  const sender = createSender(webhookUrl, SECRET, body);
  const [sent, opening] = await Promise.all([
    sendAtRate(sender.send, LOAD[lane], HEALTHY_SECONDS + COOLDOWN_SECONDS + MARGIN_SECONDS),
    breakDown(service, routeId, destination),
  ]);
  await sender.close();
  await allArrived(
    receiver,
    sent.map((event) => event.eventId),
  );
  return opening;
}

async function breakDown(service: Service, routeId: string, destination: BreakableDestination): Promise<Opening> {
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
    probeAfterMs: probe.at - cooledDown,
  };
}
