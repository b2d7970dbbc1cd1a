// Fetches the keys that providers publish (core/verification/published), by the sender of deliveries and so through the address guard.
// Webhooks of strangers make it ask, so what they can cause is bounded: keys are kept, a missing one is not asked for again at once,
// sources and organizations have so many questions a minute, and all together so many at a time.
// Rules: PRV-16 to PRV-18.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type ErrorSummary, ownWords } from '../core/error-summary.ts';
import type { Log } from '../core/log.ts';
import { throttled } from '../core/throttled-log.ts';
import { createTurns, TurnsFullError } from '../core/turns.ts';
import {
  type KeyDocument,
  KeysAwayError,
  type KeySet,
  type PublishedKey,
  type PublishedKeys,
} from '../core/verification/published/keys.ts';
import type { Sender, SendRequest } from './http/sender.ts';

const TIMEOUT_MS = 5000;
// A key is asked for again behind the back of webhooks once it is this old, and used until the second age while the provider is away.
const FRESH_MS = 3_600_000;
const KEPT_MS = 24 * FRESH_MS;
// What was not there is not asked for again sooner, and neither is a set of keys for one that it lacks.
const MISSING_MS = 60_000;
// A provider that is away is not asked again sooner.
const AWAY_MS = 5000;
const MAX_DOCUMENTS = 10_000;

const MINUTE_MS = 60_000;
const PER_SOURCE = 10;
const PER_ORGANIZATION = 60;
const AT_A_TIME = 8;
// The last one waits for three others before it.
const MAX_WAITING = 24;

/** For whom is asked. */
export interface Asker {
  organizationId: string;
  sourceId: string;
}

export interface KeyFetcher {
  of(asker: Asker): PublishedKeys;
  /** Visits an address of a provider. @throws KeysAwayError when it was not answered with 2xx */
  visit(url: string, asker: Asker): Promise<void>;
}

interface Fetched {
  keys: KeySet;
  at: number;
}

/**
 * @param options.mirror what is asked instead of the providers: `https://host/path` is `<mirror>/host/path` there
 * @param options.now in ms
 */
