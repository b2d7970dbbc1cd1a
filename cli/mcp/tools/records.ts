// One record of what happened, with all that the API tells of it: a delivery, an event, a replay.
import { z } from 'zod';
import {
  type Attempt,
  type Client,
  type DeliveryRequest,
  type DeliveryWithAttempts,
  type EventReplay,
  HookyardError,
} from '../../../client/index.ts';
import { plural } from '../../../core/text/words.ts';
import { cell } from '../../output.ts';
import { shortText, shownBytes, shownText, tool, inputs } from '../tool.ts';

const MOST_ANSWERED = 2048;

export const getDelivery = tool({
  name: 'get_delivery',
  title: 'Show a delivery',
  description:
    'Shows a delivery: each attempt with its time, status code, error and response, and the request as it was sent ' +
    'or will be sent (secrets masked). The request body is included only with includeBody, which requires the payloads:read scope.',
  input: z.strictObject({
    delivery: z.string().min(1).max(100).describe('Delivery ID (dlv_...)'),
    attempt: z
      .int()
      .min(1)
      .describe('Number of the attempt whose request is shown (default: the latest attempt, or 1 if there is none)')
      .optional(),
    includeBody: z.boolean().default(false),
    payloadBytes: inputs.payloadBytes,
  }),
  more: 'Pass a smaller payloadBytes, or run npx hookyard deliveries show (attempts) or deliveries request (request).',
  async run({ client }, { delivery: id, attempt, includeBody, payloadBytes }) {
    const found = await client.getDelivery({ id });
    const { attempts, ...delivery } = found;
    const sent = await client.getDeliveryRequest({ id, attempt, includeBody });
    const request = withShortBody(sent, payloadBytes);
    return { summary: summaryOf(found), data: { delivery, attempts: attempts.map(withShortAnswer), request } };
  },
});

const withShortAnswer = (attempt: Attempt) => ({
  ...attempt,
  responseBody: attempt.responseBody && shortText(attempt.responseBody, MOST_ANSWERED),
});

function withShortBody({ request, ...sent }: DeliveryRequest, most: number) {
  if (request === null) return { ...sent, request };
  const { body, bodyEncoding, ...head } = request;
  if (body === undefined) return { ...sent, request: head };
  return { ...sent, request: { ...head, body: shownText(body, bodyEncoding, head.bodySize, most) } };
}

function summaryOf({ id, status, destination, attemptCount, nextAttemptAt, ...its }: DeliveryWithAttempts): string {
  const { error, holdReason, attempts } = its;
  const next = nextAttemptAt === null ? '' : ` The next attempt is at ${nextAttemptAt}.`;
  const why = status === 'delivered' ? null : (error ?? holdReason);
  const answered = attempts.at(-1)?.responseBody;
  const lines = [
    `${id} to ${destination.name}: ${status} after ${plural(attemptCount, 'attempt')}${why === null ? '' : ` (${why})`}.${next}`,
    ...(answered && why !== null ? [`The destination returned: ${shortText(answered, 300)}`] : []),
  ];
  return lines.map(cell).join('\n');
}

export const getEvent = tool({
  name: 'get_event',
  title: 'Show an event',
  description:
    'Shows a received webhook: its headers (without a token that the source verifies) and its deliveries. The payload is included only with ' +
    'includePayload, which requires the payloads:read scope, and is null if it is no longer stored.',
  input: z.strictObject({
    event: inputs.event,
    includePayload: z.boolean().default(false),
    payloadBytes: inputs.payloadBytes,
  }),
  more: "Pass a smaller payloadBytes, or page through the event's deliveries with list_deliveries.",
  async run({ client }, { event: id, includePayload, payloadBytes }) {
    const event = await client.getEvent({ id, includeDeliveries: true });
    const deliveries = event.deliveries ?? [];
    const outcomes = deliveries.map(({ id: its, status, destination }) => `${its} to ${destination.name}: ${status}`);
    const payload = includePayload ? await payloadOf(client, id, payloadBytes) : null;
    const isGone = includePayload && payload === null;
    const lines = [
      `${id} was received by the source ${event.source.name} at ${event.receivedAt}; ${event.routed ? `its status is ${event.status}` : 'no route matched'}.`,
      ...outcomes.slice(0, 10),
      ...(event.deliveriesNextCursor
        ? ['The event has older deliveries. Use list_deliveries to see all of them.']
        : []),
      ...(isGone ? ['The payload was removed by the retention policy.'] : []),
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

const replayId = z.string().min(1).max(100).describe('Replay ID (rpl_...)');

const progressOf = ({ id, status, eventsReplayed, eventsTotal, error }: EventReplay) =>
  `${id} is ${status}: ${eventsReplayed} of ${eventsTotal === null ? 'an unknown number of events' : plural(eventsTotal, 'event')} replayed${error === null ? '' : ` (${error})`}`;

export const getReplay = tool({
  name: 'get_replay',
  title: "Show a replay's progress",
  description: 'Shows the progress of an event replay. Without an ID, it lists the latest replays.',
  input: z.strictObject({ replay: replayId.optional() }),
  more: 'Pass a replay ID.',
  async run({ client }, { replay }) {
    const replays =
      replay === undefined
        ? (await client.listEventReplays({ pageSize: 20 })).data
        : [await client.getEventReplay({ id: replay })];
    return { summary: replays.map(progressOf).join('\n') || 'No replays.', data: { replays } };
  },
});

export const cancelReplay = tool({
  name: 'cancel_replay',
  title: 'Cancel a replay',
  description: 'Cancels an unfinished event replay. Events already replayed are not affected.',
  effect: 'destroys',
  input: z.strictObject({ replay: replayId }),
  more: 'Use get_replay to see the replay.',
  async run({ client }, { replay: id }) {
    const replay = await client.cancelEventReplay({ id });
    return { summary: progressOf(replay), data: { replay } };
  },
});
