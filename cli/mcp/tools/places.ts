// Where webhooks come in, which way they take and where they go, and how well that goes.
import pMap from 'p-map';
import { z } from 'zod';
import type { Client, Pagination, Route, Source } from '../../../client/index.ts';
import { inputs, placesOf, records } from '../inputs.ts';
import { tool } from '../tool.ts';

/** Requests at a time for what the lists of the API do not have. */
const AT_ONCE = 4;

const paged = { limit: inputs.limit, page: inputs.page };
const total = z.int().describe('On all pages');
const more = 'Ask with a smaller limit, page by page, or search for a part of the name.';

const summaryOf = (what: string, { total: all, page, pageSize }: Pagination, shown: number): string =>
  all > page * pageSize ? `${shown} of ${all} ${what}; page ${page + 1} has the next.` : `${shown} of ${all} ${what}.`;

export const listSources = tool({
  name: 'list_sources',
  title: 'List sources',
  description:
    'Lists where webhooks come in: address, provider, whether it is enabled, when the last webhook came, and how many were refused in the last ' +
    '24 hours, by cause (signature: the secret is not that of the sender).',
  effect: 'reads',
  input: z.strictObject({ search: inputs.search, ...paged }),
  output: z.looseObject({
    sources: records('id, slug, name, webhookUrl, provider, verification, enabled, lastEventAt, refusedIn24h, ...'),
    total,
  }),
  more,
  async run({ client }, { search, limit, page }) {
    const { data, pagination } = await client.listSources({ search, page, pageSize: limit });
    const sources = await pMap(data, (source) => sourceOf(client, source), { concurrency: AT_ONCE });
    return { summary: summaryOf('sources', pagination, data.length), data: { sources, total: pagination.total } };
  },
});

async function sourceOf(client: Client, source: Source) {
  const { id, slug, name, webhookUrl, provider, verificationConfig, enabled, lastHandshake } = source;
  const { eventsCount, lastEventAt, warnings } = source;
  const { counts } = await client.listRefusals({ id, pageSize: 1, period: '24h' });
  return {
    ...{ id, slug, name, webhookUrl, provider, verification: verificationConfig.type, enabled, lastHandshake },
    ...{ eventsCount, lastEventAt, warnings, refusedIn24h: { total: counts.total, causes: counts.causes } },
  };
}

export const listRoutes = tool({
  name: 'list_routes',
  title: 'List routes',
  description:
    'Lists which webhooks go where: source, destinations, filter, schema, transform, and whether the route is enabled, paused, or its circuit ' +
    'breaker is open (then deliveries are held; circuit says since when, and after how many failures).',
  effect: 'reads',
  input: z.strictObject({
    source: inputs.source,
    destination: inputs.destination,
    circuitState: z.enum(['closed', 'open', 'half_open']).optional(),
    ...paged,
  }),
  output: z.looseObject({
    routes: records('id, name, source, destinations, filter, schema, transform, enabled, paused, circuit, ...'),
    total,
  }),
  more,
  async run({ client }, { circuitState, limit, page, ...args }) {
    const filters = { ...(await placesOf(client, args)), circuitState };
    const { data, pagination } = await client.listRoutes({ ...filters, page, pageSize: limit });
    const routes = await pMap(data, (route) => routeOf(client, route), { concurrency: AT_ONCE });
    return { summary: summaryOf('routes', pagination, data.length), data: { routes, total: pagination.total } };
  },
});

async function routeOf(client: Client, route: Route) {
  const { id, name, source, destinations, failoverDestinationIds, filter, filterConditions, filterLogic } = route;
  const { schema, transform, enabled, paused, pausedUntil, pauseReason, circuitState, eventsRouted, lastEventAt } =
    route;
  // A closed circuit has nothing to tell.
  const circuit = circuitState === 'closed' ? { circuitState } : circuitOf(await client.getCircuitStatus({ id }));
  return {
    ...{
      id,
      name,
      source,
      destinations,
      failoverDestinationIds,
      filter,
      filterConditions,
      filterLogic,
      schema,
      transform,
    },
    ...{ enabled, paused, pausedUntil, pauseReason, circuit, eventsRouted, lastEventAt },
  };
}

function circuitOf(status: Awaited<ReturnType<Client['getCircuitStatus']>>) {
  const { circuitState, openedAt, failureCount, failureThreshold, cooldownSeconds, lastFailureAt, lastSuccessAt } =
    status;
  return { circuitState, openedAt, failureCount, failureThreshold, cooldownSeconds, lastFailureAt, lastSuccessAt };
}

export const listDestinations = tool({
  name: 'list_destinations',
  title: 'List destinations',
  description:
    'Lists where webhooks go, HTTP endpoints and warehouses, each with its health of the last day: healthy, degraded, failing or unknown, success ' +
    'rate, latencies, last success and failure; and whether it is enabled or paused. Credentials are masked.',
  effect: 'reads',
  input: z.strictObject({ search: inputs.search, ...paged }),
  output: z.looseObject({ destinations: records('id, name, type, url, enabled, paused, health, ...'), total }),
  more,
  async run({ client }, { search, limit, page }) {
    const { data, pagination } = await client.listDestinations({ search, page, pageSize: limit });
    const withHealth = async (destination: (typeof data)[number]) => ({
      ...destination,
      health: await client.getDestinationHealth({ id: destination.id }),
    });
    const destinations = await pMap(data, withHealth, { concurrency: AT_ONCE });
    return {
      summary: summaryOf('destinations', pagination, data.length),
      data: { destinations, total: pagination.total },
    };
  },
});
