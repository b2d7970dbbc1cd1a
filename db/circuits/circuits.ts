// Circuits in PostgreSQL: read, and changed by compare-and-set with the state machine of core/delivery/circuit.ts.
import {
  type Circuit,
  type CircuitEvent,
  type CircuitRule,
  type CircuitState,
  nextCircuit,
  PROBE_MS,
} from '../../core/delivery/circuit.ts';
import { newId } from '../../core/text/ids.ts';
import { circuitTransitions } from '../../core/metrics/deliveries.ts';
import { NOW_MS, pauseBlocks, WAKE_CIRCUITS } from '../sql/rules.ts';
import { closeCircuitIssues, openCircuitIssues } from '../issues/circuit-issues.ts';
import { jsonParameter, sql } from '../connections/statements.ts';
import { afterCommit, type Queryable } from '../connections/pool.ts';

/** A circuit as it was read; `version` 0: there is no row, the route has had no failure. */
export interface StoredCircuit {
  routeId: string;
  organizationId: string;
  /** Where the route leads, without its failover destinations. */
  destinationIds: string[];
  rule: CircuitRule;
  circuit: Circuit;
  /** Whether its route is paused: nothing is attempted then, whatever the state is (pauses.ts). */
  isPaused: boolean;
  version: number;
  /** When it was read by the clock of the database, by which all its times are; milliseconds since 1970. */
  readAt: number;
}

const inMs = (at: string) => `(extract(epoch from ${at}) * 1000)::bigint`;
// A route without a row is closed.
const LOAD = `
select r.id as "routeId", r.organization_id as "organizationId", r.destination_ids as "destinationIds",
       json_build_object('cooldownSeconds', r.circuit_cooldown_seconds, 'failureThreshold', r.circuit_failure_threshold,
                         'probeSuccessThreshold', r.circuit_probe_success_threshold) as rule,
       json_build_object('state', coalesce(c.state, 'closed'), 'failureCount', coalesce(c.failure_count, 0),
                         'probeSuccessCount', coalesce(c.probe_success_count, 0), 'openedAt', ${inMs('c.opened_at')},
                         'probe', case when c.probe_delivery_id is not null and c.probe_until is not null
                           then json_build_object(
                           'deliveryId', c.probe_delivery_id, 'until', ${inMs('c.probe_until')}) end) as circuit,
       ${pauseBlocks('c')} as "isPaused", coalesce(c.version, 0) as version, ${NOW_MS} as "readAt"
from routes r left join circuits c on c.route_id = r.id
where r.id = any($1::text[])`;

/** The circuits of routes; a route that does not exist (any more) is missing. */
export async function loadCircuits(db: Queryable, routeIds: string[]): Promise<Map<string, StoredCircuit>> {
  const { rows } = await db.query<StoredCircuit>({ name: 'load-circuits', text: LOAD, values: [routeIds] });
  return new Map(rows.map((row) => [row.routeId, row]));
}

// Of two writers that read the same version, one fails and reads again. A circuit that opens begins the draft of a
// recovery if the route notifies of these, so that the first success after it has closed is notified. Its issue opens
// and ends with it.
const WRITE = `
with input as (
  select * from json_to_recordset($1::json) as i(route_id text, organization_id text, state text, failure_count int,
    probe_success_count int, opened_at timestamptz, probe_delivery_id text, probe_until timestamptz, version int,
    wake bool, opened_by text, issue_id text, sample_delivery_id text)
), written as (
  insert into circuits as c (route_id, organization_id, state, failure_count, probe_success_count, opened_at,
                             probe_delivery_id, probe_until, version, wake_at)
  select route_id, organization_id, state, failure_count, probe_success_count, opened_at, probe_delivery_id,
         probe_until, version + 1, case when wake then now() end
  from input order by route_id
  on conflict (route_id) do update
    set state = excluded.state, failure_count = excluded.failure_count,
        probe_success_count = excluded.probe_success_count, opened_at = excluded.opened_at,
        probe_delivery_id = excluded.probe_delivery_id, probe_until = excluded.probe_until,
        version = excluded.version, wake_at = coalesce(excluded.wake_at, c.wake_at)
    where c.version = excluded.version - 1
  returning route_id
), failing as (
  insert into messages (id, organization_id, kind, route_id, destination_id, count, since, last_at, due_at)
  select 'recovery.' || gen_random_uuid(), i.organization_id, 'recovery', i.route_id, i.opened_by, 0, i.opened_at,
         i.opened_at, null
  from input i join written w using (route_id) join routes r on r.id = i.route_id
  where i.opened_by is not null and r.notify_on_recovery and r.notify_emails is not null
  on conflict do nothing
), ${openCircuitIssues('input', 'written')}, ${closeCircuitIssues('input', 'written')}
select route_id as "routeId",
       case when (select bool_or(wake) from input) then ${WAKE_CIRCUITS} end
from written`;

// Each iteration loses only to a writer that succeeded, so this is far more than contention between workers needs.
const MAX_TURNS = 50;

export type RouteEvent = CircuitEvent & { destinationId?: string };

/**
 * Applies events to the circuits of routes, in their order, safe under concurrent changes.
 * @param choose returns the events for the current circuit; none: it stays unchanged
 * @returns the circuits afterwards; a route that does not exist is missing
 */
