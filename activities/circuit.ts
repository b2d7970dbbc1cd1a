// What the workflow of a route's circuit does: checks what is due, elects probes, and resumes held deliveries. A pause
// of the route stops all of it until its end. A paused destination has such a workflow too, which only waits and
// then resumes its deliveries.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { changesAt } from '../core/delivery/circuit.ts';
import { eachOf } from '../core/fairness/concurrency.ts';
import type { FairQueue } from '../core/fairness/fair-queue.ts';
import type { WorkflowPermits } from '../core/fairness/workflow-permits.ts';
import type { Log } from '../core/process/log.ts';
import { changeCircuits, electProbe, loadCircuits, resetCircuit, type StoredCircuit } from '../db/circuits/circuits.ts';
import {
  countHeld,
  divertBlocked,
  endHold,
  findHeld,
  hasFailover,
  type HeldDelivery,
  heldOutsideCircuit,
  oldestHeld,
  releaseState,
} from '../db/circuits/held-deliveries.ts';
import { outlastPause, pausesOf } from '../db/circuits/pauses.ts';
import { nextProbe, endRelease, forgetCircuit, setWakeTime } from '../db/circuits/wake-ups.ts';
import { loadSuspension } from '../db/organizations/organizations.ts';
import { actingFor } from '../db/connections/by-organization.ts';
import type { Pool } from '../db/connections/pool.ts';
import { sendAll, signalWorkflow } from '../temporal-config/workflows.ts';
import { inTurn } from './activity.ts';
import type { CircuitAdvice, CircuitRequest } from './types.ts';

export interface CircuitDeps {
  pool: Pool;
  client: Client;
  workflowPermits: Pick<WorkflowPermits, 'acquire'>;
  releases: FairQueue;
  log: Log;
}

/**
 * Held deliveries of a route resumed per second, unless a request sets another rate: a destination that has just
 * recovered must not fail again.
 */
const RELEASE_PER_SECOND = 50;
// How long one call resumes deliveries; then the workflow shows its progress and notices changes.
const RELEASE_MS = 5000;
// The shortest step of a resumption; with a higher rate, a step resumes several deliveries, at most this many.
const STEP_MS = 20;
const MOST_OF_A_STEP = 500;
// While the organization is suspended, or the route or destination is paused; resuming it wakes the workflow.
const SUSPENDED_MS = 600_000;
// A lost workflow is started again this long after it should have acted.
const GRACE_MS = 10_000;
const COUNT_UP_TO = 100_000;

/**
 * Brings a circuit as far as it can go now. May be called at any time and any number of times.
 * @returns the state of the circuit and when to call again
 */
export async function advanceCircuit(deps: CircuitDeps, request: CircuitRequest): Promise<CircuitAdvice> {
  return actingFor(request.organizationId, () => (request.reset ? reset(deps, request) : advance(deps, request)));
}

/**
 * A look of its own, which waits for nothing: a retry would close the circuit again if it has opened since. So only one
 * that dies before it has ended is repeated.
 */
async function reset(deps: CircuitDeps, { routeId }: CircuitRequest): Promise<CircuitAdvice> {
  const current = await resetCircuit(deps.pool, routeId);
  const paused = await waitForPause(deps, routeId);
  if (paused) return paused;
  const held = await countHeld(deps.pool, routeId, COUNT_UP_TO);
  return held === 0 ? ended(deps, routeId, current) : { state: 'closed', held, waitMs: 0 };
}

async function advance(deps: CircuitDeps, request: CircuitRequest): Promise<CircuitAdvice> {
  const { organizationId, routeId } = request;
  const changed = await changeCircuits(deps.pool, [routeId], ({ isPaused, readAt }) =>
    isPaused ? [] : [{ type: 'elapsed', at: readAt }],
  );
  const current = changed.get(routeId);
  // Without a circuit it is a destination, or its route was deleted.
  if (!current || current.isPaused) {
    const paused = await waitForPause(deps, routeId);
    if (paused) return paused;
    // Its time was over.
    if (current) return advance(deps, request);
  }
  const resumption = async () => (current ? waitForResumption(deps, current) : null);
  if (!current || current.circuit.state === 'closed') {
    // The only statement before it is the one above: many circuits of an organization may wait for a place.
    return inTurn(deps.releases, organizationId, async () => {
      const advice = await resumption();
      if (advice) return advice;
      if (current) await holdByPauses(deps, current);
      return releaseHeld(deps, routeId, organizationId, current);
    });
  }
  const suspended = await resumption();
  if (suspended) return suspended;
  const isMore = await releaseOutside(deps, current);
  await holdByPauses(deps, current);
  if (current.circuit.state === 'half_open') await probe(deps, current);
  await failOverHeld(deps, current);
  const advice = await advise(deps, routeId);
  return isMore ? { ...advice, waitMs: 0 } : advice;
}

