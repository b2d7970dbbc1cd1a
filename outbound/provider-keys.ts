// The keys that providers publish (core/verification/published-keys.ts). Webhooks of strangers make this process ask
// for them, so what they can cause is bounded: keys are kept, what a provider has not is not asked for again at once,
// sources and organizations have so many questions a minute, and each organization waits for its own questions only.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type ErrorSummary, ownWords } from '../core/text/error-summary.ts';
import type { Sender } from './http/sender.ts';
import { type Log, throttled } from '../core/process/log.ts';
import { limitConcurrency, type Limiter, QueueFullError } from '../core/fairness/concurrency.ts';
import {
  type KeyDocument,
  KeysAwayError,
  type KeySet,
  type PublishedKey,
  type PublishedKeys,
} from '../core/verification/published-keys.ts';

// Once they are this old, keys are asked for again while webhooks are verified by them, and used until the second age
// when that fails.
const FRESH_MS = 3_600_000;
const KEPT_MS = 24 * FRESH_MS;
// What a set of keys lacks that is no older than this, the provider has not. It bounds how often the set is asked for.
const SETTLED_MS = 1000;
// A document that was not there is not asked for again sooner.
const MISSING_MS = 60_000;
// A provider that is away is not asked again sooner (Retry-After: api/ingest/verification.ts).
const AWAY_MS = 5000;
const MAX_DOCUMENTS = 10_000;

// Of one organization. The last one waits for four others before it.
const AT_A_TIME = 4;
const MAX_WAITING = 16;
const MAX_ORGANIZATIONS = 10_000;

interface Asker {
  organizationId: string;
  sourceId: string;
}

interface AskOptions {
  sender: Sender;
  /** What is asked instead of the providers: `https://host/path` is `<mirror>/host/path` there. */
  mirror?: string | undefined;
  timeoutMs?: number | undefined;
}

export type ProviderKeys = ReturnType<typeof createProviderKeys>;

/** @param options.now in ms */
export function createProviderKeys(options: AskOptions & { log: Log; now?: () => number }) {
  const { log, now = () => performance.now() } = options;
  const clock = { ttlResolution: 0, perf: { now } };
  const spend = createBudget(clock);
  // Apart from each other: names that strangers made up must not drive out keys.
  const known = new LRUCache<string, { keys: KeySet; at: number }>({ max: MAX_DOCUMENTS });
  const missing = new LRUCache<string, true>({ ...clock, max: MAX_DOCUMENTS, ttl: MISSING_MS });
  const away = new LRUCache<string, KeysAwayError>({ ...clock, max: MAX_DOCUMENTS, ttl: AWAY_MS });
  const underWay = new Map<string, Promise<KeySet>>();
  const turns = new LRUCache<string, Limiter>({ max: MAX_ORGANIZATIONS });

  /** Undefined: the provider has to be asked. */
  function keptKey(name: string, id: string): PublishedKey | null | undefined {
    const found = known.get(name);
    if (found === undefined) return missing.has(name) ? null : undefined;
    const age = now() - found.at;
    const key = found.keys.get(id);
    if (key === undefined) return age < SETTLED_MS ? null : undefined;
    return age < KEPT_MS ? key : undefined;
  }

  async function key(document: KeyDocument, id: string, asker: Asker): Promise<PublishedKey | null> {
    const name = nameOf(document);
    const kept = keptKey(name, id);
    if (kept !== undefined) {
      const isStale = kept !== null && now() - (known.get(name)?.at ?? 0) >= FRESH_MS;
      if (isStale) void fetched(name, document, asker, false).catch(() => undefined);
      return kept;
    }
    return fairnessOf(asker, async () => {
      const meanwhile = keptKey(name, id);
      if (meanwhile !== undefined) return meanwhile;
      // What strangers name is charged, and not what every webhook of the provider needs.
      const isNamed = document.isNamedByWebhook || known.get(name)?.keys.has(id) === false;
      return (await fetched(name, document, asker, isNamed)).get(id) ?? null;
    });
  }

  /** Those who need the same document wait for one answer. @throws KeysAwayError */
  async function fetched(name: string, document: KeyDocument, asker: Asker, isCharged: boolean): Promise<KeySet> {
    const failed = away.get(name);
    if (failed !== undefined) throw failed;
    const running = underWay.get(name);
    if (running !== undefined) return running;
    if (isCharged) spend(asker);
    const begun = fetchKeys(name, document, asker).finally(() => underWay.delete(name));
    underWay.set(name, begun);
    return begun;
  }

  async function fetchKeys(name: string, document: KeyDocument, { organizationId }: Asker): Promise<KeySet> {
    const answer = await ask({ ...document, organizationId }, options);
    const keys = keysOf(document, answer);
    if (keys === null) throw noteAway(name, document.url, answer.isOk ? NO_DOCUMENT : answer);
    away.delete(name);
    if (keys.size > 0) {
      missing.delete(name);
      known.set(name, { keys, at: now() });
    } else {
      known.delete(name);
      missing.set(name, true);
    }
    return keys;
  }

  function noteAway(name: string, url: string, { why, said }: { why: ErrorSummary; said: string }): KeysAwayError {
    const { host } = new URL(url);
    throttled(log).warn({ host, reason: why }, "failed to fetch a sender's keys", host);
    const error = new KeysAwayError(`The sender's keys could not be fetched from ${host}: ${said}`);
    away.set(name, error);
    return error;
  }

  /** @throws KeysAwayError when too many of the organization are waiting */
  async function fairnessOf<T>({ organizationId }: Asker, run: () => Promise<T>): Promise<T> {
    const inTurn = turns.get(organizationId) ?? limitConcurrency(AT_A_TIME, MAX_WAITING);
    turns.set(organizationId, inTurn);
    try {
      return await inTurn(run);
    } catch (error) {
      if (error instanceof QueueFullError)
        throw new KeysAwayError('Too many webhooks are waiting for responses from senders');
      throw error;
    }
  }

  return {
    of: (asker: Asker): PublishedKeys => ({ key: (document, id) => key(document, id, asker) }),
    /** Visits an address of a provider. @throws KeysAwayError when it was not answered with 2xx */
    async visit(url: string, asker: Asker): Promise<void> {
      const answer = await fairnessOf(asker, async () => {
        spend(asker);
        return ask({ organizationId: asker.organizationId, url }, options);
      });
      if (!answer.isOk) throw new KeysAwayError(`The subscription could not be confirmed: ${answer.said}`);
    },
  };
}