export async function changeCircuits(
  db: Queryable,
  routeIds: string[],
  choose: (current: StoredCircuit) => RouteEvent[],
): Promise<Map<string, StoredCircuit>> {
  const result = new Map<string, StoredCircuit>();
  let left = routeIds;
  for (let turn = 0; left.length > 0; turn += 1) {
    if (turn === MAX_TURNS) throw new Error(`Other requests keep changing the circuit breakers of ${left.join(', ')}`);
    const changes: CircuitChange[] = [];
    for (const before of (await loadCircuits(db, left)).values()) {
      result.set(before.routeId, before);
      const change = applyEvents(before, choose(before));
      if (change.after !== before.circuit) changes.push({ before, ...change });
    }
    const written = await write(db, changes);
    left = [];
    for (const { before, after } of changes) {
      if (written.has(before.routeId)) {
        if (after.state !== before.circuit.state) afterCommit(db, () => circuitTransitions.add({ to: after.state }));
        result.set(before.routeId, { ...before, circuit: after, version: before.version + 1 });
      } else left.push(before.routeId);
    }
  }
  return result;
}

interface CircuitChange {
  before: StoredCircuit;
  after: Circuit;
  openedBy: string | null;
  openedWith: string | null;
}

function applyEvents({ circuit, rule }: StoredCircuit, events: RouteEvent[]): Omit<CircuitChange, 'before'> {
  let after = circuit;
  let openedBy: string | null = null;
  let openedWith: string | null = null;
  for (const event of events) {
    const next = nextCircuit(after, rule, event);
    if (after.state === 'closed' && next.state === 'open') openedBy = event.destinationId ?? null;
    if (after.state !== 'open' && next.state === 'open' && 'deliveryId' in event) openedWith = event.deliveryId;
    after = next;
  }
  return { after, openedBy, openedWith };
}

async function write(db: Queryable, changes: CircuitChange[]): Promise<Set<string>> {
  if (changes.length === 0) return new Set();
  const rows = changes.map(({ before, after, openedBy, openedWith }) => ({
    route_id: before.routeId,
    organization_id: before.organizationId,
    state: after.state,
    failure_count: after.failureCount,
    probe_success_count: after.probeSuccessCount,
    opened_at: iso(after.openedAt),
    probe_delivery_id: after.probe?.deliveryId ?? null,
    probe_until: iso(after.probe?.until ?? null),
    version: before.version,
    wake: after.state !== before.circuit.state || after.probe?.deliveryId !== before.circuit.probe?.deliveryId,
    opened_by: openedBy,
    issue_id: openedWith !== null && after.state === 'open' ? newId('iss') : null,
    sample_delivery_id: openedWith,
  }));
  const written = await db.query<{ routeId: string }>({
    name: 'write-circuits',
    text: WRITE,
    values: [jsonParameter(rows)],
  });
  return new Set(written.rows.map((row) => row.routeId));
}

const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString());

export interface CountedAttempt {
  routeId: string;
  destinationId: string;
  deliveryId: string;
  success: boolean;
  /** By the clock of the process that made it: only orders the attempts of one call. */
  completedAt: Date;
}

/**
 * Counts attempts in the circuits of their routes, in the order in which they ended. Those of destinations that a route
 * does not lead to any more do not count; but a probe does, whose circuit has held it since before.
 * @returns the routes that now admit only a probe, or nothing
 */
export async function countAttemptsInCircuits(db: Queryable, attempts: CountedAttempt[]): Promise<Set<string>> {
  const byRoute = Map.groupBy(
    attempts.toSorted((a, b) => a.completedAt.getTime() - b.completedAt.getTime()),
    (attempt) => attempt.routeId,
  );
  const circuits = await changeCircuits(db, [...byRoute.keys()], ({ routeId, destinationIds, circuit, readAt }) =>
    (byRoute.get(routeId) ?? [])
      .filter(
        ({ deliveryId, destinationId }) =>
          destinationIds.includes(destinationId) || circuit.probe?.deliveryId === deliveryId,
      )
      .map(({ success, deliveryId, destinationId }) => ({
        type: success ? 'succeeded' : 'failed',
        deliveryId,
        destinationId,
        at: readAt,
      })),
  );
  const blocking = [...circuits.values()].filter(({ circuit, isPaused }) => isPaused || circuit.state !== 'closed');
  return new Set(blocking.map(({ routeId }) => routeId));
}

/**
 * Makes a delivery the probe of its route, if the circuit is half-open and has none, and the route is not paused.
 * @returns the circuit afterwards
 */
export async function electProbe(
  db: Queryable,
  routeId: string,
  deliveryId: string,
): Promise<StoredCircuit | undefined> {
  const circuits = await changeCircuits(db, [routeId], ({ circuit, isPaused, readAt }) =>
    !isPaused && circuit.state === 'half_open' && circuit.probe === null
      ? [{ type: 'probe', deliveryId, until: readAt + PROBE_MS }]
      : [],
  );
  return circuits.get(routeId);
}

/**
 * Closes the circuit of a route; what it holds is released by its workflow.
 * @returns the circuit afterwards
 */
export async function resetCircuit(db: Queryable, routeId: string): Promise<StoredCircuit | undefined> {
  const circuits = await changeCircuits(db, [routeId], ({ circuit }) =>
    circuit.state === 'closed' && circuit.failureCount === 0 ? [] : [{ type: 'reset' }],
  );
  return circuits.get(routeId);
}

export async function circuitStates(db: Queryable, routeIds: string[]): Promise<Map<string, CircuitState>> {
  const rows = await sql(db).rows<{ id: string; state: CircuitState }>`
    select route_id as id, state from circuits where route_id = any(${routeIds}::text[]) and state <> 'closed'`;
  return new Map(rows.map((row) => [row.id, row.state]));
}

/** The state of the circuit of a route; one that never failed has none. @param route the alias of the route */
export const stateOfCircuit = (route: string): string =>
  `coalesce((select c.state from circuits c where c.route_id = ${route}.id), 'closed')`;
