// Received events: find them, and look at one.
import { z } from 'zod';
import { type Client, type Event, HookyardError } from '../../../client/index.ts';
import { inputs, placesOf, record, records, timesOf } from '../inputs.ts';
import { shownBytes } from '../payload.ts';
import { tool } from '../tool.ts';

export const listEvents = tool({
  name: 'list_events',
  title: 'Find received events',
  description:
    'Lists received webhooks (events), newest first, without their payloads. search looks into payloads, so an order number or a customer id ' +
    'finds its event. routed false finds events that no route took: they were stored and went nowhere.',
  effect: 'reads',
  input: z.strictObject({
    source: inputs.source,
    route: inputs.route,
    destination: inputs.destination,
    status: z.enum(['pending', 'delivered', 'partial', 'failed']).optional(),
    routed: z.boolean().describe('Whether a route took it').optional(),
    search: z.string().min(1).max(200).describe('A part of the payload').optional(),
    since: inputs.since,
    until: inputs.until,
    limit: inputs.limit,
    cursor: inputs.cursor,
  }),
  output: z.looseObject({
    events: records('id, source, status, routed, method, path, payloadSize, deliveries, receivedAt'),
    nextCursor: z.string().nullable().describe('null: these are the last'),
    searchedUntil: z.string().nullable().describe('A search that took long came so far back; nextCursor continues'),
  }),
  more: 'Ask with a smaller limit, and continue with nextCursor.',
  async run({ client }, { status, routed, search, limit, cursor = 'first', ...args }) {
    const filters = { ...(await placesOf(client, args)), ...timesOf(args), status, routed, search };
    const { data, pagination } = await client.listEvents({ ...filters, cursor, pageSize: limit });
    const { nextCursor, searchedUntil } = pagination;
    const rest = nextCursor === null ? 'these are the last' : 'there are more: nextCursor continues';
    return {
      summary: `${data.length} events; ${rest}.`,
      data: { events: data.map(inShort), nextCursor, searchedUntil },
    };
  },
});

/** Without headers: the list would be all headers. */
function inShort({ id, source, status, routed, method, path, payloadSize, receivedAt, ...counts }: Event) {
  const { deliveriesCount: all, deliveriesSucceeded: delivered, deliveriesFailed: failed } = counts;
  return { id, source, status, routed, method, path, payloadSize, deliveries: { all, delivered, failed }, receivedAt };
}

export const getEvent = tool({
  name: 'get_event',
  title: 'Show an event',
  description:
    'Shows a received webhook: its headers (secrets masked) and what became of it at each destination. The payload only with includePayload, ' +
    'for which the key needs the scope payloads:read.',
  effect: 'reads',
  input: z.strictObject({
    event: inputs.event,
    includePayload: z.boolean().default(false),
    payloadBytes: inputs.payloadBytes,
  }),
  output: z.looseObject({
    event: record('The event with its headers and deliveries'),
    payload: z
      .looseObject({})
      .nullable()
      .describe('text or base64, size, isCut; null when it was not asked for, or is gone')
      .optional(),
  }),
  more: 'list_deliveries with the event lists its deliveries part by part; a smaller payloadBytes leaves room.',
  async run({ client }, { event: id, includePayload, payloadBytes }) {
    const event = await client.getEvent({ id, includeDeliveries: true });
    const deliveries = event.deliveries ?? [];
    const outcomes = deliveries.map(({ id: its, status, destination }) => `${its} to ${destination.name}: ${status}`);
    const payload = includePayload ? await payloadOf(client, id, payloadBytes) : null;
    const isGone = includePayload && payload === null;
    const lines = [
      `${id} came to the source ${event.source.name} at ${event.receivedAt} and is ${event.routed ? event.status : 'not routed: no route took it'}.`,
      ...outcomes.slice(0, 10),
      ...(event.deliveriesNextCursor ? ['It has older deliveries, too: list_deliveries lists all of them.'] : []),
      ...(isGone ? ['Its payload is no longer kept.'] : []),
    ];
    return { summary: lines.join('\n'), data: { event, payload } };
  },
});

/** Null when the retention has removed it. */
async function payloadOf(client: Client, id: string, most: number) {
  try {
    const { bytes } = await client.getEventPayload({ id });
    return shownBytes(bytes, most);
  } catch (error) {
    if (error instanceof HookyardError && error.code === 'PAYLOAD_EXPIRED') return null;
    throw error;
  }
}
