// What is asked of the API: every list with its filters, deep pages, and every statistic.
import { DELIVERY_STATUSES } from '../../core/delivery/delivery-status.ts';
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
const EVENT_STATUSES = ['pending', 'delivered', 'partial', 'failed'];

/** @param base path of the organization-scoped family */
export function listRequests(base: string, known: Known, nowMs: number): MeasuredRequest[] {
  const one = (list: string[]) => (run: number) => at(list, run);
  // A range that begins and ends at odd times, somewhere in the month.
  const range = (hours: number) => (run: number) => {
    const to = nowMs - ((run * 7919) % 600) * HOUR_MS - 1_234_567;
    return `from=${new Date(to - hours * HOUR_MS).toISOString()}&to=${new Date(to).toISOString()}`;
  };
  const list = (path: string, name: string, query: (run: number) => string): MeasuredRequest => ({
    name,
    path: (run) => `${path}?${query(run)}`,
  });
  const both = (path: string, what: string, statuses: readonly string[]): MeasuredRequest[] => [
    list(path, `${what}`, () => ''),
    list(path, `${what}, pageSize 100`, () => 'pageSize=100'),
    list(path, `${what}, page 50`, () => 'page=50'),
    list(path, `${what}, page 4900`, (run) => `page=${4900 + run}`),
    ...statuses.map((status) => list(path, `${what}, ${status}`, () => `status=${status}`)),
    list(path, `${what}, failed, page 100`, (run) => `status=failed&page=${100 + run}`),
    list(path, `${what}, an hour`, range(1)),
    list(path, `${what}, a day`, range(24)),
    list(path, `${what}, a week`, range(168)),
    list(path, `${what}, a week, failed, page 5`, (run) => `${range(168)(run)}&status=failed&page=5`),
    list(path, `${what}, since a week ago`, () => `from=${new Date(nowMs - 168 * HOUR_MS - 12_345).toISOString()}`),
  ];
  const events = `${base}/events`;
  const deliveries = '/api/deliveries';
  const source = one(known.sources);
  const route = one(known.routes);
  const destination = one(known.destinations);
  return [
    ...both(events, 'events', EVENT_STATUSES),
    list(events, 'events of a source', (run) => `sourceId=${source(run)}`),
    list(events, 'events of a source, page 500', (run) => `sourceId=${source(run)}&page=500`),
    list(events, 'events of a source, failed', (run) => `sourceId=${source(run)}&status=failed`),
    list(
      events,
      'events of a source, a week, partial',
      (run) => `sourceId=${source(run)}&status=partial&${range(168)(run)}`,
    ),
    list(events, 'events that no route took', () => 'routed=false'),
    list(events, 'events that no route took, page 100', () => 'routed=false&page=100'),
    list(events, 'events that a route took, page 500', (run) => `routed=true&page=${500 + run}`),
    {
      name: 'event with payload and deliveries',
      path: (run) => `${events}/${at(known.events, run)}?includePayload=true&includeDeliveries=true`,
    },
    { name: 'event payload', path: (run) => `${events}/${at(known.events, run)}/payload` },
    { name: 'event timeline', path: (run) => `${events}/${at(known.events, run)}/timeline` },
    ...both(deliveries, 'deliveries', DELIVERY_STATUSES),
    list(deliveries, 'deliveries of a route', (run) => `routeId=${route(run)}`),
    list(deliveries, 'deliveries of a route, page 500', (run) => `routeId=${route(run)}&page=500`),
    list(
      deliveries,
      'deliveries of a route, failed, a week',
      (run) => `routeId=${route(run)}&status=failed&${range(168)(run)}`,
    ),
    list(deliveries, 'deliveries of a destination', (run) => `destinationId=${destination(run)}`),
    list(deliveries, 'deliveries of a destination, page 500', (run) => `destinationId=${destination(run)}&page=500`),
    list(deliveries, 'deliveries of a destination, failed', (run) => `destinationId=${destination(run)}&status=failed`),
    list(
      deliveries,
      'deliveries of a route to a destination',
      (run) => `routeId=${route(run)}&destinationId=${destination(run)}`,
    ),
    list(deliveries, 'deliveries of an event', (run) => `eventId=${at(known.events, run)}`),
    { name: 'delivery with attempts', path: (run) => `${deliveries}/${at(known.deliveries, run)}` },
    ...cursorRequests(events, deliveries, known),
    ...combinedRequests(events, deliveries, known, nowMs),
    ...['1h', '24h', '7d', '30d'].map((period) => ({
      name: `route stats, ${period}`,
      path: (run: number) => `/api/routes/${route(run % 8)}/stats?period=${period}`,
    })),
    ...figureRequests(destination, nowMs),
    { name: 'destination health', path: (run) => `/api/destinations/${destination(run % 8)}/health` },
    { name: 'destination health, other family', path: (run) => `${base}/destinations/${destination(run % 8)}/health` },
    { name: 'destination', path: (run) => `/api/destinations/${destination(run)}` },
    { name: 'destinations', path: () => '/api/destinations' },
    { name: 'destinations, pageSize 100', path: () => '/api/destinations?pageSize=100' },
    { name: 'destinations, search', path: () => '/api/destinations?search=receiver-1' },
    { name: 'source', path: (run) => `${base}/sources/${source(run)}` },
    { name: 'sources', path: () => `${base}/sources?pageSize=100` },
    { name: 'route', path: (run) => `/api/routes/${route(run)}` },
    { name: 'routes, pageSize 100', path: () => '/api/routes?pageSize=100' },
    { name: 'routes of a destination', path: (run) => `/api/routes?destinationId=${destination(run)}` },
  ];
}

