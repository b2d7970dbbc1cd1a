// One webhook as received. Its payload and query are parsed at most once, and only when something asks for them.
import { newId } from '../../core/ids.ts';
import { viewPayload } from '../../core/payload.ts';
import type { GatedRequest } from './gate.ts';

export interface ReceivedParts {
  organizationSlug: string;
  sourceSlug: string;
  /** The unguessable part of the address; null without one. */
  token: string | null;
  method: string;
  /** As in the address, without the question mark. */
  queryText: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer;
  /** Of the sender, behind the operator's proxies. */
  clientAddress: string;
  receivedAt: Date;
}

export class Received implements GatedRequest {
  /**
   * The id of its event: the same one however often the webhook is routed and stored again. When it is unknown whether an attempt
   * to store it succeeded, the primary key decides.
   */
  readonly eventId: string;
  readonly organizationSlug: string;
  readonly sourceSlug: string;
  readonly token: string | null;
  readonly method: string;
  readonly queryText: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  readonly clientAddress: string;
  readonly receivedAt: Date;
  #payload: { payload: unknown } | undefined;
  #query: URLSearchParams | undefined;

  constructor(parts: ReceivedParts) {
    this.organizationSlug = parts.organizationSlug;
    this.sourceSlug = parts.sourceSlug;
    this.token = parts.token;
    this.method = parts.method;
    this.queryText = parts.queryText;
    this.headers = parts.headers;
    this.body = parts.body;
    this.clientAddress = parts.clientAddress;
    this.receivedAt = parts.receivedAt;
    this.eventId = newId('evt', parts.receivedAt.getTime());
  }

  get size(): number {
    return this.body.length;
  }

  payload(): unknown {
    this.#payload ??= viewPayload(this.body);
    return this.#payload.payload;
  }

  query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.queryText);
    return this.#query;
  }
}
