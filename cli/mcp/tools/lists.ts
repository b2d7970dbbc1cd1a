// Lists of the API, each item in short, with what the API tells of it elsewhere.
import pMap from 'p-map';
import { z } from 'zod';
import type {
  Client,
  CursorPagination,
  Delivery,
  Event,
  HttpDestinationSummary,
  Pagination,
  Route,
  Source,
} from '../../../client/index.ts';
import { plural, pluralOf } from '../../../core/text/words.ts';
import { callOperation, OPERATIONS, type OperationName } from '../../operations.ts';
import { inputs, inputsOf, membersOf, type Tool, tool } from '../tool.ts';

/** Requests at a time for what the lists of the API do not have. */
const AT_ONCE = 4;

interface List<Item> {
  operation: OperationName;
  one: string;
  title: string;
  description: string;
  leftOut?: string[];
  item(item: Item, client: Client): object | Promise<object>;
}

interface Page {
  data: never[];
  pagination: Pagination | CursorPagination;
}

function listTool<Item>({ operation, one, title, description, leftOut = [], item }: List<Item>): Tool {
  const hasCursor = OPERATIONS[operation].query.some(({ name }) => name === 'cursor');
  const many = pluralOf(one);
  const { limit, page, cursor } = inputs;
  return tool({
    ...{ name: `list_${many}`, title, description },
    input: z.strictObject({
      ...inputsOf(operation, ['enabled', 'lane', ...leftOut]),
      limit,
      ...(hasCursor ? { cursor } : { page }),
    }),
    more: hasCursor
      ? 'Pass a smaller limit, and continue with nextCursor.'
      : 'Pass a smaller limit and page through the list, or pass parameters that match fewer items.',
    async run({ client }, { limit: pageSize, ...args }) {
      const start = hasCursor ? { cursor: 'first' } : {};
      const input = { ...start, ...(await membersOf(client, args)), pageSize };
      const { data, pagination } = (await callOperation(client, operation, input)) as Page;
      const items = await pMap(data, (each) => item(each, client), { concurrency: AT_ONCE });
      if ('nextCursor' in pagination) {
        const { nextCursor, searchedUntil } = pagination;
        const rest = nextCursor === null ? 'end of the list' : 'for more, continue with nextCursor';
        return {
          summary: `${plural(items.length, one)}; ${rest}.`,
          data: { [many]: items, nextCursor, searchedUntil },
        };
      }
      const { total, page: at, pageSize: size } = pagination;
      const rest = total > at * size ? `; continue with page ${at + 1}` : '';
      return { summary: `${items.length} of ${plural(total, one)}${rest}.`, data: { [many]: items, total } };
    },
  });
}

function pick<Item extends object>(item: Item, ...names: (keyof Item)[]): Partial<Item> {
  return Object.fromEntries(names.map((name) => [name, item[name]])) as Partial<Item>;
}

export const listEvents = listTool<Event>({
  ...{ operation: 'listEvents', one: 'event', title: 'Find events' },
  description:
    'Lists accepted webhooks (events), newest first, without their payloads. "search" searches payloads, so an order number or a customer ID ' +
    'finds its event. routed: false finds events that no route matched, which were stored but not delivered.',
  // Without headers: the list would be all headers.
  item: (event) => ({
    ...pick(event, 'id', 'source', 'status', 'routed', 'method', 'path', 'payloadSize', 'receivedAt'),
    deliveries: {
      all: event.deliveriesCount,
      delivered: event.deliveriesSucceeded,
      failed: event.deliveriesFailed,
    },
  }),
});

export const listDeliveries = listTool<Delivery>({
  ...{ operation: 'listDeliveries', one: 'delivery', title: 'Find deliveries' },
  description:
    'Lists individual deliveries, newest first, with status, number of attempts and the latest error. For an overview of failures, use ' +
    'list_failures.',
  item: (delivery) => ({
    ...pick(delivery, 'id', 'eventId', 'source', 'route', 'destination', 'status', 'attemptCount', 'statusCode'),
    ...pick(delivery, 'error', 'holdReason', 'createdAt', 'nextAttemptAt', 'finishedAt'),
  }),
});

export const listSources = listTool<Source>({
  ...{ operation: 'listSources', one: 'source', title: 'List sources' },
  description:
    'Lists sources, which receive webhooks. For each source, shows its ingest URL and provider, whether it is enabled, when its last event was received ' +
    'and how many webhooks it refused in the last 24 hours, by cause (signature: the signature is missing or does not match the secret).',
  async item(source, client) {
    const { counts } = await client.listRefusals({ id: source.id, pageSize: 1, period: '24h' });
    return {
      ...pick(source, 'id', 'slug', 'name', 'webhookUrl', 'provider', 'enabled', 'lastHandshake', 'eventsCount'),
      ...pick(source, 'lastEventAt', 'warnings'),
      ...{ verification: source.verificationConfig.type, refusedIn24h: pick(counts, 'total', 'causes') },
    };
  },
});

export const listRoutes = listTool<Route>({
  ...{ operation: 'listRoutes', one: 'route', title: 'List routes' },
  description:
    'Lists routes, which define where webhooks are delivered. For each route, shows its source, destinations, filter, schema and transform, and whether it is ' +
    'enabled or paused. "circuit" shows the state of its circuit breaker. While the circuit breaker is open, deliveries are held or sent to the failover destinations.',
  async item(route, client) {
    const { id, circuitState } = route;
    // A closed circuit has nothing to tell.
    const circuit =
      circuitState === 'closed'
        ? { circuitState }
        : pick(
            await client.getCircuitStatus({ id }),
            ...(['circuitState', 'openedAt', 'failureCount', 'failureThreshold', 'cooldownSeconds'] as const),
            ...(['lastFailureAt', 'lastSuccessAt'] as const),
          );
    return {
      ...pick(route, 'id', 'name', 'source', 'destinations', 'failoverDestinationIds', 'filter', 'filterConditions'),
      ...pick(route, 'filterLogic', 'schema', 'transform', 'enabled', 'paused', 'pausedUntil', 'pauseReason'),
      ...pick(route, 'eventsRouted', 'lastEventAt'),
      circuit,
    };
  },
});

export const listDestinations = listTool<HttpDestinationSummary>({
  ...{ operation: 'listDestinations', one: 'destination', title: 'List destinations' },
  description:
    'Lists destinations (HTTP endpoints and warehouses). For each destination, shows whether it is enabled or paused, its recent health ' +
    '(healthy, degraded, failing or unknown), its success rate, latencies, last success and last failure. Credentials are masked.',
  item: async (destination, client) => ({
    ...destination,
    health: await client.getDestinationHealth({ id: destination.id }),
  }),
});
