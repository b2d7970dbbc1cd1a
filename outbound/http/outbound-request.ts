import type { AuthType } from '../../core/delivery/auth-config.ts';
import { deliveryAddress, type ReceivedAddress } from '../../core/delivery/delivery-url.ts';
import {
  type HeaderBytes,
  headerBytes,
  headerTexts,
  foldedName,
  mergeHeaders,
  HOPS_HEADER,
  hopsOf,
} from '../../core/http/headers.ts';
import { keepTrace } from '../../core/http/trace-context.ts';
import { forwardableHeaders, type ForwardHeaders, isForwarded } from '../../core/ingest/forwarded-headers.ts';
import { signStandardWebhook } from '../../core/verification/standard-webhooks.ts';
import { type ErrorSummary, named, ownWords } from '../../core/text/error-summary.ts';
import { maskHeaders } from '../../core/text/redaction.ts';

export type OutboundInput = {
  destination: {
    method: string;
    url: string;
    headers: Readonly<Record<string, string>>;
    authType: AuthType;
    authConfig: Readonly<Record<string, string>> | null;
    forwardHeaders: ForwardHeaders;
    forwardQuery: boolean;
    forwardPath: boolean;
    /** `whsec_...`, or null when deliveries are not signed. */
    signingSecret: string | null;
    /** During a rotation the one before, and when it ends, ms since 1970. */
    previousSigningSecret: string | null;
    previousSigningSecretUntil: number | null;
    timeoutMs: number;
  };
  /** The received headers, what else was received of its address, and the body to send. */
  event: { id: string; headers: Readonly<HeaderBytes>; address: ReceivedAddress; body: Buffer };
  delivery: { id: string };
  /** 1 for the first attempt. */
  attempt: number;
  source: { slug: string };
  /** `HOOKYARD_HEADER_PREFIX`, ends in a hyphen. */
  headerPrefix: string;
  version: string;
  nowMs: number;
  /** Of the span of this attempt; null: it is not recorded. */
  spanTraceparent?: string | null;
  /**
   * That is kept with the event: of its span, or of the trace that was made for it; null: the sender's continues, if
   * there is one.
   */
  eventTraceparent?: string | null;
  failover?: { originalDestination: string; failureReason: string };
  /** Of a delivery in order: the beginning of its key, and its number there. */
  order?: { key: string; number: number } | undefined;
};

export type OutboundRequest = {
  method: string;
  url: string;
  target: string | null;
  headers: HeaderBytes;
  body: Buffer;
  maskedHeaders: Record<string, string>;
};

const OWN_NAMES = [
  'Event-Id',
  'Delivery-Id',
  'Attempt',
  'Source',
  'Failover',
  'Original-Destination',
  'Failure-Reason',
  'Sequence',
  'Order-Key',
] as const;

/**
 * Builds the request of an attempt. Later headers win over earlier ones: received, Hookyard's own, the destination's,
 * authentication, signature, the count of hops.
 * @throws MissingCredentialsError when the destination lacks the credentials of its `authType`
 * @throws TypeError when its signing secret is none
 */
export function buildOutboundRequest(input: OutboundInput): OutboundRequest {
  const { destination, event } = input;
  const auth = authHeaders(destination.authType, destination.authConfig);
  const traceparent = ownTraceparent(input);
  const written = [destination.headers, auth].map(headerBytes);
  const ours = [ownHeaders(input, traceparent), ...written, signatureHeaders(input)];
  const forwarded = receivedHeaders(event.headers, destination.forwardHeaders, input.headerPrefix, ours);
  keepTrace(forwarded, event.headers, traceOf(destination, traceparent));
  const hops = { [HOPS_HEADER]: String(hopsOf(event.headers) + 1) };
  const headers = mergeHeaders(forwarded, ...ours, hops);
  const secretNames = Object.keys(auth).map((name) => name.toLowerCase());
  return {
    method: destination.method,
    ...deliveryAddress(destination, event.address),
    headers,
    body: event.body,
    maskedHeaders: maskHeaders(headerTexts(headers), secretNames),
  };
}

type Headers = Readonly<Record<string, string>>;

/**
 * What Hookyard says of the trace; null: nothing of its own. A trace that no attempt records is part of what was
 * received.
 */
function ownTraceparent({ spanTraceparent, eventTraceparent, destination }: OutboundInput): string | null {
  if (spanTraceparent) return spanTraceparent;
  return eventTraceparent && isForwarded('traceparent', destination.forwardHeaders) ? eventTraceparent : null;
}

