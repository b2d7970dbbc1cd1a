// The load: webhooks at a steady rate, from a sender that behaves like a real one. It repeats what is not acknowledged,
// at the other API, until it is.
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Ledger, Webhook } from './ledger.ts';
import type { Pipe } from './pipes.ts';
import { chanceOf } from './random.ts';

// Like the senders of the large providers: an answer within seconds, or the webhook is sent again.
const ANSWER_DEADLINE_MS = 5000;
const CONNECT_DEADLINE_MS = 2000;
const FIRST_REPEAT_MS = 200;
const LONGEST_REPEAT_MS = 2000;
/** Webhooks that are not acknowledged yet; while there are so many, no new ones are made. */
const MOST_OPEN = 300;
const WANTED_SHARE = 0.5;

export interface LoadOptions {
  /** Where the APIs listen. */
  urls: string[];
  pipes: Pipe[];
  ledger: Ledger;
  /** Webhooks in a second. */
  rate: number;
  seed: number;
  /** Ordering keys of a route. */
  keys: number;
}

export type Load = ReturnType<typeof startLoad>;

export function startLoad({ urls, pipes, ledger, rate, seed, keys }: LoadOptions) {
  const agent = new Agent({
    connections: 32,
    connectTimeout: CONNECT_DEADLINE_MS,
    headersTimeout: ANSWER_DEADLINE_MS,
    bodyTimeout: ANSWER_DEADLINE_MS,
  });
  const open = new Set<Promise<void>>();
  const closing = new AbortController();

  function next(): void {
    const pipe = pipes[ledger.webhooks.length % pipes.length];
    if (pipe && open.size < MOST_OPEN) post(pipe);
  }

  function post(pipe: Pipe): void {
    const webhook = newWebhook(ledger.webhooks.length, pipe, { seed, keys });
    ledger.webhooks.push(webhook);
    const sent = send(webhook).finally(() => open.delete(sent));
    open.add(sent);
  }

  async function send(webhook: Webhook): Promise<void> {
    for (let tries = 0; !closing.signal.aborted; tries += 1) {
      const waitMs = await attempt(webhook, urls[(webhook.number + tries) % urls.length] ?? '');
      if (waitMs === null) return;
      const backoff = Math.min(LONGEST_REPEAT_MS, FIRST_REPEAT_MS * 2 ** tries);
      const jitter = 0.5 + chanceOf(webhook.number, tries);
      await pause(Math.max(waitMs, backoff * jitter), undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  /** @returns null when it was acknowledged, else how long the answer asks to wait, ms */
  async function attempt(webhook: Webhook, url: string): Promise<number | null> {
    try {
      const answer = await request(url + webhook.pipe.path, {
        method: 'POST',
        dispatcher: agent,
        signal: closing.signal,
        headers: { 'content-type': 'application/json', 'x-webhook-id': webhook.idempotencyKey },
        body: webhook.body,
      });
      const text = await answer.body.text();
      if (answer.statusCode === 200) {
        ledger.acknowledge(webhook, (JSON.parse(text) as { eventId: string }).eventId);
        return null;
      }
      ledger.refuse(String(answer.statusCode));
      return Number(answer.headers['retry-after'] ?? 0) * 1000;
    } catch {
      if (!closing.signal.aborted) ledger.refuse('broken');
      return 0;
    }
  }

  const timer = setInterval(next, 1000 / rate);
  return {
    /** Sends one more webhook to a route. */
    knock: post,
    /** Sends nothing new by itself. @returns when everything is acknowledged, or after `deadlineMs` */
    async finish(deadlineMs: number) {
      clearInterval(timer);
      const late = new AbortController();
      const deadline = pause(deadlineMs, undefined, { signal: late.signal }).catch(() => {});
      await Promise.race([Promise.all(open), deadline]);
      late.abort();
    },
    /** Gives up everything. */
    async close() {
      clearInterval(timer);
      closing.abort();
      await Promise.all(open);
      await agent.destroy();
    },
  };
}

function newWebhook(number: number, pipe: Pipe, { seed, keys }: Pick<LoadOptions, 'seed' | 'keys'>): Webhook {
  const key = `key ${Math.floor(chanceOf(seed, number, -2) * keys)}`;
  const wanted = pipe.kind !== 'filtered' || chanceOf(seed, number, -1) < WANTED_SHARE;
  return {
    number,
    pipe,
    // A few hundred bytes, none like another.
    body: JSON.stringify({ number, wanted, key, text: `${number} `.repeat(40) }),
    idempotencyKey: `torture-${number}`,
    wanted,
    sentAt: performance.now(),
    key,
    acknowledgedAt: null,
    eventId: null,
  };
}
