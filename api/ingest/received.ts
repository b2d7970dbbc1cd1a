// One webhook as received: while it comes in, with the address below its source, and with its trace. Its payload and
// query are parsed at most once, and only when something asks for them.
import { readPayload } from '../../core/forms/forms.ts';
import type { GatedRequest } from '../../core/filters/schema-and-filter.ts';
import { type HeaderBytes, headerTexts, receivedHeaders } from '../../core/http/headers.ts';
import { newId } from '../../core/text/ids.ts';
import type { TracedWebhook, Tracing, WebhookSpan } from '../../core/process/tracing.ts';
import type Koa from 'koa';
import type { RefusalCause } from '../../core/ingest/refusals.ts';
import type { ApiState } from '../request/context.ts';
import type { RawRequest } from '../../core/verification/index.ts';
import type { SourceRouting } from './routing.ts';
import { isIngestAddress, readBelow } from '../../core/ingest/ingest-url.ts';
import { newTraceparent, receivedTrace } from '../../core/http/trace-context.ts';
import { asApiError } from '../request/errors.ts';

export interface ReceivedParts extends Pick<Received, Kept> {
  headers: HeaderBytes;
  rawHeaders: readonly string[];
  body?: Buffer;
}

type Kept = 'organizationSlug' | 'sourceSlug' | 'below' | 'method' | 'queryText' | 'clientAddress' | 'receivedAt';

export class Received implements Omit<GatedRequest, 'path'> {
  readonly organizationSlug: string;
  readonly sourceSlug: string;
  readonly below: string;
  readonly method: string;
  /** As in the address, without the question mark. */
  readonly queryText: string;
  readonly headerBytes: HeaderBytes;
  readonly #rawHeaders: readonly string[];
  readonly clientAddress: string;
  readonly receivedAt: Date;
  /** As it was last looked up; null: there is none by this name, or it has not been looked up. */
  source: SourceRouting | null = null;
  /** Why it was refused, where its sender may not be told. */
  cause: RefusalCause | null = null;
  /** From when its sender is known; null: it is not recorded. */
  span: WebhookSpan | null = null;
  /** Kept with its event; null: the trace is the sender's, in the headers. Undefined until its sender is known. */
  traceparent: string | null | undefined;
  #headers: Record<string, string> | undefined;
  #payload: { payload: unknown } | undefined;
  #query: URLSearchParams | undefined;
  #parsed: Map<unknown, unknown> | undefined;
  #body: Buffer | undefined;
  #eventId: string | undefined;

  constructor(parts: ReceivedParts) {
    this.organizationSlug = parts.organizationSlug;
    this.sourceSlug = parts.sourceSlug;
    this.below = parts.below;
    this.method = parts.method;
    this.queryText = parts.queryText;
    this.headerBytes = parts.headers;
    this.#rawHeaders = parts.rawHeaders;
    this.#body = parts.body;
    this.clientAddress = parts.clientAddress;
    this.receivedAt = parts.receivedAt;
  }

  /**
   * The id of its event: the same one however often the webhook is routed and stored again. When it is unknown whether
   * an attempt to store it succeeded, the primary key decides.
   */
  get eventId(): string {
    this.#eventId ??= newId('evt', this.receivedAt.getTime());
    return this.#eventId;
  }

  /** As text, names in lower case. */
  get headers(): Record<string, string> {
    this.#headers ??= headerTexts(this.headerBytes);
    return this.#headers;
  }

  get hasBody(): boolean {
    return this.#body !== undefined;
  }

  /** @throws Error before it has come, as everything that is made of it */
  get body(): Buffer {
    if (this.#body === undefined) throw new Error('The body of this webhook has not arrived yet');
    return this.#body;
  }

  /** Called once, when it has come. */
  setBody(body: Buffer): void {
    if (this.#body !== undefined) throw new Error('This webhook already has its body');
    this.#body = body;
  }

  get size(): number {
    return this.body.length;
  }

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
    this.#parsed ??= new Map();
    if (!this.#parsed.has(parse)) this.#parsed.set(parse, parse(this.body));
    return this.#parsed.get(parse) as T;
  }

  query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.queryText);
    return this.#query;
  }

  /** As far as its sender may have signed it. @param baseUrl under which senders know this service */
  raw(baseUrl: string): RawRequest {
    const { organizationSlug, sourceSlug, below, queryText } = this;
    return {
      ...{ method: this.method, headers: this.headerBytes, body: this.body, nowMs: this.receivedAt.getTime() },
      query: () => this.query(),
      isRepeated: (name) => this.isRepeated(name),
      parsed: (parse) => this.parsed(parse),
      url: () => `${baseUrl}/ingest/${organizationSlug}/${sourceSlug}${below}${queryText && `?${queryText}`}`,
    };
  }
}

export function receivedRequest(
  ctx: Koa.Context,
  [, organizationSlug = '', sourceSlug = '', below = '']: RegExpExecArray,
): Received {
  const { client }: ApiState = ctx.state;
  return new Received({
    organizationSlug,
    sourceSlug,
    below,
    method: ctx.method,
    queryText: ctx.querystring,
    headers: receivedHeaders(ctx.req.rawHeaders),
    rawHeaders: ctx.req.rawHeaders,
    clientAddress: client.address,
    receivedAt: new Date(),
  });
}

type Addressed = Pick<SourceRouting, 'tokens' | 'allowsPaths'>;

/** The path below a source, and below its token; empty without one. */
export function pathBelow({ tokens, allowsPaths }: Addressed, { below }: Pick<Received, 'below'>): string {
  return readBelow(below, tokens.rule, allowsPaths).path;
}

/** Why an address is none of the source; null when it is one. */
export function addressProblem(
  { tokens, allowsPaths }: Addressed,
  { below }: Pick<Received, 'below'>,
  nowMs: number,
): 'token' | 'path' | null {
  const { token, path } = readBelow(below, tokens.rule, allowsPaths);
  if (!isIngestAddress(tokens, token, nowMs)) return 'token';
  return path === '' || allowsPaths ? null : 'path';
}

/**
 * Begins the part of a webhook in its trace, and the trace itself where its sender has none.
 * @param source that has verified it
 */
export function beginTrace(tracing: Tracing | undefined, source: SourceRouting, received: Received): void {
  received.span = tracing?.webhook(tracedWebhook(source, received)) ?? null;
  received.traceparent = received.span?.traceparent ?? madeTrace(received.headerBytes, tracing !== undefined);
}

// Where traces are sent the sampler has decided against this one, for all that follow it. Elsewhere nobody has:
// receivers that go by the flag of their parent record what they would record without it.
const madeTrace = (headers: Received['headerBytes'], isDecided: boolean): string | null =>
  receivedTrace(headers) === null ? newTraceparent(!isDecided) : null;

function tracedWebhook(source: SourceRouting, received: Received): TracedWebhook {
  const { organizationId, sourceId } = source;
  const { method, headerBytes: headers, size, receivedAt } = received;
  return { organizationId, sourceId, method, headers, size, receivedAt };
}

/**
 * Ends the span of a webhook that is not accepted, for a reason of ours. What is refused for what its sender did is not
 * recorded: it is among the refused webhooks, and a sender at its limit would take the room of others' spans.
 */
export async function endingSpan<T>(received: Received, accept: () => Promise<T>): Promise<T> {
  try {
    return await accept();
  } catch (error) {
    const { status, code = String(status) } = asApiError(error);
    if (status >= 500) received.span?.failed(status, code);
    throw error;
  }
}
