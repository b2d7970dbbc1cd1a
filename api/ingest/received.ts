// One webhook as received. Its payload and query are parsed at most once, and only when something asks for them.
import { readPayload } from '../../core/forms/index.ts';
import type { GatedRequest } from '../../core/filters/gate.ts';
import { type HeaderBytes, headerTexts } from '../../core/http/header-text.ts';
import { newId } from '../../core/text/ids.ts';
import type { WebhookSpan } from '../../core/process/tracing.ts';

export interface ReceivedParts {
  organizationSlug: string;
  sourceSlug: string;
  /** What follows the source in the address, token and path, with its first slash; empty: nothing. */
  below: string;
  method: string;
  /** As in the address, without the question mark. */
  queryText: string;
  headers: HeaderBytes;
  /** Names and values in turn, as they came. */
  rawHeaders: readonly string[];
  body: Buffer;
  /** Of the sender, behind the operator's proxies. */
  clientAddress: string;
  receivedAt: Date;
}

export class Received implements Omit<GatedRequest, 'path'> {
  /**
   * The id of its event: the same one however often the webhook is routed and stored again. When it is unknown whether an attempt
   * to store it succeeded, the primary key decides.
   */
  readonly eventId: string;
  readonly organizationSlug: string;
  readonly sourceSlug: string;
  readonly below: string;
  readonly method: string;
  readonly queryText: string;
  readonly headerBytes: HeaderBytes;
  readonly #rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly clientAddress: string;
  readonly receivedAt: Date;
  /** From when its sender is known; null: it is not recorded. */
  span: WebhookSpan | null = null;
  /** Kept with its event; null: the trace is the sender's, in the headers. Undefined until its sender is known. */
  traceparent: string | null | undefined;
  #headers: Record<string, string> | undefined;
  #payload: { payload: unknown } | undefined;
  #query: URLSearchParams | undefined;
  readonly #parsed = new Map<unknown, unknown>();

  constructor(parts: ReceivedParts) {
    this.organizationSlug = parts.organizationSlug;
    this.sourceSlug = parts.sourceSlug;
    this.below = parts.below;
    this.method = parts.method;
    this.queryText = parts.queryText;
    this.headerBytes = parts.headers;
    this.#rawHeaders = parts.rawHeaders;
    this.body = parts.body;
    this.clientAddress = parts.clientAddress;
    this.receivedAt = parts.receivedAt;
    this.eventId = newId('evt', parts.receivedAt.getTime());
  }

  /** As text, names in lower case. */
  get headers(): Record<string, string> {
    this.#headers ??= headerTexts(this.headerBytes);
    return this.#headers;
  }

  get size(): number {
    return this.body.length;
  }

  /** Whether its payload has been parsed. */
  get isParsed(): boolean {
    return this.#payload !== undefined;
  }

  payload(): unknown {
    this.#payload ??= { payload: readPayload(this.body, this.headerBytes['content-type']) };
    return this.#payload.payload;
  }

  /** Whether a header came more than once. @param name in lower case */
  isRepeated(name: string): boolean {
    return this.#rawHeaders.filter((its, at) => at % 2 === 0 && its.toLowerCase() === name).length > 1;
  }

  /** What a function makes of the body; it is called once, however often the webhook is verified. */
  parsed<T>(parse: (body: Buffer) => T): T {
    if (!this.#parsed.has(parse)) this.#parsed.set(parse, parse(this.body));
    return this.#parsed.get(parse) as T;
  }

  query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.queryText);
    return this.#query;
  }
}
