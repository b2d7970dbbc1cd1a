// What is asked of the API: every list with its filters, deep pages, and every statistic.
import { DELIVERY_STATUSES } from '../../core/delivery/delivery.ts';
import type { Pool } from '../../db/connections/pool.ts';

/** A request that is measured; the n-th run may ask for something else of the same kind. */
export interface MeasuredRequest {
  name: string;
  path: (run: number) => string;
}

/** Records of the filled organization, busiest first. */
export interface Known {
  sources: string[];
  routes: string[];
  destinations: string[];
  events: string[];
  deliveries: string[];
}

export async function findKnown(pool: Pool, organizationId: string): Promise<Known> {
  const ids = async (statement: string) =>
    (await pool.query<{ id: string }>(statement, [organizationId])).rows.map(({ id }) => id);
  return {
    sources: await ids(ofTotals('source_id', 'events', `destination_id = ''`)),
    routes: await ids(ofTotals('route_id', 'routed', `route_id <> '' and destination_id = ''`)),
    destinations: await ids(ofTotals('destination_id', 'delivered', `destination_id in (select id from destinations)`)),
    // Some of every day.
    events: await ids(`select id from events where organization_id = $1 and id like '%77'`),
    deliveries: await ids(`select id from deliveries where organization_id = $1 and id like '%777'`),
  };
}

const ofTotals = (column: string, count: string, condition: string): string =>
  `select ${column} as id from rollups where organization_id = $1 and step = 0 and ${condition} group by 1 order by sum(${count}) desc`;

const HOUR_MS = 3_600_000;
const OPEN = 'pending,retrying,circuit_open';
const ENDED = 'failed,failed_over,schema_failed,filter_failed,skipped,cancelled';

const at = (list: readonly string[], run: number) => list[run % list.length] ?? '';

/** @param base path of the organization-scoped family */
export function listRequests(base: string, known: Known, nowMs: number): MeasuredRequest[] {
  const events = `${base}/events`;
  const deliveries = '/api/deliveries';
  const source = (run: number) => `sourceId=${at(known.sources, run)}`;
  const route = (run: number) => `routeId=${at(known.routes, run)}`;
  const destination = (run: number) => `destinationId=${at(known.destinations, run)}`;
  const since = (hours: number) => `from=${new Date(nowMs - hours * HOUR_MS - 12_345).toISOString()}`;
  // A range that begins and ends at odd times, somewhere in the month.
  const range = (hours: number) => (run: number) => {
    const to = nowMs - ((run * 7919) % 600) * HOUR_MS - 1_234_567;
    return `from=${new Date(to - hours * HOUR_MS).toISOString()}&to=${new Date(to).toISOString()}`;
  };
  const list = (path: string, what: string, filters: Record<string, (run: number) => string>): MeasuredRequest[] =>
    Object.entries(filters).map(([name, query]) => ({
      name: `${what}${name}`,
      path: (run) => `${path}?${query(run)}`,
    }));
  const common = (path: string, what: string, statuses: readonly string[], ids: string[]) =>
    list(path, what, {
      '': () => '',
      ', pageSize 100': () => 'pageSize=100',
      ', page 4900': (run) => `page=${4900 + run}`,
      ...Object.fromEntries(statuses.map((status) => [`, ${status}`, () => `status=${status}`])),
      ', failed, page 100': (run) => `status=failed&page=${100 + run}`,
      ', an hour': range(1),
      ', a day': range(24),
      ', a week, failed, page 5': (run) => `${range(168)(run)}&status=failed&page=5`,
      ', since a week ago': () => since(168),
      ' of a source': source,
      ' of a source, page 500': (run) => `${source(run)}&page=500`,
      ' of a source, failed': (run) => `${source(run)}&status=failed`,
      ', by cursor': () => 'cursor=first',
      ', cursor in the month': (run) => `cursor=${at(ids, run)}`,
      ', cursor and total': () => 'cursor=first&withTotal=true',
      ' of a source, cursor in the month': (run) => `${source(run)}&cursor=${at(ids, run)}`,
    });
  return [
    ...common(events, 'events', ['pending', 'delivered', 'partial', 'failed'], known.events),
    ...list(events, 'events', {
      ' that no route matched': () => 'routed=false',
      ' that a route matched, page 500': (run) => `routed=true&page=${500 + run}`,
      ', failed and partial, a day': () => `status=failed,partial&${since(24)}`,
    }),
    {
      name: 'event with payload and deliveries',
      path: (run) => `${events}/${at(known.events, run)}?includePayload=true&includeDeliveries=true`,
    },
    { name: 'event timeline', path: (run) => `${events}/${at(known.events, run)}/timeline` },
    ...common(deliveries, 'deliveries', DELIVERY_STATUSES, known.deliveries),
    ...list(deliveries, 'deliveries', {
      ' of a route, page 500': (run) => `${route(run)}&page=500`,
      ' of a route, failed, a week': (run) => `${route(run)}&status=failed&${range(168)(run)}`,
      ' of a destination': destination,
      ' of a destination, failed': (run) => `${destination(run)}&status=failed`,
      ' of a destination, failed, by cursor': (run) => `${destination(run)}&status=failed&cursor=first`,
      ' of a route to a destination': (run) => `${route(run)}&${destination(run)}`,
      ' of an event': (run) => `eventId=${at(known.events, run)}`,
      ', open': () => `status=${OPEN}`,
      ', ended without success': () => `status=${ENDED}`,
      ' waiting for a destination': (run) => `status=${OPEN}&${destination(run)}&pageSize=1`,
    }),
    { name: 'delivery with attempts', path: (run) => `${deliveries}/${at(known.deliveries, run)}` },
    ...['24h', '30d'].map((period) => ({
      name: `route stats, ${period}`,
      path: (run: number) => `/api/routes/${at(known.routes, run % 8)}/stats?period=${period}`,
    })),
    ...figureRequests(known, nowMs),
    {
      name: 'destination health',
      path: (run) => `/api/destinations/${at(known.destinations, run % 8)}/health`,
    },
    { name: 'destinations, pageSize 100', path: () => '/api/destinations?pageSize=100' },
    { name: 'destinations, search', path: () => '/api/destinations?search=receiver-1' },
    { name: 'sources', path: () => `${base}/sources?pageSize=100` },
    { name: 'routes, pageSize 100', path: () => '/api/routes?pageSize=100' },
  ];
}