/** While its route or destination is paused, nothing changes and no delivery is resumed. @returns null: it is not */
async function waitForPause({ pool }: CircuitDeps, id: string): Promise<CircuitAdvice | null> {
  const pause = await outlastPause(pool, id);
  if (!pause) return null;
  const { until, version, readAt } = pause;
  // Its end may have come since: then the next look ends it.
  const waitMs = until === null ? SUSPENDED_MS : Math.min(Math.max(1, until.getTime() - readAt), SUSPENDED_MS);
  await setWakeTime(pool, id, version, new Date(readAt + waitMs + GRACE_MS));
  const held = await countHeld(pool, id, COUNT_UP_TO);
  return { state: 'closed', held, waitMs, paused: { until: until?.toISOString() ?? null } };
}

/**
 * While the organization is suspended, no delivery is probed or resumed: it would only wait elsewhere.
 * @returns null: it is not
 */
async function waitForResumption({ pool }: CircuitDeps, current: StoredCircuit): Promise<CircuitAdvice | null> {
  const { routeId, organizationId, version, readAt } = current;
  const { state } = current.circuit;
  // An open one sends nothing anyway.
  if (state === 'open') return null;
  if (!(await loadSuspension(pool, organizationId)).suspended) return null;
  const held = await countHeld(pool, routeId, COUNT_UP_TO);
  if (state === 'closed' && held === 0) return null;
  // Resuming wakes the circuit by a higher version: if that has happened since, this has no effect.
  await setWakeTime(pool, routeId, version, new Date(readAt + SUSPENDED_MS + GRACE_MS));
  const advice = { held, waitMs: SUSPENDED_MS, suspended: true } as const;
  return state === 'closed' ? { ...advice, state } : { ...advice, state, ...countsOf(current) };
}

function countsOf({ circuit, rule }: StoredCircuit) {
  return {
    failureCount: circuit.failureCount,
    probeSuccessCount: circuit.probeSuccessCount,
    probeSuccessThreshold: rule.probeSuccessThreshold,
    probeDeliveryId: circuit.probe?.deliveryId ?? null,
  };
}

/** The state of the circuit after the steps above, and the time of its next change. */
async function advise(deps: CircuitDeps, routeId: string): Promise<CircuitAdvice> {
  const [current, held] = await Promise.all([
    loadCircuits(deps.pool, [routeId]).then((found) => found.get(routeId)),
    countHeld(deps.pool, routeId, COUNT_UP_TO),
  ]);
  if (!current) return { state: 'closed', held, waitMs: 0 };
  const { circuit, rule, version, readAt } = current;
  const { state } = circuit;
  // Closed meanwhile: that change has scheduled another call, which resumes the held deliveries.
  if (state === 'closed') return { state, held, waitMs: 0 };
  const advice = { state, held, ...countsOf(current) };
  // The probe has ended since the check above, so that the next one is due, or a pause has begun: setting a time would
  // cancel its wake-up.
  const isNext = state === 'half_open' && circuit.probe === null && held > 0;
  if (isNext || current.isPaused) return { ...advice, waitMs: 0 };
  const dueAt = changesAt(circuit, rule);
  await setWakeTime(deps.pool, routeId, version, dueAt === null ? null : new Date(dueAt + GRACE_MS));
  return { ...advice, waitMs: dueAt === null ? null : Math.max(0, dueAt - readAt) };
}

/**
 * What a pause has held, and the state of the circuit does not concern: it does not wait for that, only for the turns
 * of its organization. @returns whether there is more of it
 */
async function releaseOutside(deps: CircuitDeps, { organizationId, routeId }: StoredCircuit): Promise<boolean> {
  const [first] = await heldOutsideCircuit(deps.pool, routeId, 1);
  if (!first) return false;
  return inTurn(deps.releases, organizationId, async () => {
    const startedAt = performance.now();
    while (performance.now() - startedAt < RELEASE_MS) {
      const held = await heldOutsideCircuit(deps.pool, routeId, MOST_OF_A_STEP);
      const released = await releaseInTurn(deps, organizationId, routeId, held);
      if (held.length < MOST_OF_A_STEP && released === held.length) return false;
      await delay(STEP_MS);
    }
    return true;
  });
}

/**
 * Sends the next probe: the delivery that has waited longest. If none waits, the next new delivery becomes the probe.
 */
async function probe(deps: CircuitDeps, { routeId, circuit }: StoredCircuit): Promise<void> {
  let deliveryId = circuit.probe?.deliveryId;
  if (deliveryId === undefined) {
    const next = await nextProbe(deps.pool, routeId);
    if (next === undefined) return;
    const elected = await electProbe(deps.pool, routeId, next);
    deliveryId = elected?.circuit.probe?.deliveryId;
    deps.log.info({ routeId, deliveryId }, 'chose the next probe for a half-open circuit breaker');
  }
  // Also when it was elected before: this process or another may have died before the probe was resumed.
  const held = deliveryId === undefined ? undefined : await findHeld(deps.pool, routeId, deliveryId);
  if (!held) return;
  // No wait for a turn: this activity holds a slot that others need, and there is one probe at a time.
  await release(deps, routeId, [held]);
}

/**
 * A destination may have been paused while the circuit held deliveries to it: it holds them from then on. Here they
 * would be elected and resumed before those to the other destinations, for nothing.
 */
