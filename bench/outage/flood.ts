// What an outage costs while it lasts, and what comes of it afterwards: many webhooks for a route whose circuit is open, then
// the destination recovers.
import { circuitWorkflowId } from '../../core/workflow-names.ts';
import { type Cost, costPer } from '../support/cost.ts';
import { median } from '../support/measure.ts';
import { createPipe, type Memory, quiet, SECRET, type Service } from '../support/service.ts';
import { allArrived, createSender, type Receiver, sendMany } from '../support/traffic.ts';
import { waitFor } from '../support/wait.ts';
import { type BreakableDestination, makeBreakable, openedAt } from './destination.ts';
import { THRESHOLD } from './opening.ts';

const DAY_SECONDS = 86_400;
// What the first two deliveries after the cooldown are.
const PROBES = 2;
const DEADLINE_MS = 120_000;

/** While the circuit is open. */
export interface Held {
  /** Webhooks acknowledged per second, and held per second: the same number over the time until the last one is held. */
  ingestPerSecond: number;
  heldPerSecond: number;
  attempts: number;
  workflowsStarted: number;
  /** Events in the history of the circuit's own workflow. */
  circuitHistory: number;
  /** Per webhook, ingest included. */
  cost: Cost;
  before: Memory;
  after: Memory;
}

/** After the recovery. */
export interface Released {
  missing: number;
  /** Events that arrived more than once. */
  repeated: number;
  perSecond: number;
  /** Deliveries in the busiest second. */
  busiestSecond: number;
  /** Places between where an event arrived and where it would have in order of receipt. */
  displacement: { median: number; largest: number };
}

export interface Flood {
  held: Held;
  released: Released;
}

/** @param options.events webhooks sent while the circuit is open */
export async function measureFlood(
  service: Service,
  receiver: Receiver,
  { events, body }: { events: number; body: string },
): Promise<Flood> {
  const destination = makeBreakable(receiver);
  destination.isDown = () => true;
  const { webhookUrl, routeId } = await createPipe(service, receiver.url, {
    route: { circuitFailureThreshold: THRESHOLD, circuitCooldownSeconds: DAY_SECONDS },
  });
  const sender = createSender(webhookUrl, SECRET, body);
  const eventIds: string[] = [];
  const send = async () => {
    eventIds.push((await sender.send()).eventId);
  };
  for (let number = 0; number < THRESHOLD; number += 1) await send();
  await waitFor('an open circuit', () => openedAt(service, routeId), DEADLINE_MS);
  await untilHeld(service, routeId, THRESHOLD);
  const held = await measureHeld(service, { routeId, events, send, destination });
  await sender.close();

  destination.isDown = () => false;
  await service.call('PATCH', `/api/routes/${routeId}/circuit-config`, { circuitCooldownSeconds: 1 });
  await allArrived(receiver, eventIds);
  // A repetition would come from a delivery that is still under way.
  await quiet(service);
  return { held, released: judge(eventIds, destination) };
}

async function measureHeld(
  service: Service,
  flood: { routeId: string; events: number; send: () => Promise<void>; destination: BreakableDestination },
): Promise<Held> {
  const { routeId, events, send, destination } = flood;
  const attempts = destination.hits.length;
  const workflows = await countWorkflows(service, routeId);
  const before = service.memoryMiB();
  const cost = await service.counters();

  const startedAt = performance.now();
  await sendMany(send, events);
  const acknowledged = performance.now();
  await untilHeld(service, routeId, events + THRESHOLD);
  return {
    ingestPerSecond: (1000 * events) / (acknowledged - startedAt),
    heldPerSecond: (1000 * events) / (performance.now() - startedAt),
    attempts: destination.hits.length - attempts,
    workflowsStarted: (await countWorkflows(service, routeId)) - workflows,
    circuitHistory: (await service.temporal.workflow.getHandle(circuitWorkflowId(routeId)).describe()).historyLength,
    cost: costPer(events, cost, await service.counters()),
    before,
    after: service.memoryMiB(),
  };
}

async function untilHeld({ pool }: Service, routeId: string, count: number): Promise<void> {
  const query = 'select count(*)::int as held from held_deliveries where route_id = $1';
  const areHeld = async () => (await pool.query<{ held: number }>(query, [routeId])).rows[0]?.held === count;
  await waitFor(`${count} held deliveries`, areHeld, DEADLINE_MS);
}

async function countWorkflows({ temporal }: Service, routeId: string): Promise<number> {
  return (await temporal.workflow.count(`WorkflowType = 'delivery' and RouteId = '${routeId}'`)).count;
}

function judge(eventIds: string[], { hits }: BreakableDestination): Released {
  const taken = hits.filter((hit) => hit.taken);
  // Ids sort by time of receipt.
  const places = new Map(eventIds.toSorted().map((eventId, place) => [eventId, place]));
  const arrived = [...new Set(taken.map((hit) => hit.eventId))];
  const displacements = arrived.map((eventId, place) => Math.abs(place - (places.get(eventId) ?? Number.NaN)));
  const times = taken.slice(PROBES).map((hit) => hit.at);
  return {
    missing: eventIds.length - arrived.length,
    repeated: taken.length - arrived.length,
    perSecond: ((times.length - 1) * 1000) / ((times.at(-1) ?? 0) - (times[0] ?? 0)),
    busiestSecond: busiestSecond(times),
    displacement: { median: median(displacements), largest: Math.max(...displacements) },
  };
}

/** @param times ms, ascending */
function busiestSecond(times: number[]): number {
  let first = 0;
  let most = 0;
  for (const [at, time] of times.entries()) {
    while (time - (times[first] ?? time) >= 1000) first += 1;
    most = Math.max(most, at - first + 1);
  }
  return most;
}