const NO_DOCUMENT = { why: ownWords`unexpected response`, said: 'unexpected response' };
const NONE: KeySet = new Map();

/** Null: the provider is away. */
function keysOf(document: KeyDocument, answer: Answer): KeySet | null {
  const keys = answer.isOk ? document.read(answer.text) : null;
  if (answer.isOk) return keys?.size === 0 && !document.isNamedByWebhook ? null : keys;
  return answer.status !== null && document.isNone(answer.status, answer.text) ? NONE : null;
}

/** What is posted may hold a secret. */
function nameOf({ url, post }: KeyDocument): string {
  return post === undefined ? url : `${url} ${createHash('sha256').update(JSON.stringify(post)).digest('hex')}`;
}

// How much the webhooks of strangers may make this process ask providers: so many questions a minute for a source, and
// for an organization.
const MINUTE_MS = 60_000;
const PER_SOURCE = 10;
const PER_ORGANIZATION = 60;
const MAX_COUNTS = 20_000;

function createBudget(
  clock: Pick<LRUCache.Options<string, object, unknown>, 'ttlResolution' | 'perf'>,
): (asker: Asker) => void {
  const counts = new LRUCache<string, { count: number }>({ ...clock, max: MAX_COUNTS, ttl: MINUTE_MS });

  function countOf(id: string): { count: number } {
    const count = counts.get(id) ?? { count: 0 };
    if (count.count === 0) counts.set(id, count);
    return count;
  }

  /** @throws KeysAwayError when there are no more for this minute */
  return ({ organizationId, sourceId }) => {
    const [ofSource, ofOrganization] = [countOf(sourceId), countOf(organizationId)];
    if (ofSource.count >= PER_SOURCE || ofOrganization.count >= PER_ORGANIZATION)
      throw new KeysAwayError('Too many requests to senders were made in one minute');
    ofSource.count += 1;
    ofOrganization.count += 1;
  };
}

// One question to a provider goes by the sender of deliveries, and so through the address guard: one deadline, no
// redirects, a bounded answer.
const TIMEOUT_MS = 5000;
// The largest set of keys of a provider has some ten thousand bytes.
const MAX_BYTES = 256 * 1024;

interface Question {
  organizationId: string;
  url: string;
  post?: object;
}

/** `status` is null when there was no answer. `why` is for the log, `said` for strangers. */
type Answer =
  | { isOk: true; text: string }
  | { isOk: false; status: number | null; text: string; why: ErrorSummary; said: string };

async function ask({ organizationId, url, post }: Question, options: AskOptions): Promise<Answer> {
  const { sender, mirror, timeoutMs = TIMEOUT_MS } = options;
  const { host, pathname, search } = new URL(url);
  const body = post === undefined ? null : Buffer.from(JSON.stringify(post));
  const result = await sender.send({
    method: body === null ? 'GET' : 'POST',
    url: mirror === undefined ? url : `${mirror}/${host}${pathname}${search}`,
    headers: { Accept: '*/*', ...(body !== null && { 'Content-Type': 'application/json' }) },
    ...{ body, timeoutMs, organizationId, poolKey: `keys of ${host}`, keptBytes: MAX_BYTES },
  });
  // What the guard refuses may name addresses of the operator.
  if (result.kind === 'error') return { isOk: false, status: null, text: '', why: result.summary, said: 'no response' };
  const { statusCode: status, bodyText: text, truncated } = result;
  const refused = (why: ErrorSummary): Answer => ({ isOk: false, status, text, why, said: why });
  if (status < 200 || status >= 300) return refused(ownWords`HTTP ${status} response`);
  return truncated ? refused(ownWords`response of more than ${MAX_BYTES} bytes`) : { isOk: true, text };
}