const at = (list: readonly string[], run: number) => list[run % list.length] ?? '';

/** Lists by cursor: from the newest on, and from somewhere in the month. */
function cursorRequests(events: string, deliveries: string, known: Known): MeasuredRequest[] {
  const filtersOf: Record<string, [what: string, query: (run: number) => string][]> = {
    events: [
      ['', () => ''],
      [' of a source', (run) => `sourceId=${at(known.sources, run)}&`],
      [' that no route took', () => 'routed=false&'],
      [', failed and partial', () => 'status=failed,partial&'],
    ],
    deliveries: [
      ['', () => ''],
      [' of a source', (run) => `sourceId=${at(known.sources, run)}&`],
      [' of a route', (run) => `routeId=${at(known.routes, run)}&`],
      [' of a destination', (run) => `destinationId=${at(known.destinations, run)}&`],
      [' of a destination, failed', (run) => `destinationId=${at(known.destinations, run)}&status=failed&`],
      [', cancelled', () => 'status=cancelled&'],
    ],
  };
  return [
    { kind: 'events', path: events, ids: known.events },
    { kind: 'deliveries', path: deliveries, ids: known.deliveries },
  ].flatMap(({ kind, path, ids }) =>
    (filtersOf[kind] ?? []).flatMap(([what, query]) => [
      { name: `${kind}${what}, by cursor`, path: (run: number) => `${path}?${query(run)}cursor=first` },
      {
        name: `${kind}${what}, cursor in the month`,
        path: (run: number) => `${path}?${query(run)}cursor=${at(ids, run)}`,
      },
      {
        name: `${kind}${what}, cursor and total`,
        path: (run: number) => `${path}?${query(run)}cursor=first&withTotal=true`,
      },
    ]),
  );
}

/** Filters together, as the console and programs ask for them, that the counts tell all of. */
function combinedRequests(events: string, deliveries: string, known: Known, nowMs: number): MeasuredRequest[] {
  const open = 'status=pending,retrying,circuit_open';
  const ended = 'status=failed,failed_over,schema_failed,filter_failed,skipped,cancelled';
  const since = (ms: number) => `from=${new Date(nowMs - ms).toISOString()}`;
  const place = (run: number) => `routeId=${at(known.routes, run)}&destinationId=${at(known.destinations, run)}`;
  return [
    { name: 'events, failed and partial, a day', path: () => `${events}?status=failed,partial&${since(24 * HOUR_MS)}` },
    {
      name: 'events of a source that no route took',
      path: (run) => `${events}?sourceId=${at(known.sources, run)}&routed=false`,
    },
    { name: 'deliveries of a source', path: (run) => `${deliveries}?sourceId=${at(known.sources, run)}` },
    {
      name: 'deliveries of a source, page 500',
      path: (run) => `${deliveries}?sourceId=${at(known.sources, run)}&page=500`,
    },
    {
      name: 'deliveries of a source, failed',
      path: (run) => `${deliveries}?sourceId=${at(known.sources, run)}&status=failed`,
    },
    { name: 'deliveries that are open', path: () => `${deliveries}?${open}` },
    { name: 'deliveries that ended otherwise', path: () => `${deliveries}?${ended}` },
    {
      name: 'deliveries that wait for a destination',
      path: (run) => `${deliveries}?${open}&destinationId=${at(known.destinations, run)}&pageSize=1`,
    },
    {
      name: 'what became of deliveries of ten minutes',
      path: (run) => `${deliveries}?${ended}&${place(run)}&${since(600_000)}&pageSize=1`,
    },
  ];
}