/** A header of the destination wins, and begins a trace of its own. */
function traceOf(
  destination: OutboundInput['destination'],
  traceparent: string | null,
): Parameters<typeof keepTrace>[2] {
  if (Object.keys(destination.headers).some((name) => name.toLowerCase() === 'traceparent')) return 'another';
  return traceparent === null ? null : 'continued';
}

function signatureHeaders({ destination, event, nowMs }: OutboundInput): Headers {
  const { signingSecret, previousSigningSecret, previousSigningSecretUntil } = destination;
  if (signingSecret === null) return {};
  const rotates = previousSigningSecret !== null && nowMs < (previousSigningSecretUntil ?? 0);
  return signStandardWebhook({
    secrets: rotates ? [signingSecret, previousSigningSecret] : [signingSecret],
    id: event.id,
    timestampSeconds: Math.floor(nowMs / 1000),
    body: event.body,
  });
}

/** What travels on of the received headers: nothing that claims to be said by this service, in either spelling. */
function receivedHeaders(
  received: Headers,
  choice: ForwardHeaders,
  prefix: string,
  ours: readonly Headers[],
): Record<string, string> {
  const forwarded = forwardableHeaders(received, choice);
  const lower = prefix.toLowerCase();
  const own = new Set(OWN_NAMES.map((name) => lower + name.toLowerCase()));
  // `X-` begins most headers of providers.
  const isOwn = (folded: string) => (lower === 'x-' ? own.has(folded) : folded.startsWith(lower));
  const taken = new Set(ours.flatMap((set) => Object.keys(set).map(foldedName)));
  for (const name of Object.keys(forwarded)) {
    const folded = foldedName(name);
    if (isOwn(folded) || taken.has(folded)) delete forwarded[name];
  }
  return forwarded;
}

function ownHeaders(input: OutboundInput, traceparent: string | null): Record<string, string> {
  const prefix = input.headerPrefix;
  const headers: Record<string, string> = {
    'User-Agent': `Hookyard/${input.version}`,
    [`${prefix}Event-Id`]: input.event.id,
    [`${prefix}Delivery-Id`]: input.delivery.id,
    [`${prefix}Attempt`]: String(input.attempt),
    [`${prefix}Source`]: input.source.slug,
  };
  if (traceparent !== null) headers.traceparent = traceparent;
  if (input.failover !== undefined) {
    headers[`${prefix}Failover`] = 'true';
    headers[`${prefix}Original-Destination`] = input.failover.originalDestination;
    headers[`${prefix}Failure-Reason`] = asHeaderText(input.failover.failureReason);
  }
  if (input.order !== undefined) {
    headers[`${prefix}Sequence`] = String(input.order.number);
    headers[`${prefix}Order-Key`] = encodeURI(input.order.key);
  }
  return headers;
}

function asHeaderText(text: string): string {
  return text
    .replace(/[^\x21-\x7e]+/g, ' ')
    .slice(0, 256)
    .trim();
}

// The headers by which a request proves itself to a destination.

/** A destination lacks the credentials that its `authType` needs, for example after an import without them. */
export class MissingCredentialsError extends Error {
  readonly code = 'MISSING_CREDENTIALS';
  readonly summary: ErrorSummary;
  constructor(authType: AuthType, field: string) {
    const summary = ownWords`The destination's authType is ${named(authType)}, but its authConfig has no ${named(field)}; update the destination to set it`;
    super(summary);
    this.name = 'MissingCredentialsError';
    this.summary = summary;
  }
}

function authHeaders(authType: AuthType, authConfig: Readonly<Record<string, string>> | null): Record<string, string> {
  const field = (name: string): string => {
    const value = authConfig?.[name];
    if (value === undefined) throw new MissingCredentialsError(authType, name);
    return value;
  };
  switch (authType) {
    case 'none':
      return {};
    case 'basic': {
      // RFC 7617, section 2.1: UTF-8 is what servers that name a charset can name.
      const pair = Buffer.from(`${field('username')}:${field('password')}`, 'utf8');
      return { Authorization: `Basic ${pair.toString('base64')}` };
    }
    case 'bearer':
      return { Authorization: `Bearer ${field('token')}` };
    case 'api_key':
      return { [field('headerName')]: field('key') };
    case 'custom_header':
      return { [field('headerName')]: field('headerValue') };
  }
}