async function holdByPauses(deps: CircuitDeps, current: StoredCircuit): Promise<void> {
  const paused = await pausesOf(deps.pool, current.organizationId, current.destinationIds);
  if (paused.size > 0) await divertHeld(deps, current, [...paused.keys()]);
}

/** The route may have been given failover destinations while it held deliveries. */
async function failOverHeld(deps: CircuitDeps, current: StoredCircuit): Promise<void> {
  if (await hasFailover(deps.pool, current.organizationId, current.routeId)) await divertHeld(deps, current);
}

async function divertHeld(deps: CircuitDeps, { routeId }: StoredCircuit, destinationIds?: string[]): Promise<void> {
  for (let after = ''; ; ) {
    const held = await oldestHeld(deps.pool, routeId, { after, limit: MOST_OF_A_STEP, destinationIds });
    const last = held.at(-1);
    if (!last) return;
    const diversions = await divertBlocked(
      deps.pool,
      held.map((each) => ({ ...each, routeId })),
    );
    const taken = held.filter((each) => each.hasWorkflow && diversions.get(each.deliveryId)?.status === 'failed_over');
    // No wait for turns: these have ended, and the signal to one that is not told before this worker ends would be
    // lost.
    await sendAll(
      taken.map(
        ({ deliveryId: id }) =>
          () =>
            signalWorkflow(deps.client, id, 'release'),
      ),
      CONCURRENT_SIGNALS,
    );
    after = last.deliveryId;
  }
}

/**
 * Resumes held deliveries in order of receipt, at the set rate or as quickly as they are started, or have their turn
 * at Temporal, if that is slower, for a few seconds or until the circuit opens again, or a pause begins.
 * @returns `held` 0: all of them are resumed
 */
async function releaseHeld(
  deps: CircuitDeps,
  routeId: string,
  organizationId: string,
  current: StoredCircuit | undefined,
): Promise<CircuitAdvice> {
  // At most one second's worth of resumed deliveries is in flight, so that they stay in order even if workers are
  // busy.
  const startedAt = performance.now();
  let released = 0;
  for (;;) {
    const elapsedMs = performance.now() - startedAt;
    const { stopped, perSecond, onTheWay } = await releaseState(deps.pool, routeId, RELEASE_PER_SECOND);
    if (stopped || elapsedMs > RELEASE_MS) break;
    const atRate = Math.floor((elapsedMs / 1000) * perSecond) + 1 - released;
    const due = Math.min(atRate, perSecond - onTheWay, MOST_OF_A_STEP);
    if (due > 0) {
      const held = await oldestHeld(deps.pool, routeId, { limit: due });
      const count = await releaseInTurn(deps, organizationId, routeId, held);
      released += count;
      if (held.length < due && count === held.length) return ended(deps, routeId, current);
    }
    await delay(STEP_MS);
  }
  deps.log.info({ routeId, resumed: released }, 'resumed held deliveries');
  return { state: 'closed', held: await countHeld(deps.pool, routeId, COUNT_UP_TO), waitMs: 0 };
}

/** Nothing is held and the circuit is closed: its workflow is not needed any more. */
async function ended(
  { pool }: CircuitDeps,
  routeId: string,
  current: StoredCircuit | undefined,
): Promise<CircuitAdvice> {
  if (current) await endRelease(pool, routeId, current.version);
  else await forgetCircuit(pool, routeId);
  return { state: 'closed', held: 0, waitMs: 0 };
}

// How held deliveries are resumed: a delivery with a workflow is signalled, any other goes (back) to the outbox.

const CONCURRENT_SIGNALS = 10;
// How long a resumption continues to ask for turns: meanwhile the circuit may open again, or a pause begin.
const ASK_FOR_MS = 1000;

/**
 * Each signal is a turn of the organization at Temporal; those without a workflow have theirs when the relay starts
 * them.
 * @returns how many were resumed, the first ones. The others are held on
 */
async function releaseInTurn(
  deps: CircuitDeps,
  organizationId: string,
  routeId: string,
  held: HeldDelivery[],
): Promise<number> {
  const until = performance.now() + ASK_FOR_MS;
  const released: HeldDelivery[] = [];
  let isOver = false;
  await eachOf(held, CONCURRENT_SIGNALS, async (each) => {
    if (isOver || performance.now() > until) return;
    if (!each.hasWorkflow || (await deps.workflowPermits.acquire(organizationId))) released.push(each);
    // The worker ends.
    else isOver = true;
  });
  await release(deps, routeId, released);
  return released.length;
}

/**
 * The workflow is signalled first and the row is removed afterwards: a crash in between repeats the signal, which is
 * harmless. A delivery whose workflow is gone goes through the outbox; the relay notices and ends it visibly.
 */
async function release(deps: CircuitDeps, routeId: string, held: HeldDelivery[]): Promise<void> {
  if (held.length === 0) return;
  const released: (HeldDelivery & { queue: boolean })[] = [];
  await eachOf(held, CONCURRENT_SIGNALS, async (each) => {
    const isTold = each.hasWorkflow && (await signalWorkflow(deps.client, each.deliveryId, 'release'));
    released.push({ ...each, queue: !isTold });
  });
  await endHold(deps.pool, routeId, released);
}
