// The lists beside a plain recount of the rows: which lists, and whether they agree.
import { expect } from 'chai';
import { idRange } from '../../db/history/events.ts';
import { findPage, type Selection } from '../../db/history/page.ts';
import type { Queryable } from '../../db/pool.ts';
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
  const { kind, organizationId, where } = selection;
  const [low, high] = idRange(kind === 'event' ? 'evt' : 'dlv', selection);
  const filters = Object.entries(where).filter(([, value]) => value !== undefined);
  const { rows } = await db.query<{ id: string }>(
    `select r.id from ${kind === 'event' ? 'events' : 'deliveries'} r join sources s on s.id = r.source_id
     where r.organization_id = $1 and r.id >= $2 and r.id < $3 ${filters.map(([column], n) => `and r.${column} = $${n + 4}`).join(' ')}
     order by r.id desc`,
    [organizationId, low, high, ...filters.map(([, value]) => value)],
  );
  const expected = rows.map(({ id }) => id);
  const found = await findPage(db, selection, page);
  const what = `${JSON.stringify(selection)} ${JSON.stringify(page)}`;
  expect(found.total, what).to.equal(expected.length);
  expect(found.ids, what).to.deep.equal(expected.slice(page.offset, page.offset + page.limit));
}
