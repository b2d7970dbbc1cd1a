// What ingest tells of issues: refused webhooks, and those that were accepted. In memory only; what is said once in a
// second is not said again for each webhook.
import { type IssueSink, issueSubjects } from '../../core/messages/issues.ts';
import type { Refusal, RefusalCause } from '../../core/ingest/refusal.ts';
import type { NewEvent } from '../../db/hot-path/store-events.ts';
import type { SourceRouting } from './routing.ts';

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
