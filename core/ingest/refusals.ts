// Refused webhooks of a few seconds, until they are stored together. Strangers cause them, as many as they like, so all
// of it is bounded: sources, counts and samples. What finds no place is counted as such.
import { FairQueue } from '../fairness/fair-queue.ts';
import type { LimitName } from '../fairness/organization-limits.ts';
import { maskHeaders, maskTexts } from '../text/redaction.ts';

// A refused webhook as its organization sees it. The response to the sender may say less (api/ingest/verification.ts).

/** Why. What each means: docs/guide/refused-webhooks.md. */
export const REFUSAL_CAUSES = [
  'signature',
  'token',
  'path',
  'disabled',
  'suspended',
  'too_large',
  'incomplete',
  'too_slow',
  'limit',
  'unavailable',
  'error',
] as const;
export type RefusalCause = (typeof REFUSAL_CAUSES)[number];

export const KEPT_REFUSALS = 100;
/** Of the payload of a refused webhook, in bytes. */
export const KEPT_PAYLOAD_BYTES = 1024;
/** How many days refusals are kept at most; payloads may be kept shorter, and they with them. */
export const REFUSAL_DAYS = 30;

export interface Refusal {
  cause: RefusalCause;
  limit: LimitName | null;
  status: number;
  message: string;
}

export interface RefusalOwner {
  organizationId: string;
  sourceId: string;
}

export interface RefusedWebhook extends Refusal, RefusalOwner {
  id: string;
  at: Date;
  method: string;
  clientAddress: string;
  /** Secrets are masked. */
  headers: Record<string, string>;
  /** Bytes; null when it was neither read nor announced. */
  payloadSize: number | null;
  /** Null when it was refused before the body was read. */
  payloadStart: Buffer | null;
}

export interface RefusalCount extends RefusalOwner, Pick<Refusal, 'cause' | 'limit'> {
  /** ms since 1970 */
  hour: number;
  count: number;
  /** ms since 1970 */
  lastAt: number;
}

const MAX_SOURCES = 1000;
// Hours and causes of one source. More come together only while they cannot be stored for days.
const MAX_COUNTS = 64;
// All together: one process stores no more in one statement, however many are refused.
const MAX_SAMPLES = 100;
const HOUR_MS = 3_600_000;

// How many samples may be held, as a multiple of what is left free: half of them by an organization, a fifth by a
// source.
const SAMPLES_TIMES_FREE = { organization: 1, source: 1 / 4 };

interface OfSource {
  owner: RefusalOwner;
  counts: Map<string, RefusalCount>;
  samples: RefusedWebhook[];
}

export class PendingRefusals {
  readonly #sources = new Map<string, OfSource>();
  readonly #places = new FairQueue(MAX_SOURCES);
  readonly #samples = {
    ofOrganizations: new FairQueue(MAX_SAMPLES, SAMPLES_TIMES_FREE.organization),
    ofSources: new FairQueue(MAX_SAMPLES, SAMPLES_TIMES_FREE.source),
  };
  #uncounted = 0;

  get isEmpty(): boolean {
    return this.#sources.size === 0;
  }

  get counted(): number {
    return this.counts().reduce((sum, { count }) => sum + count, 0);
  }

  /** @param describe gives what is kept of it; called only when there is room for a sample */
  add(
    { organizationId, sourceId }: RefusalOwner,
    { cause, limit }: Refusal,
    atMs: number,
    describe: () => RefusedWebhook,
  ): void {
    const hour = atMs - (atMs % HOUR_MS);
    const ofSource = this.#count({ organizationId, sourceId, cause, limit, hour, count: 1, lastAt: atMs });
    if (ofSource !== null && this.#holdSample(ofSource.owner)) ofSource.samples.push(describe());
  }

  /** Takes over what others hold, as far as there is room. @param only of these sources; by default all */
  absorb(others: PendingRefusals, only?: ReadonlySet<string>): void {
    for (const [sourceId, { owner, counts, samples }] of others.#sources) {
      if (only?.has(sourceId) === false) continue;
      for (const count of counts.values()) this.#count(count);
      for (const sample of samples) {
        if (this.#sources.has(sourceId) && this.#holdSample(owner)) this.#sources.get(sourceId)?.samples.push(sample);
      }
    }
    this.#uncounted += others.takeUncounted();
  }

  /** How many found no place since the last call. */
  takeUncounted(): number {
    const uncounted = this.#uncounted;
    this.#uncounted = 0;
    return uncounted;
  }

  counts(): RefusalCount[] {
    return Array.from(this.#sources.values(), ({ counts }) => [...counts.values()]).flat();
  }

  samples(): RefusedWebhook[] {
    return Array.from(this.#sources.values(), ({ samples }) => samples).flat();
  }

  #count(added: RefusalCount): OfSource | null {
    const ofSource = this.#sources.get(added.sourceId) ?? this.#enter(added);
    const key = `${added.hour} ${added.cause} ${added.limit}`;
    const known = ofSource?.counts.get(key);
    if (known !== undefined) {
      known.count += added.count;
      known.lastAt = Math.max(known.lastAt, added.lastAt);
    } else if (ofSource !== null && ofSource.counts.size < MAX_COUNTS) ofSource.counts.set(key, { ...added });
    else {
      this.#uncounted += added.count;
      return null;
    }
    return ofSource;
  }

  #enter({ organizationId, sourceId }: RefusalOwner): OfSource | null {
    if (!this.#places.hold(organizationId)) return null;
    const ofSource: OfSource = { owner: { organizationId, sourceId }, counts: new Map(), samples: [] };
    this.#sources.set(sourceId, ofSource);
    return ofSource;
  }

  #holdSample({ organizationId, sourceId }: RefusalOwner): boolean {
    const { ofOrganizations, ofSources } = this.#samples;
    if (!ofSources.hold(sourceId)) return false;
    if (ofOrganizations.hold(organizationId)) return true;
    ofSources.release(sourceId);
    return false;
  }
}

// The headers of a refused webhook, as they are kept: nobody has proved who sent them, so they may hold anything, of
// any size.

const MAX_HEADERS = 64;
const MAX_NAME = 256;
const MAX_VALUE = 512;
const MAX_TOTAL = 4096;
const CUT = '…';

interface Hidden {
  /** Names of headers, in lower case, whose values are masked besides those that look secret. */
  names: readonly string[];
  /** Texts that are masked wherever they are: a proxy may have copied the address with its token into a header. */
  texts: readonly string[];
}

/** The first headers, with secrets masked and long values cut. What goes beyond the bounds is left out. */
export function shownHeaders(received: Readonly<Record<string, string>>, hidden: Hidden): Record<string, string> {
  const first = Object.entries(received).slice(0, MAX_HEADERS);
  const masked = maskHeaders(Object.fromEntries(first), hidden.names);
  const shown = Object.create(null) as Record<string, string>;
  let total = 0;
  for (const [name, value] of Object.entries(masked)) {
    // Masked before it is cut, so that no part of a secret is left.
    const text = cut(maskTexts(value, hidden.texts));
    const size = name.length + text.length;
    if (name.length > MAX_NAME || total + size > MAX_TOTAL) continue;
    total += size;
    shown[name] = text;
  }
  return shown;
}

const cut = (text: string): string => (text.length > MAX_VALUE ? text.slice(0, MAX_VALUE) + CUT : text);
