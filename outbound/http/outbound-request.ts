// Builds the request of one attempt from the records it is about.
// Rules: OUT-01 to OUT-05.
import type { AuthType } from '../../core/auth-config.ts';
import { foldedName, forwardableHeaders, mergeHeaders } from '../../core/headers.ts';
import { maskHeaders } from '../../core/redaction.ts';
import { signStandardWebhook } from '../../core/signatures/standard-webhooks.ts';
import { authHeaders } from './auth.ts';

/** What goes into the request of one attempt; credentials in clear. */
export type OutboundInput = {
  destination: {
    method: string;
    url: string;
    headers: Readonly<Record<string, string>>;
    authType: AuthType;
    authConfig: Readonly<Record<string, string>> | null;
    /** `whsec_...`, or null when deliveries are not signed. */
    signingSecret: string | null;
    timeoutMs: number;
  };
  /** The received headers and the body to send. */
  event: { id: string; headers: Readonly<Record<string, string>>; body: Buffer };
  delivery: { id: string };
  /** 1 for the first attempt. */
  attempt: number;
  source: { slug: string };
  /** `HOOKYARD_HEADER_PREFIX`, ends in a hyphen. */
  headerPrefix: string;
  /** Hookyard's own version. */
  version: string;
  nowMs: number;
  /** Set for a delivery to a failover destination: the id of the destination it replaces, and why. */
  failover?: { originalDestination: string; failureReason: string };
};

export type OutboundRequest = {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  /** `headers` for the record of the attempt, secrets masked. */
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
] as const;

/**
 * Builds the request of an attempt. Later headers win over earlier ones: received, Hookyard's own, the destination's,
 * authentication, signature.
 * @throws MissingCredentialsError when the destination lacks the credentials of its `authType`
 * @throws TypeError when its signing secret is none
 */
export function buildOutboundRequest(input: OutboundInput): OutboundRequest {
  const { destination, event } = input;
  const auth = authHeaders(destination.authType, destination.authConfig);
  const signature =
    destination.signingSecret === null
      ? {}
      : signStandardWebhook({
          secret: destination.signingSecret,
          id: event.id,
          timestampSeconds: Math.floor(input.nowMs / 1000),
          body: event.body,
        });
  const ours = [ownHeaders(input), destination.headers, auth, signature];
  const headers = mergeHeaders(receivedHeaders(event.headers, input.headerPrefix, ours), ...ours);
  const secretNames = Object.keys(auth).map((name) => name.toLowerCase());
  return {
    method: destination.method,
    url: destination.url,
    headers,
    body: event.body,
    maskedHeaders: maskHeaders(headers, secretNames),
  };
}

type Headers = Readonly<Record<string, string>>;

/** What travels on of the received headers: nothing that claims to be said by this service, in either spelling. */
function receivedHeaders(received: Headers, prefix: string, ours: readonly Headers[]): Record<string, string> {
  const forwarded = forwardableHeaders(received);
  const own = ownLowerNames(prefix);
  const ourNames = ours.flatMap((set) => Object.keys(set));
  const someFold = ourNames.some((name) => name.includes('_'));
  for (const name of Object.keys(forwarded)) {
    const folded = foldedName(name);
    // The same spelling is left to `mergeHeaders`.
    const mayFold = someFold || name.includes('_');
    if (own.has(folded) || (mayFold && ourNames.some((our) => foldedName(our) === folded))) delete forwarded[name];
  }
  return forwarded;
}

let lowerNames: { prefix: string; names: ReadonlySet<string> } | null = null;

/** The lowercase names of Hookyard's own headers, kept for the prefix of this process. */
function ownLowerNames(prefix: string): ReadonlySet<string> {
  if (lowerNames?.prefix !== prefix) {
    lowerNames = { prefix, names: new Set(OWN_NAMES.map((name) => (prefix + name).toLowerCase())) };
  }
  return lowerNames.names;
}

function ownHeaders(input: OutboundInput): Record<string, string> {
  const prefix = input.headerPrefix;
  const headers: Record<string, string> = {
    'User-Agent': `Hookyard/${input.version}`,
    [`${prefix}Event-Id`]: input.event.id,
    [`${prefix}Delivery-Id`]: input.delivery.id,
    [`${prefix}Attempt`]: String(input.attempt),
    [`${prefix}Source`]: input.source.slug,
  };
  if (input.failover !== undefined) {
    headers[`${prefix}Failover`] = 'true';
    headers[`${prefix}Original-Destination`] = input.failover.originalDestination;
    headers[`${prefix}Failure-Reason`] = asHeaderText(input.failover.failureReason);
  }
  return headers;
}

/** A sentence as a header's value: visible ASCII on one line, at most 256 characters. */
function asHeaderText(text: string): string {
  return text
    .replace(/[^\x21-\x7e]+/g, ' ')
    .slice(0, 256)
    .trim();
}
