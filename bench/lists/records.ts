// The configuration of the filled service: one big organization and some small ones, with sources, routes and
// destinations.
import { DEFAULT_RETRY_POLICY } from '../../core/delivery/backoff.ts';
import { newId } from '../../core/text/ids.ts';
import type { Queryable } from '../../db/connections/pool.ts';

/** How large an organization is. */
interface Shape {
  sources: number;
  routesPerSource: number;
  destinations: number;
  /** Its share of all events, in percent. */
  share: number;
}

const BIG: Shape = { sources: 12, routesPerSource: 3, destinations: 120, share: 80 };
const SMALL: Shape = { sources: 2, routesPerSource: 2, destinations: 4, share: 5 };
const SMALL_ORGANIZATIONS = 4;

/** One way of an event: a route of its source to one destination. */
export interface Way {
  source: number;
  routeId: string;
  destinationId: string;
  /** Where the route fails over to, if anywhere. */
  failoverId: string | null;
  /** How many of a hundred events of the source the route takes. */
  takes: number;
  /** Disabled destinations are skipped, unhealthy ones fail three times out of ten. */
  destination: 'healthy' | 'unhealthy' | 'disabled';
  /** Mean latency of the destination, ms. */
  latency: number;
}

export interface FilledRecords {
  /** Sources by number; `Way.source` refers to them. */
  sources: { id: string; organizationId: string }[];
  ways: Way[];
  /** Numbers of sources, each as often as its share in a thousand events. */
  mix: number[];
}

/** Makes the records; the big organization is the one that exists already. */
export async function fillRecords(db: Queryable, bigOrganizationId: string): Promise<FilledRecords> {
  const records: FilledRecords = { sources: [], ways: [], mix: [] };
  await addOrganization(db, records, bigOrganizationId, BIG);
  for (let n = 1; n <= SMALL_ORGANIZATIONS; n += 1) {
    const id = newId('org');
    await db.query(`insert into organizations (id, slug, name, plan) values ($1, $2, $2, 'pro')`, [id, `small-${n}`]);
    await addOrganization(db, records, id, SMALL);
  }
  return records;
}

async function addOrganization(
  db: Queryable,
  records: FilledRecords,
  organizationId: string,
  shape: Shape,
): Promise<void> {
  const destinationIds = Array.from({ length: shape.destinations }, () => newId('dst'));
  await db.query(
    `insert into destinations (id, organization_id, name, slug, type, url, method, auth_type, timeout_ms, retry_policy, enabled)
     select d.id, $2, 'Destination ' || n, 'destination-' || n, 'http', 'https://receiver-' || n || '.example/hooks', 'POST', 'none',
            30000, $3, n % 20 <> 0
     from unnest($1::text[]) with ordinality as d(id, n)`,
    [destinationIds, organizationId, JSON.stringify(DEFAULT_RETRY_POLICY)],
  );
  for (let s = 0; s < shape.sources; s += 1) {
    const id = newId('src');
    await db.query(`insert into sources (id, organization_id, name, slug) values ($1, $2, $3, $3)`, [
      id,
      organizationId,
      `source-${s}`,
    ]);
    const number = records.sources.push({ id, organizationId }) - 1;
    records.mix.push(...Array<number>(events(shape, s)).fill(number));
    for (let r = 0; r < shape.routesPerSource; r += 1) await addRoute(db, records, number, shape, destinationIds, r);
  }
}

/**
 * Of a thousand events, how many are the source's: each next source of an organization has three quarters of the one
 * before.
 */
function events(shape: Shape, source: number): number {
  const weights = Array.from({ length: shape.sources }, (_, n) => 0.75 ** n);
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return Math.max(1, Math.round((shape.share * 10 * (weights[source] ?? 0)) / all));
}

async function addRoute(
  db: Queryable,
  records: FilledRecords,
  source: number,
  shape: Shape,
  destinationIds: string[],
  r: number,
): Promise<void> {
  const owner = records.sources[source];
  const routeId = newId('rte');
  const first = (source * shape.routesPerSource + r) * 3;
  const at = (n: number) => n % destinationIds.length;
  // The first route of a source has three destinations, the others have one; every second route fails over.
  const chosen = r === 0 ? [at(first), at(first + 1), at(first + 2)] : [at(first)];
  const failover = r % 2 === 0 ? at(first + 3) : null;
  await db.query(
    `insert into routes (id, organization_id, name, source_id, destination_ids, failover_destination_ids)
     values ($1, $2, $3, $4, $5, $6)`,
    [
      routeId,
      owner?.organizationId,
      `route-${source}-${r}`,
      owner?.id,
      chosen.map((n) => destinationIds[n]),
      failover === null ? [] : [destinationIds[failover]],
    ],
  );
  for (const n of chosen) {
    records.ways.push({
      source,
      routeId,
      destinationId: destinationIds[n] ?? '',
      failoverId: failover === null ? null : (destinationIds[failover] ?? null),
      takes: r === 0 ? 100 : 60,
      destination: (n + 1) % 20 === 0 ? 'disabled' : n % 17 === 5 ? 'unhealthy' : 'healthy',
      latency: 20 + ((n * 37) % 180),
    });
  }
}
