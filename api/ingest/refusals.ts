// Tells an organization of the webhooks that were refused: all are counted, and a sample is kept
// (docs/guide/refused-webhooks.md). A refusal costs memory only, and not much; every few seconds what has come together
// is stored in one statement.
import { setImmediate as turn } from 'node:timers/promises';
import { headerTexts } from '../../core/http/headers.ts';
import {
  type Refusal,
  type RefusalCause,
  PendingRefusals,
  shownHeaders,
  KEPT_PAYLOAD_BYTES,
  type RefusedWebhook,
} from '../../core/ingest/refusals.ts';
import { type IssueSink, issueSubjects } from '../../core/messages/issues.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import type { Log } from '../../core/process/log.ts';
import { every, type PollLoop } from '../../core/process/poll-loop.ts';
import { newId } from '../../core/text/ids.ts';
import { secretHeaders } from '../../core/verification/index.ts';
import { isConnectionLost, isTransientDatabaseError } from '../../db/connections/database-errors.ts';
import type { Queryable } from '../../db/connections/pool.ts';
import { recordRefusals } from '../../db/history/refusals.ts';
import type { NewEvent } from '../../db/hot-path/store-events.ts';
import { asApiError } from '../request/errors.ts';
import type { Received } from './received.ts';
import type { SourceRouting } from './routing.ts';

// What ingest tells of issues: refused webhooks, and those that were accepted. In memory only; what is said once in a
// second is not said again for each webhook.

type Counted = IssueSink & { readonly window: object };
type Source = Pick<SourceRouting, 'organizationId' | 'sourceId'>;

// The causes of issues (docs/guide/issues-and-alerts.md).
const SIGNATURE_CAUSES: Partial<Record<RefusalCause, string>> = {
  signature: 'INVALID_SIGNATURE',
  token: 'INVALID_TOKEN',
};

export class IngestIssues {
  readonly #counted: Counted;
  #window: object | undefined;
  #working = new Set<string>();

  constructor(counted: Counted) {
    this.#counted = counted;
  }

  /** @param atMs ms since 1970 */
  refused({ organizationId, sourceId }: Source, { cause, limit }: Refusal, atMs: number): void {
    this.#working.delete(sourceId);
    const signature = SIGNATURE_CAUSES[cause];
    if (signature !== undefined) {
      this.#counted.failed(issueSubjects.signature(organizationId, sourceId), { cause: signature, at: atMs });
    } else if (limit !== null) {
      // One large webhook of a stranger is no trouble; what uses up another limit was accepted before.
      const isFinal = limit !== 'payloadBytes';
      this.#counted.failed(issueSubjects.quota(organizationId), { cause: limit, at: atMs, isFinal });
    } else {
      // Anybody who knows the address can cause these: none opens an issue alone.
      this.#counted.failed(issueSubjects.ingest(organizationId, sourceId), { cause: cause.toUpperCase(), at: atMs });
    }
  }

  /** @param event null: it was stored before */
  accepted(source: SourceRouting, event: NewEvent | null): void {
    const { organizationId, sourceId } = source;
    const refusing = event === null ? NONE : this.#refusing(event);
    if (this.#window !== this.#counted.window) {
      this.#window = this.#counted.window;
      this.#working.clear();
    }
    if (refusing.size === 0 && this.#working.has(sourceId)) return;
    this.#counted.worked(issueSubjects.signature(organizationId, sourceId));
    this.#counted.worked(issueSubjects.ingest(organizationId, sourceId));
    this.#counted.worked(issueSubjects.quota(organizationId));
    if (event === null) return;
    for (const { id, gate } of source.routes) {
      if (gate?.definition.schema && !refusing.has(id)) this.#counted.worked(issueSubjects.schema(organizationId, id));
    }
    if (refusing.size === 0) this.#working.add(sourceId);
    else this.#working.delete(sourceId);
  }

  /** Tells of the schemas that refuse it. @returns their routes */
  #refusing({ id: eventId, organizationId, receivedAt, deliveries }: NewEvent): ReadonlySet<string> {
    let routes = NONE;
    for (const { id: deliveryId, routeId, status } of deliveries) {
      if (status !== 'schema_failed' || routes.has(routeId)) continue;
      const failure = { cause: 'SCHEMA_MISMATCH', at: receivedAt.getTime(), eventId, deliveryId };
      this.#counted.failed(issueSubjects.schema(organizationId, routeId), failure);
      routes = new Set(routes).add(routeId);
    }
    return routes;
  }
}

const NONE: ReadonlySet<string> = new Set();

const EVERY_MS = 5000;

interface RefusalDeps {
  pool: Queryable;
  issues: Pick<IngestIssues, 'refused'>;
  log: Log;
  everyMs?: number;
}

/** What is known of a webhook when it is refused. */
export type Refused = Pick<
  Received,
  'source' | 'cause' | 'receivedAt' | 'method' | 'clientAddress' | 'headerBytes' | 'body' | 'hasBody' | 'below'
>;

export class Refusals {
  readonly #deps: RefusalDeps;
  readonly #loop: PollLoop;
  #pending = new PendingRefusals();
  #failing = false;

