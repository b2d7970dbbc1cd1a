// The load and the receiver, in one process so that send and arrival are read from one clock.
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { percentiles } from './measure.ts';
import { until } from '../../test/support/until.ts';

const SENDERS = 32;
const ANSWER_DEADLINE_MS = 30_000;
// Until the next event that is waited for arrives: a backlog may take long, but it moves.
const NEXT_ARRIVAL_DEADLINE_MS = 60_000;

export interface Receiver {
  url: string;
  /** Deliveries taken so far. */
  received(): number;
  /** When each event was first taken, `performance.now()` ms. */
  arrivals: Map<string, number>;
  /** Called for each delivery that is taken. */
  onArrival: () => void;
  /** Decides the status of an answer; a delivery is taken when it is 200. */
  answer: (request: IncomingMessage) => number;
  /** How long an answer is held back, ms. */
  holdMs: (request: IncomingMessage) => number;
  close(): Promise<void>;
}

/** A destination that answers at once, by default with 200, and records when each event arrived. */
export async function startReceiver(): Promise<Receiver> {
  let count = 0;
  const arrivals = new Map<string, number>();
  const server = createServer((request, response) => {
    const reply = () => {
      const status = receiver.answer(request);
      response.writeHead(status).end('ok');
      if (status !== 200) return;
      count += 1;
      const id = request.headers['x-hookyard-event-id'];
      if (typeof id === 'string' && !arrivals.has(id)) arrivals.set(id, performance.now());
      receiver.onArrival();
    };
    request.resume().on('end', () => {
      const holdMs = receiver.holdMs(request);
      if (holdMs > 0) setTimeout(reply, holdMs);
      else reply();
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: () => count,
    arrivals,
    onArrival: () => {},
    answer: () => 200,
    holdMs: () => 0,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return receiver;
}

export interface Sent {
  eventId: string;
  sentAt: number;
  /** From the request to its answer, ms. */
  ack: number;
}

/** An answer of any status; `eventId` is empty when it is not 200. */
export interface Answered extends Sent {
  status: number;
}

/** Posts webhooks signed like GitHub's; with several addresses of one service, to each in turn. */
export function createSender(webhookUrls: string | string[], secret: string, body: string) {
  const targets = [webhookUrls].flat().map((url) => new URL(url));
  let turn = 0;
  const pool = new Pool(targets[0]?.origin ?? '', { connections: 64, headersTimeout: ANSWER_DEADLINE_MS });
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  async function post(): Promise<Answered> {
    const target = targets[turn++ % targets.length];
    const sentAt = performance.now();
    const { statusCode: status, body: answer } = await pool.request({
      method: 'POST',
      path: target === undefined ? '' : target.pathname + target.search,
      headers: { 'content-type': 'application/json', 'x-github-event': 'push', 'x-hub-signature-256': signature },
      body,
    });
    const { eventId = '' } = (await answer.json()) as { eventId?: string };
    return { eventId, sentAt, ack: performance.now() - sentAt, status };
  }
  return {
    post,
    /** @throws when the answer is not 200 */
    async send(): Promise<Sent> {
      const answered = await post();
      if (answered.status !== 200) throw new Error(`ingest returned ${answered.status}`);
      return answered;
    },
    close: () => pool.close(),
  };
}

/**
 * Saturates: keeps at most `outstanding` webhooks sent and not yet delivered, so that the backlog stays bounded and
 * what is measured is the slowest part, the delivery.
 * @param options.perWebhook deliveries of one webhook
 * @param options.read called when the warm-up is over and at the end; what it returned is handed back
 * @returns deliveries after the warm-up, in all and per second
 */
export async function saturate<T>(
  send: () => Promise<unknown>,
  receiver: Receiver,
  options: {
    outstanding: number;
    perWebhook?: number;
    warmUpSeconds: number;
    seconds: number;
    read: () => Promise<T>;
  },
): Promise<{ perSecond: number; deliveries: number; seconds: number; before: T; after: T }> {
  const from = performance.now() + options.warmUpSeconds * 1000;
  const until = from + options.seconds * 1000;
  const end = endOf(until);
  const waiting: (() => void)[] = [];
  const { perWebhook = 1 } = options;
  let arrivals = 0;
  receiver.onArrival = () => {
    arrivals += 1;
    if (arrivals % perWebhook === 0) waiting.shift()?.();
  };
  const loop = async (): Promise<void> => {
    while (performance.now() < until) {
      const arrived = new Promise<void>((resolve) => waiting.push(resolve));
      await send();
      await Promise.race([arrived, end]);
    }
  };
  const loops = Promise.all(Array.from({ length: options.outstanding }, loop));
  const measured = (async () => {
    await endOf(from);
    const before = await options.read();
    const received = receiver.received();
    const startedAt = performance.now();
    await end;
    const deliveries = receiver.received() - received;
    const seconds = (performance.now() - startedAt) / 1000;
    return { perSecond: deliveries / seconds, deliveries, seconds, before, after: await options.read() };
  })();
  // A loop that fails is heard of at once, not at the end.
  const [result] = await Promise.all([measured, loops]);
  return result;
}

/** Sends so many as quickly as they are answered, some at a time. */
export async function sendMany(send: () => Promise<unknown>, count: number): Promise<void> {
  let left = count;
  const loop = async () => {
    for (; left > 0; await send()) left -= 1;
  };
  await Promise.all(Array.from({ length: SENDERS }, loop));
}

/** Sends at a constant rate, whatever the answers' speed (open loop), and resolves with every answer. */
export async function sendAtRate<T>(send: () => Promise<T>, perSecond: number, seconds: number): Promise<T[]> {
  const answers: Promise<T>[] = [];
  const startedAt = performance.now();
  for (let number = 0; number < perSecond * seconds; number += 1) {
    await endOf(startedAt + (number * 1000) / perSecond);
    const answer = send();
    // It is waited for below: until then an error must not end the process, whose servers would be left behind.
    answer.catch(() => undefined);
    answers.push(answer);
  }
  return Promise.all(answers);
}

/** ms */
export type Percentiles = { p50: number; p95: number; p99: number };

/**
 * Sends at a constant rate and waits until all of it has arrived.
 * @returns from the request to its answer, and from the request to its arrival at the receiver
 * @throws when an acknowledged event does not arrive
 */
export async function measureLatency(
  send: () => Promise<Sent>,
  receiver: Receiver,
  perSecond: number,
  seconds: number,
): Promise<{ ack: Percentiles; endToEnd: Percentiles }> {
  const sent = await sendAtRate(send, perSecond, seconds);
  await allArrived(
    receiver,
    sent.map((event) => event.eventId),
  );
  return {
    ack: percentiles(sent.map((event) => event.ack)),
    endToEnd: percentiles(sent.map((event) => (receiver.arrivals.get(event.eventId) ?? Number.NaN) - event.sentAt)),
  };
}

/** Waits until every one of these events has arrived. @throws Error when they stop arriving before */
export async function allArrived(receiver: Receiver, eventIds: string[]): Promise<void> {
  for (let missing = eventIds; missing.length > 0; ) {
    const { length } = missing;
    const fewer = () => {
      missing = missing.filter((eventId) => !receiver.arrivals.has(eventId));
      return missing.length < length;
    };
    await until(`the next of ${length} acknowledged events`, fewer, NEXT_ARRIVAL_DEADLINE_MS);
  }
}

function endOf(at: number): Promise<void> {
  const rest = at - performance.now();
  return rest <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, rest));
}
