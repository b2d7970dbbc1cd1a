// What the workflow of a route's circuit does: checks what is due, elects probes, and releases held deliveries. A pause of the route
// stops all of it until its end. A paused destination has such a workflow too, which only waits and releases.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { changesAt } from '../core/circuit.ts';
import type { Settings } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import type { Places } from '../core/places.ts';
import { changeCircuits, electProbe, loadCircuits, resetCircuit, type StoredCircuit } from '../db/circuits/circuits.ts';
import {
  countHeld,
  divertBlocked,
  endHold,
  findHeld,
  hasFailover,
  type HeldDelivery,
  heldOutsideCircuit,
  nextProbe,
  oldestHeld,
  releaseState,
} from '../db/circuits/held-deliveries.ts';
import { outlastPause } from '../db/circuits/pauses.ts';
import { endRelease, forgetCircuit, setWakeTime } from '../db/circuits/wake-ups.ts';
import { loadSuspension } from '../db/organizations/suspension.ts';
import type { Pool } from '../db/connections/pool.ts';
import { actingFor } from '../db/connections/pool-turns.ts';
import { sendAll, signalWorkflow } from '../temporal-config/workflow-signals.ts';
import { inTurn } from './in-turn.ts';
import type { CircuitAdvice, CircuitRequest } from './types.ts';

export interface CircuitDeps {
  pool: Pool;
  client: Client;
  settings: Pick<Settings, 'HOOKYARD_CIRCUIT_RELEASE_PER_SECOND'>;
  /** Of circuits that release. */
  releases: Places;
  log: Log;
}

// How long one call releases; then the workflow shows its progress and notices changes.
const RELEASE_MS = 5000;
// The shortest step of a release; with a higher rate, a step releases several.
const STEP_MS = 20;
// While the organization is suspended, or the route or destination is paused; resuming it wakes the workflow.
const SUSPENDED_MS = 600_000;
// A lost workflow is started again this long after it should have acted.
const GRACE_MS = 10_000;
const COUNT_UP_TO = 100_000;
const DIVERT_STEP = 500;
const CONCURRENT_SIGNALS = 10;

/**
 * Brings a circuit as far as it can go now. May be called at any time and any number of times.
 * @returns the state of the circuit and when to call again
 */
export async function advanceCircuit(deps: CircuitDeps, request: CircuitRequest): Promise<CircuitAdvice> {
  const organizationId = request.organizationId ?? (await organizationOf(deps, request)) ?? '';
  return actingFor(organizationId, () =>
    request.reset ? reset(deps, request) : advance(deps, request, organizationId),
  );
}

async function organizationOf({ pool }: CircuitDeps, { routeId }: CircuitRequest): Promise<string | undefined> {
  return (await loadCircuits(pool, [routeId])).get(routeId)?.organizationId;
}

/**
 * A look of its own, which waits for nothing: a retry would close the circuit again if it has opened since. So only one that dies
 * before it has ended is repeated.
 */
async function reset(deps: CircuitDeps, { routeId }: CircuitRequest): Promise<CircuitAdvice> {
  const current = await resetCircuit(deps.pool, routeId);
  const paused = await waitForPause(deps, routeId);
  if (paused) return paused;
  const held = await countHeld(deps.pool, routeId, COUNT_UP_TO);
  return held === 0 ? ended(deps, routeId, current) : { state: 'closed', held, waitMs: 0 };
}

async function advance(deps: CircuitDeps, request: CircuitRequest, organizationId: string): Promise<CircuitAdvice> {
  const { routeId } = request;
  const changed = await changeCircuits(deps.pool, [routeId], ({ isPaused, readAt }) =>
    isPaused ? [] : [{ type: 'elapsed', at: readAt }],
  );
  const current = changed.get(routeId);
  // Without a circuit it is a destination, or its route was deleted.
  if (!current || current.isPaused) {
    const paused = await waitForPause(deps, routeId);
    if (paused) return paused;
    // Its time was over.
    if (current) return advance(deps, request, organizationId);
  }
  const resumption = async () => (current ? waitForResumption(deps, current) : null);
  if (!current || current.circuit.state === 'closed') {
    // The only statement before it is the one above: many circuits of an organization may wait for a place.
    return inTurn(deps.releases, organizationId, async () => {
      return (await resumption()) ?? releaseHeld(deps, request, current);
    });
  }
  const suspended = await resumption();
  if (suspended) return suspended;
  await releaseOutside(deps, routeId);
  if (current.circuit.state === 'half_open') await probe(deps, current);
  await failOverHeld(deps, current);
  return advise(deps, routeId);
}

/** While its route or destination is paused, nothing changes and nothing is released (PAUSE-13). @returns null: it is not */
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