/** Figures over a day, a week and a month. */
function figureRequests(destination: (run: number) => string, nowMs: number): MeasuredRequest[] {
  const times: [name: string, hours: number, step: number][] = [
    ['a day by 5 minutes', 24, 300],
    ['a day', 24, 3600],
    ['a week by hours', 168, 3600],
    ['a month by days', 743, 86_400],
  ];
  const kinds = [
    'metric=events',
    'metric=events&groupBy=route',
    'metric=filtered&groupBy=route',
    'metric=deliveries',
    'metric=deliveries&groupBy=destination',
    'metric=attempts&groupBy=source',
    'metric=attempts&groupBy=statusCode',
  ];
  return times.flatMap(([name, hours, step]) => {
    const query = `from=${new Date(nowMs - hours * HOUR_MS).toISOString()}&step=${step}`;
    const request = (kind: string, also: (run: number) => string = () => '') => ({
      name: `figures, ${kind.replaceAll(/metric=|groupBy=/g, '').replace('&', ' by ')}, ${name}`,
      path: (run: number) => `/api/metrics?${kind}&${query}${also(run)}`,
    });
    return [
      ...kinds.map((kind) => request(kind)),
      request('metric=latency', (run) => `&destinationId=${destination(run % 8)}`),
      ...(hours > 24 ? [] : [request('metric=latency&groupBy=destination')]),
    ];
  });
}

/** Filters that rows are read for: by how much of the history that is. */
export function searchRequests(base: string, known: Known, nowMs: number): MeasuredRequest[] {
  const since = (hours: number) => `from=${new Date(nowMs - hours * HOUR_MS).toISOString()}`;
  const one = 'search=ord_1234567';
  const route = (run: number) => `routeId=${at(known.routes, run)}`;
  const destination = (run: number) => `destinationId=${at(known.destinations, run)}`;
  const deliveries = '/api/deliveries';
  const events = `${base}/events`;
  return [
    { name: 'one order, an hour', path: () => `${events}?${one}&${since(1)}` },
    { name: 'one order, a day', path: () => `${events}?${one}&${since(24)}` },
    { name: 'a frequent text, a day', path: () => `${events}?search=ORDER.PAID&${since(24)}` },
    { name: 'one order, a week', path: () => `${events}?${one}&${since(168)}` },
    { name: 'one order, failed events of all time', path: () => `${events}?${one}&status=failed` },
    { name: 'one order, all time', path: () => `${events}?${one}` },
    ...['statusCode=503', 'codeClass=5xx', 'codeClass=none', 'error=refused', 'error=503', 'lane=express'].flatMap(
      (filter) => [
        { name: `deliveries, ${filter}, by cursor`, path: () => `${deliveries}?${filter}&cursor=first` },
        {
          name: `deliveries, ${filter}, cursor in the month`,
          path: (run: number) => `${deliveries}?${filter}&cursor=${at(known.deliveries, run)}`,
        },
        { name: `deliveries, ${filter}, a day`, path: () => `${deliveries}?${filter}&${since(24)}` },
        {
          name: `deliveries of a destination, ${filter}, a day`,
          path: (run: number) => `${deliveries}?${filter}&${destination(run)}&${since(24)}`,
        },
        {
          name: `deliveries of a route, failed, ${filter}, a week`,
          path: (run: number) => `${deliveries}?${filter}&${route(run)}&status=failed&${since(168)}`,
        },
      ],
    ),
    ...[
      { what: 'a destination', query: destination },
      { what: 'a route', query: route },
      { what: 'a destination, failed', query: (run: number) => `${destination(run)}&status=failed` },
      { what: 'a route and a destination', query: (run: number) => `${route(run)}&${destination(run)}` },
    ].flatMap(({ what, query }) => [
      { name: `events of ${what}, by cursor`, path: (run: number) => `${events}?${query(run)}&cursor=first` },
      {
        name: `events of ${what}, cursor in the month`,
        path: (run: number) => `${events}?${query(run)}&cursor=${at(known.events, run)}`,
      },
      { name: `events of ${what}, a day`, path: (run: number) => `${events}?${query(run)}&${since(24)}` },
    ]),
  ];
}
