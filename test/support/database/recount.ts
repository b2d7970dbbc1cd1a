// The lists beside a plain recount of the rows: which lists, and whether they agree.
import { expect } from 'chai';
import { idFloor } from '../../../core/text/ids.ts';
import { findPart } from '../../../db/history/search.ts';
import type { Found } from '../../../db/sql/list-parts.ts';
import type { Selection } from '../../../db/history/selection.ts';
import type { Queryable } from '../../../db/connections/pool.ts';
import type { HistoryOwner } from './history.ts';

const HOUR = 3_600_000;

/** Every filter by itself and some together, over all time and over ranges that begin and end at odd times. */
export function selections({ organizationId, routes }: HistoryOwner): Selection[] {
  const now = Date.now();
  const ranges = [
    {},
    { from: new Date(now - 30 * HOUR - 12_345), to: new Date(now - 3 * HOUR - 54_321) },
    { from: new Date(now - 61 * HOUR) },
    { to: new Date(now - 40 * HOUR - 1) },
    { from: new Date(now - HOUR / 2), to: new Date(now - HOUR / 3) },
    { from: new Date(now), to: new Date(now - HOUR) },
  ];
  const [route] = routes;
  const ofEvents = [
    {},
    { source_id: route?.sourceId },
    { source_id: 'src_unknown' },
    ...['pending', 'delivered', 'partial', 'failed'].map((status) => ({ status })),
    { source_id: route?.sourceId, status: 'failed' },
    { routed: false },
    { routed: true },
    { source_id: route?.sourceId, routed: false },
    { routed: true, status: 'delivered' },
    { status: ['failed', 'partial'] },
  ];
  const ofDeliveries = [
    {},
    { route_id: route?.id },
    { destination_id: route?.destinationIds[0] },
    { destination_id: route?.failoverId },
    { route_id: route?.id, destination_id: route?.destinationIds[1] },
    ...[
      'pending',
      'retrying',
      'delivered',
      'failed',
      'failed_over',
      'schema_failed',
      'filter_failed',
      'skipped',
      'cancelled',
    ].map((status) => ({ status })),
    { status: ['failed', 'retrying', 'schema_failed'] },
    { source_id: route?.sourceId },
    { source_id: route?.sourceId, status: ['failed', 'pending'] },
    { route_id: route?.id, status: 'failed' },
    { destination_id: route?.destinationIds[0], status: 'delivered' },
  ];
  return ranges.flatMap((range) => [
    ...ofEvents.map((where) => ({ kind: 'event' as const, organizationId, ...range, where })),
    ...ofDeliveries.map((where) => ({ kind: 'delivery' as const, organizationId, ...range, where })),
  ]);
}

/** @throws when a page or the total of a list is not what the rows say */
export async function agrees(
  db: Queryable,
  selection: Selection,
  page: { limit: number; offset: number },
): Promise<void> {
  const expected = await recount(db, selection);
  const found = await findPart(db, selection, page, 0);
  const what = `${JSON.stringify(selection)} ${JSON.stringify(page)}`;
  expect(found, what).to.include({ total: expected.length, totalIsExact: true });
  expect(found.ids, what).to.deep.equal(expected.slice(page.offset, page.offset + page.limit));
}

/**
 * Goes through a list by cursor.
 * @param plain the condition of the selection's `also` on a row `r`, written another way; `where` is recounted instead
 * of the selection's
 * @param forMs how long one part is searched for
 * @throws when it is not what the rows say
 */
export async function agreesByCursor(
  db: Queryable,
  selection: Selection,
  { limit, forMs = 1000, plain, where }: { limit: number; forMs?: number; plain?: string; where?: Selection['where'] },
): Promise<void> {
  const expected = await recount(db, { ...selection, where: where ?? selection.where }, plain);
  const what = `${JSON.stringify(selection)} by ${limit}`;
  const ids: string[] = [];
  let after: string | null = null;
  do {
    const part: Found = await findPart(db, selection, { limit, after, withTotal: true }, forMs);
    expect(part.total, what).to.equal(expected.length);
    expect(part.ids.length, what).to.be.at.most(limit);
    // Only a search whose time was over may give fewer before the end.
    if (part.next !== null && part.searchedUntil === null) expect(part.ids, what).to.have.length(limit);
    if (part.next !== null && after !== null) expect(part.next < after, `${what}: a cursor continues`).to.equal(true);
    ids.push(...part.ids);
    after = part.next;
  } while (after !== null);
  expect(ids, what).to.deep.equal(expected);
}

/** What a list has, by one plain statement. */
async function recount(db: Queryable, selection: Selection, plain = 'true'): Promise<string[]> {
  const { kind, organizationId, where, delivered } = selection;
  const prefix = kind === 'event' ? 'evt' : 'dlv';
  const low = idFloor(prefix, selection.from?.getTime() ?? 0);
  const high = selection.to ? idFloor(prefix, selection.to.getTime() + 1) : `${prefix}_~`;
  const values: unknown[] = [organizationId, low, high];
  const equal = (alias: string, columns: object) =>
    Object.entries(columns)
      .filter(([, value]) => value !== undefined)
      .map(([column, value]) => ` and ${alias}.${column} = any($${values.push([value].flat())})`)
      .join('');
  const conditions = equal('r', where);
  const ofDelivery =
    delivered && `and exists (select from deliveries d where d.event_id = r.id ${equal('d', delivered)})`;
  const { rows } = await db.query<{ id: string }>(
    `select r.id from ${kind === 'event' ? 'events' : 'deliveries'} r join sources s on s.id = r.source_id
     where r.organization_id = $1 and r.id >= $2 and r.id < $3 ${conditions} ${ofDelivery ?? ''} and (${plain})
     order by r.id desc`,
    values,
  );
  return rows.map(({ id }) => id);
}