/** While the organization is suspended nothing is probed and nothing released: it would only wait elsewhere. @returns null: it is not */
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
  // Closed meanwhile: that change has scheduled another call, which releases the held deliveries.
  if (state === 'closed') return { state, held, waitMs: 0 };
  const advice = { state, held, ...countsOf(current) };
  // The probe has ended since the check above, so that the next one is due, or a pause has begun: setting a time would cancel its
  // wake-up.
  const isNext = state === 'half_open' && circuit.probe === null && held > 0;
  if (isNext || current.isPaused) return { ...advice, waitMs: 0 };
  const dueAt = changesAt(circuit, rule);
  await setWakeTime(deps.pool, routeId, version, dueAt === null ? null : new Date(dueAt + GRACE_MS));
  return { ...advice, waitMs: dueAt === null ? null : Math.max(0, dueAt - readAt) };
}

/** What a pause has held, and the state of the circuit does not concern: it does not wait for that. */
async function releaseOutside(deps: CircuitDeps, routeId: string): Promise<void> {
  for (;;) {
    const held = await heldOutsideCircuit(deps.pool, routeId, DIVERT_STEP);
    await release(deps, routeId, held);
    if (held.length < DIVERT_STEP) return;
  }
}

/** Sends the next probe: the delivery that has waited longest. If none waits, the next new delivery becomes the probe. */
async function probe(deps: CircuitDeps, { routeId, circuit }: StoredCircuit): Promise<void> {
  let deliveryId = circuit.probe?.deliveryId;
  if (deliveryId === undefined) {
    const next = await nextProbe(deps.pool, routeId);
    if (next === undefined) return;
    const elected = await electProbe(deps.pool, routeId, next);
    deliveryId = elected?.circuit.probe?.deliveryId;
    deps.log.info({ routeId, deliveryId }, 'probe of a half-open circuit');
  }
  // Also when it was elected before: this process or another may have died between the election and the release.
  const held = deliveryId === undefined ? undefined : await findHeld(deps.pool, routeId, deliveryId);
  if (held) await release(deps, routeId, [held]);
}

/** The route may have been given failover destinations while it held deliveries. */
async function failOverHeld(deps: CircuitDeps, { organizationId, routeId }: StoredCircuit): Promise<void> {
  if (!(await hasFailover(deps.pool, organizationId, routeId))) return;
  for (let after = ''; ; ) {
    const held = await oldestHeld(deps.pool, routeId, { after, limit: DIVERT_STEP });
    const last = held.at(-1);
    if (!last) return;
    const diversions = await divertBlocked(
      deps.pool,
      held.map((each) => ({ ...each, routeId })),
    );
    const taken = held.filter(({ deliveryId }) => diversions.get(deliveryId)?.status === 'failed_over');
    await sendAll(
      taken.flatMap((each) =>
        each.hasWorkflow ? [() => signalWorkflow(deps.client, each.deliveryId, 'release')] : [],
      ),
      CONCURRENT_SIGNALS,
    );
    after = last.deliveryId;
  }
}

/**
 * Releases held deliveries in order of receipt, at the set rate or as quickly as they are started if that is slower, for a
 * few seconds or until the circuit opens again, or a pause begins.
 * @returns `held` 0: all of them are released
 */
async function releaseHeld(
  deps: CircuitDeps,
  { routeId }: CircuitRequest,
  current: StoredCircuit | undefined,
): Promise<CircuitAdvice> {
  // At most one second's worth of released deliveries is in flight, so that they stay in order even if workers are busy.
  const usual = deps.settings.HOOKYARD_CIRCUIT_RELEASE_PER_SECOND;
  const startedAt = performance.now();
  let released = 0;
  for (;;) {
    const elapsedMs = performance.now() - startedAt;
    const { stopped, perSecond, onTheWay } = await releaseState(deps.pool, routeId, usual);
    if (stopped || elapsedMs > RELEASE_MS) break;
    const due = Math.min(Math.floor((elapsedMs / 1000) * perSecond) + 1 - released, perSecond - onTheWay);
    if (due > 0) {
      const held = await oldestHeld(deps.pool, routeId, { limit: due });
      await release(deps, routeId, held);
      released += held.length;
      if (held.length < due) return ended(deps, routeId, current);
    }
    await delay(STEP_MS);
  }
  deps.log.info({ routeId, released }, 'released held deliveries');
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

// The workflow is signalled first and the row is removed afterwards: a crash in between repeats the signal, which is harmless. A
// delivery whose workflow is gone goes through the outbox; the relay notices and ends it visibly.
async function release(deps: CircuitDeps, routeId: string, held: HeldDelivery[]): Promise<void> {
  if (held.length === 0) return;
  const released = await Promise.all(
    held.map(async (each) => ({
      ...each,
      queue: !each.hasWorkflow || !(await signalWorkflow(deps.client, each.deliveryId, 'release')),
    })),
  );
  await endHold(deps.pool, routeId, released);
}