  constructor(deps: RefusalDeps) {
    this.#deps = deps;
    const lost = 'failed to record refused webhooks; their counts and samples are lost';
    this.#loop = every(
      deps.everyMs ?? EVERY_MS,
      () => this.#store(),
      (error) => deps.log.error({ cause: causeOf(error) }, lost),
    );
  }

  /** Notes a webhook that was refused; not one to a source that does not exist: strangers can name any. */
  note(refused: Refused, error: unknown): void {
    const { source } = refused;
    // When it has been answered: how long that takes must not tell a stranger whether there is such a source.
    if (source !== null) setImmediate(() => this.#add(refused, source, error));
  }

  async close(): Promise<void> {
    // Those that were refused before are added by then.
    await turn();
    await this.#loop.stop();
    await this.#store();
    this.#drop(this.#pending.counted + this.#pending.takeUncounted());
  }

  #add(refused: Refused, source: SourceRouting, error: unknown): void {
    try {
      const refusal = refusalOf(error, refused);
      const atMs = refused.receivedAt.getTime();
      this.#pending.add(source, refusal, atMs, () => refusedWebhook(refused, source, refusal));
      this.#deps.issues.refused(source, refusal, atMs);
    } catch (reason) {
      // Fire and forget: an unhandled rejection would end the process.
      this.#deps.log.error({ cause: causeOf(reason) }, 'failed to record a refused webhook');
    }
  }

  // Failure policy: while PostgreSQL is away they are kept for the next time, as far as there is room. What may have
  // been stored is not stored again, and what PostgreSQL refuses would be refused again: they are dropped, and the log
  // says how many.
  async #store(): Promise<void> {
    const taken = this.#pending;
    this.#drop(taken.takeUncounted());
    if (taken.isEmpty) return;
    this.#pending = new PendingRefusals();
    try {
      const locked = await recordRefusals(this.#deps.pool, taken.counts(), taken.samples());
      // The source is being changed, or deleted: then it will be gone the next time.
      if (locked.size > 0) this.#pending.absorb(taken, locked);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#deps.log.warn({ cause: causeOf(error) }, 'failed to record refused webhooks');
      this.#failing = true;
      if (isConnectionLost(error) || !isTransientDatabaseError(error)) this.#drop(taken.counted);
      else this.#keep(taken);
    }
  }

  #keep(taken: PendingRefusals): void {
    const meanwhile = this.#pending;
    this.#pending = new PendingRefusals();
    this.#pending.absorb(taken);
    this.#pending.absorb(meanwhile);
  }

  #drop(count: number): void {
    if (count > 0) this.#deps.log.warn({ count }, 'failed to count some refused webhooks');
  }
}

const BY_CODE: Readonly<Record<string, RefusalCause>> = {
  INVALID_SIGNATURE: 'signature',
  SOURCE_DISABLED: 'disabled',
  ORGANIZATION_SUSPENDED: 'suspended',
  PAYLOAD_TOO_LARGE: 'too_large',
  INCOMPLETE_BODY: 'incomplete',
  REQUEST_TIMEOUT: 'too_slow',
  LIMIT_EXCEEDED: 'limit',
  UNAVAILABLE: 'unavailable',
};

export function refusalOf(error: unknown, { cause }: Pick<Received, 'cause'>): Refusal {
  const { status, code = '', message, limit = null } = asApiError(error);
  return { cause: cause ?? BY_CODE[code] ?? 'error', limit, status, message };
}

/** What is kept of a refused webhook. It holds on to nothing large: of the body, the beginning is copied. */
function refusedWebhook(refused: Refused, source: SourceRouting, refusal: Refusal): RefusedWebhook {
  const { receivedAt, method, clientAddress, headerBytes: headers } = refused;
  const body = refused.hasBody ? refused.body : null;
  return {
    ...refusal,
    id: newId('ref', receivedAt.getTime()),
    organizationId: source.organizationId,
    sourceId: source.sourceId,
    at: receivedAt,
    method,
    clientAddress,
    headers: shownHeaders(headerTexts(headers), { names: signatureHeaders(source), texts: tokensIn(refused, source) }),
    payloadSize: body === null ? announcedSize(headers) : body.length,
    payloadStart: body && Buffer.from(body.subarray(0, KEPT_PAYLOAD_BYTES)),
  };
}

/** The header of a signature may have any name. */
const signatureHeaders = ({ sender }: SourceRouting): string[] =>
  sender === null ? [] : secretHeaders(sender.verification);

// Shorter ones were made up, and could be a part of any text.
const SHORTEST_TOKEN = 16;

function tokensIn({ below }: Refused, { tokens: { current, previous } }: SourceRouting): string[] {
  const [, first = null] = below.split('/');
  const texts = [first, current, previous?.token ?? null];
  return texts.filter((text): text is string => text !== null && text.length >= SHORTEST_TOKEN);
}

function announcedSize(headers: Readonly<Record<string, string>>): number | null {
  const length = headers['content-length'] ?? '';
  return /^\d{1,15}$/.test(length) ? Number(length) : null;
}
