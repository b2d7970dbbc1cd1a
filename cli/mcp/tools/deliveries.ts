// Deliveries: one event on its way to one destination.
import { z } from 'zod';
import type { Attempt, Client, Delivery } from '../../../client/index.ts';
import { DELIVERY_STATUSES } from '../../../core/delivery/delivery.ts';
import { cell } from '../../output.ts';
import { shortText } from '../bounded.ts';
import { inputs, placesOf, record, records, timesOf } from '../inputs.ts';
import { shownText } from '../payload.ts';
import { tool } from '../tool.ts';

/** Characters of what a destination answered. */
const MOST_ANSWERED = 2048;

export const deliveryFilters = {
  event: inputs.event.optional(),
  source: inputs.source,
  route: inputs.route,
  destination: inputs.destination,
  status: z.array(z.enum(DELIVERY_STATUSES)).min(1).describe('One or several').optional(),
  statusCode: z.int().min(100).max(599).describe('Of the latest attempt').optional(),
  codeClass: z
    .enum(['1xx', '2xx', '3xx', '4xx', '5xx', 'none'])
    .describe('Of the latest attempt; none: it had no answer')
    .optional(),
  error: z.string().min(1).max(200).describe('A part of the error of the latest attempt').optional(),
  since: inputs.since,
  until: inputs.until,
};
type Filters = z.output<z.ZodObject<typeof deliveryFilters>>;

/** The filters of the API. */
export async function deliveryFiltersOf(client: Client, filters: Filters) {
  const { event: eventId, status, statusCode, codeClass, error } = filters;
  return { ...(await placesOf(client, filters)), ...timesOf(filters), eventId, status, statusCode, codeClass, error };
}

export const listDeliveries = tool({
  name: 'list_deliveries',
  title: 'Find deliveries',
  description:
    'Lists single deliveries, newest first, with status, number of attempts and the error of the latest one. For what failed as a whole, ' +
    'list_failures says more in one call.',
  effect: 'reads',
  input: z.strictObject({ ...deliveryFilters, limit: inputs.limit, cursor: inputs.cursor }),
  output: z.looseObject({
    deliveries: records('id, eventId, source, route, destination, status, attemptCount, statusCode, error, times'),
    nextCursor: z.string().nullable().describe('null: these are the last'),
    searchedUntil: z.string().nullable().describe('A search that took long came so far back; nextCursor continues'),
  }),
  more: 'Ask with a smaller limit, and continue with nextCursor.',
  async run({ client }, { limit, cursor = 'first', ...filters }) {
    const query = await deliveryFiltersOf(client, filters);
    const { data, pagination } = await client.listDeliveries({ ...query, cursor, pageSize: limit });
    const { nextCursor, searchedUntil } = pagination;
    const rest = nextCursor === null ? 'these are the last' : 'there are more: nextCursor continues';
    return {
      summary: `${data.length} deliveries; ${rest}.`,
      data: { deliveries: data.map(inShort), nextCursor, searchedUntil },
    };
  },
});

function inShort(delivery: Delivery) {
  const { id, eventId, source, route, destination, status, attemptCount, statusCode, error, holdReason } = delivery;
  const { createdAt, nextAttemptAt, finishedAt } = delivery;
  return {
    ...{ id, eventId, source, route, destination, status, attemptCount, statusCode, error, holdReason },
    ...{ createdAt, nextAttemptAt, finishedAt },
  };
}

export const getDelivery = tool({
  name: 'get_delivery',
  title: 'Show a delivery',
  description:
    'Shows a delivery: each attempt with its time, status code, error and what the destination answered, and the request as it was sent ' +
    '(secrets masked) or will be. The body of the request only with includeBody, for which the key needs the scope payloads:read.',
  effect: 'reads',
  input: z.strictObject({
    delivery: z.string().min(1).max(100).describe('Id of a delivery, dlv_...'),
    attempt: z.int().min(1).describe('Whose request is shown; by default the latest that was made').optional(),
    includeBody: z.boolean().default(false),
    payloadBytes: inputs.payloadBytes,
  }),
  output: z.looseObject({
    delivery: record('The delivery'),
    attempts: records('Oldest first; long answers are cut'),
    request: record('attemptNumber, state (made, next or never), request, problem, doubts'),
  }),
  more: 'A smaller payloadBytes leaves room; npx hookyard deliveries show shows all of it.',
  async run({ client }, { delivery: id, attempt, includeBody, payloadBytes }) {
    const { attempts, ...delivery } = await client.getDelivery({ id });
    const sent = await client.getDeliveryRequest({ id, attempt, includeBody });
    return {
      summary: summaryOf(delivery, attempts),
      data: { delivery, attempts: attempts.map(withShortAnswer), request: withShortBody(sent, payloadBytes) },
    };
  },
});

const withShortAnswer = (attempt: Attempt) => ({
  ...attempt,
  responseBody: attempt.responseBody && shortText(attempt.responseBody, MOST_ANSWERED),
});

function withShortBody({ request, ...sent }: Awaited<ReturnType<Client['getDeliveryRequest']>>, most: number) {
  if (request === null) return { ...sent, request };
  const { body, bodyEncoding, ...head } = request;
  if (body === undefined) return { ...sent, request: head };
  return { ...sent, request: { ...head, body: shownText(body, bodyEncoding, head.bodySize, most) } };
}

function summaryOf(
  { id, status, destination, attemptCount, nextAttemptAt, ...its }: Delivery,
  attempts: Attempt[],
): string {
  const { error, holdReason } = its;
  const next = nextAttemptAt === null ? '' : ` The next attempt is at ${nextAttemptAt}.`;
  const why = status === 'delivered' ? null : (error ?? holdReason);
  const answered = attempts.at(-1)?.responseBody;
  const lines = [
    `${id} to ${destination.name} is ${status} after ${attemptCount} attempts${why === null ? '' : `: ${why}`}.${next}`,
    ...(answered && why !== null ? [`The destination answered: ${shortText(answered, 300)}`] : []),
  ];
  return lines.map(cell).join('\n');
}