export function createPublishedKeys(options: {
  sender: Sender;
  log: Log;
  mirror?: string | undefined;
  now?: () => number;
}): KeyFetcher {
  const { sender, log, mirror, now = () => performance.now() } = options;
  // Apart from each other: what strangers made up must not drive out keys.
  const known = new LRUCache<string, Fetched>({ max: MAX_DOCUMENTS });
  const missing = new LRUCache<string, number>({ max: MAX_DOCUMENTS });
  const away = new LRUCache<string, { at: number; why: string }>({ max: MAX_DOCUMENTS });
  const running = new Map<string, Promise<KeySet>>();
  const spent = new LRUCache<string, { since: number; count: number }>({ max: 2 * MAX_DOCUMENTS });
  const inTurn = createTurns(AT_A_TIME, MAX_WAITING);

  async function key(document: KeyDocument, id: string, asker: Asker): Promise<PublishedKey | null> {
    const name = nameOf(document);
    const found = known.get(name);
    const age = found === undefined ? Number.POSITIVE_INFINITY : now() - found.at;
    const published = found?.keys.get(id);
    if (published !== undefined && age < KEPT_MS) {
      if (age >= FRESH_MS) void ask(name, document, asker).catch(() => undefined);
      return published;
    }
    const isMissing = age < MISSING_MS || now() - (missing.get(name) ?? Number.NEGATIVE_INFINITY) < MISSING_MS;
    if (isMissing) return null;
    return (await ask(name, document, asker)).get(id) ?? null;
  }

  /** Those who need the same document wait for one answer. @throws KeysAwayError */
  function ask(name: string, document: KeyDocument, asker: Asker): Promise<KeySet> {
    const asked = running.get(name);
    if (asked !== undefined) return asked;
    const asking = fetchKeys(name, document, asker).finally(() => running.delete(name));
    running.set(name, asking);
    return asking;
  }

  async function fetchKeys(name: string, document: KeyDocument, asker: Asker): Promise<KeySet> {
    const failed = away.get(name);
    if (failed !== undefined && now() - failed.at < AWAY_MS) throw new KeysAwayError(failed.why);
    if (document.isNamedByWebhook) spend(asker);
    const { url, post } = document;
    const body = post === undefined ? null : Buffer.from(JSON.stringify(post));
    const headers = { Accept: '*/*', ...(body !== null && { 'Content-Type': 'application/json' }) };
    const answer = await send({ method: body === null ? 'GET' : 'POST', url, headers, body });
    const keys = answer.ok ? document.read(answer.text) : isNone(document, answer.status) ? NONE : null;
    if (keys === null) {
      const why = answer.ok ? ownWords`it answered something else` : answer.why;
      throw noteAway(name, url, why);
    }
    away.delete(name);
    if (keys.size === 0) {
      known.delete(name);
      missing.set(name, now());
    } else {
      missing.delete(name);
      known.set(name, { keys, at: now() });
    }
    return keys;
  }

  function noteAway(name: string, url: string, why: ErrorSummary): KeysAwayError {
    const { host } = new URL(url);
    throttled(log).warn({ host, reason: why }, 'the keys of a provider cannot be fetched');
    const error = new KeysAwayError(`The keys of ${host} cannot be fetched: ${why}`);
    away.set(name, { at: now(), why: error.message });
    return error;
  }

  /** @throws KeysAwayError when too many are asking */
  async function send(request: Pick<SendRequest, 'method' | 'url' | 'headers' | 'body'>): Promise<Answer> {
    const { host, pathname, search } = new URL(request.url);
    const url = mirror === undefined ? request.url : `${mirror}/${host}${pathname}${search}`;
    const sending = () => sender.send({ ...request, url, poolKey: `keys of ${host}`, timeoutMs: TIMEOUT_MS });
    const result = await inTurn(sending).catch(refuseWhenFull);
    if (result.kind === 'error') return { ok: false, status: null, why: result.summary };
    const { statusCode: status, bodyForCheck: text } = result;
    const isOk = status >= 200 && status < 300;
    return isOk ? { ok: true, text } : { ok: false, status, why: ownWords`it answered ${status}` };
  }

  /** @throws KeysAwayError when there are no more for this minute */
  function spend({ organizationId, sourceId }: Asker): void {
    const places = [countOf(sourceId, PER_SOURCE), countOf(organizationId, PER_ORGANIZATION)];
    if (places.some(({ isFull }) => isFull))
      throw new KeysAwayError('Too many keys of the provider were asked for in this minute');
    for (const { take } of places) take();
  }

  function countOf(id: string, most: number): { isFull: boolean; take: () => void } {
    const before = spent.get(id);
    const count = before !== undefined && now() - before.since < MINUTE_MS ? before : { since: now(), count: 0 };
    spent.set(id, count);
    return {
      isFull: count.count >= most,
      take: () => {
        count.count += 1;
      },
    };
  }

  return {
    of: (asker) => ({ key: (document, id) => key(document, id, asker) }),
    async visit(url, asker) {
      spend(asker);
      const answer = await send({ method: 'GET', url, headers: { Accept: '*/*' }, body: null });
      if (!answer.ok) throw new KeysAwayError(`The subscription cannot be confirmed: ${answer.why}`);
    },
  };
}

type Answer = { ok: true; text: string } | { ok: false; status: number | null; why: ErrorSummary };

const NONE: KeySet = new Map();

/** Whether an answer says that there is nothing of this name. A fixed address has always something. */
function isNone({ isNamedByWebhook }: KeyDocument, status: number | null): boolean {
  return isNamedByWebhook && status !== null && status >= 400 && status < 500 && status !== 408 && status !== 429;
}

/** What is posted may hold a secret. */
function nameOf({ url, post }: KeyDocument): string {
  return post === undefined ? url : `${url} ${createHash('sha256').update(JSON.stringify(post)).digest('hex')}`;
}

function refuseWhenFull(error: unknown): never {
  if (error instanceof TurnsFullError) throw new KeysAwayError('Too many keys of providers are being asked for');
  throw error;
}