/** Figures over a day, a week and a month. */
function figureRequests(known: Known, nowMs: number): MeasuredRequest[] {
  const times: [name: string, hours: number, step: number][] = [
    ['a day by 5 minutes', 24, 300],
    ['a week by hours', 168, 3600],
    ['a month by days', 743, 86_400],
  ];
  const kinds = ['metric=events', 'metric=deliveries&groupBy=destination', 'metric=attempts&groupBy=statusCode'];
  return times.flatMap(([name, hours, step]) => {
    const query = `from=${new Date(nowMs - hours * HOUR_MS).toISOString()}&step=${step}`;
    return [
      ...kinds.map((kind) => ({
        name: `figures, ${kind.replaceAll(/metric=|groupBy=/g, '').replace('&', ' by ')}, ${name}`,
        path: () => `/api/metrics?${kind}&${query}`,
      })),
      {
        name: `figures, latency, ${name}`,
        path: (run: number) => `/api/metrics?metric=latency&${query}&destinationId=${at(known.destinations, run % 8)}`,
      },
    ];
  });
}

/** Filters that rows are read for: by how much of the history that is. */
export function searchRequests(base: string, known: Known, nowMs: number): MeasuredRequest[] {
  const since = (hours: number) => `from=${new Date(nowMs - hours * HOUR_MS).toISOString()}`;
  const one = 'search=ord_1234567';
  const destination = (run: number) => `destinationId=${at(known.destinations, run)}`;
  const events = `${base}/events`;
  return [
    { name: 'one order, an hour', path: () => `${events}?${one}&${since(1)}` },
    { name: 'one order, a week', path: () => `${events}?${one}&${since(168)}` },
    { name: 'one order, all time', path: () => `${events}?${one}` },
    { name: 'a frequent text, a day', path: () => `${events}?search=ORDER.PAID&${since(24)}` },
    ...['statusCode=503', 'error=refused', 'lane=express'].flatMap((filter) => [
      { name: `deliveries, ${filter}, by cursor`, path: () => `/api/deliveries?${filter}&cursor=first` },
      {
        name: `deliveries of a destination, ${filter}, a day`,
        path: (run: number) => `/api/deliveries?${filter}&${destination(run)}&${since(24)}`,
      },
    ]),
    { name: 'events of a destination, by cursor', path: (run) => `${events}?${destination(run)}&cursor=first` },
    {
      name: 'events of a destination, cursor in the month',
      path: (run) => `${events}?${destination(run)}&cursor=${at(known.events, run)}`,
    },
  ];
}
