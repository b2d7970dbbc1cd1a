// Handshakes: requests by which a provider finds out whether an address is meant to receive its webhooks. They are answered here, and
// are no events.
// Rules: PRV-11 to PRV-14, INGEST-10, INGEST-27.
import { readShortFields } from '../forms/index.ts';
import { header, hmac, isSameSecret } from '../signatures/scheme.ts';
import { braintreeAnswer } from './braintree.ts';
import { confirmationOf } from './published/sns.ts';
import { type QueryHmac, queryHmac } from './query-hmac.ts';
import { type Credentials, memberOf, type ProviderRequest, untrustedJson } from './request.ts';
import { subscriptionChallenge } from './websub.ts';

/** What a provider asks; `METHODS` says with which method. */
export type Handshake =
  /**
   * A parameter of the query comes back as text (Microsoft Graph, Dropbox), or as a member of a JSON object. With a `verifyToken`
   * `hub.verify_token` must be it.
   */
  | { kind: 'echo-query'; method: 'GET' | 'POST'; parameter: string; member?: string; verifyToken?: string }
  /** `hub.challenge` comes back, as text (Meta) or JSON (Strava), if `hub.verify_token` is the one of the source. */
  | { kind: 'hub-challenge'; as?: 'json' }
  /** The HMAC of a parameter of the query, as text or as a member of a JSON object (X); the parameter itself may be another member. */
  | ({ kind: 'query-hmac'; member?: string; echoMember?: string } & QueryHmac)
  /** A header comes back as a member of a JSON object (Okta). */
  | { kind: 'echo-header'; header: string; member: string }
  /** A signed event asks for the value of its member `challenge` (Slack, Twitch). */
  | { kind: 'challenge'; when: { header: string } | { member: string }; is: string; as: 'json' | 'text' }
  /** A signed event asks for the HMAC of a token (Zoom). */
  | { kind: 'plain-token' }
  /** A header holds the secret of all later webhooks, and comes back (Asana). */
  | { kind: 'hook-secret' }
  /** An event asks for its validation code (Azure Event Grid). */
  | { kind: 'validation-code' }
  /** CloudEvents, "HTTP 1.1 Web Hooks for Event Delivery", section 4: OPTIONS with the origin of the sender. */
  | { kind: 'abuse-protection' }
  /** A signed PING (Discord): that of interactions (type 1) is answered with it, that of webhook events (type 0) with nothing. */
  | { kind: 'ping' }
  /** The address has to answer HEAD (Intercom, Trello), or GET (Mailchimp). */
  | { kind: 'head' }
  | { kind: 'get' }
  /** An unsigned form, or query, with `ssl_check=1` (Slack). */
  | { kind: 'ssl-check' }
  /** A form with the number of the webhook, unsigned (WooCommerce). */
  | { kind: 'form-ping' }
  /** An unsigned object whose only member is `challenge` comes back (monday.com). */
  | { kind: 'echo-body' }
  /** An unsigned object whose only member is the secret of all later webhooks, which the owner has to enter at the provider (Notion). */
  | { kind: 'verification-token' }
  /** A signed message with an address that confirms the subscription when it is visited (Amazon SNS). */
  | { kind: 'subscription' }
  /** The HMAC of `bt_challenge` (Braintree). */
  | { kind: 'bt-challenge' }
  /** `hub.challenge` of a subscription with the verify token or the topic of the source (WebSub). */
  | { kind: 'websub' };

export interface Reply {
  handshake: Handshake['kind'];
  /** Whether its sender has proved that it has a secret of the source. */
  isProven: boolean;
  status: 200 | 204;
  headers: Record<string, string>;
  /** With its content type; null: no body, whatever content type the headers have. */
  content: { type: string; body: string } | null;
  /** The secret that the source has to remember before this is sent. */
  remember?: string;
  /** What the owner needs to continue, such as an address to visit. */
  shown?: string;
  /** The address of the provider that confirms it, should the owner have allowed to visit it. */
  visit?: string;
}

type HandshakeMethod = 'GET' | 'HEAD' | 'OPTIONS' | 'POST';
const METHODS: Readonly<Record<Exclude<Handshake['kind'], 'echo-query' | 'ssl-check'>, HandshakeMethod>> = {
  'hub-challenge': 'GET',
  'echo-header': 'GET',
  challenge: 'POST',
  'plain-token': 'POST',
  'hook-secret': 'POST',
  'validation-code': 'POST',
  'abuse-protection': 'OPTIONS',
  ping: 'POST',
  head: 'HEAD',
  get: 'GET',
  'query-hmac': 'GET',
  'form-ping': 'POST',
  'echo-body': 'POST',
  'verification-token': 'POST',
  subscription: 'POST',
  'bt-challenge': 'GET',
  websub: 'GET',
};

function isAskedWith(handshake: Handshake, method: string): boolean {
  if (handshake.kind === 'ssl-check') return method === 'POST' || method === 'GET';
  return method === (handshake.kind === 'echo-query' ? handshake.method : METHODS[handshake.kind]);
}

/** The methods of handshakes that no webhook has. */
export const HANDSHAKE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

// The sender proves nothing in these: it cannot, or not yet.
const BEFORE_PROOF: readonly Handshake['kind'][] = [
  ...(['echo-query', 'hub-challenge', 'query-hmac', 'echo-header', 'get', 'ssl-check'] as const),
  ...(['hook-secret', 'head', 'form-ping', 'echo-body', 'verification-token', 'bt-challenge', 'websub'] as const),
];

// Of what is sent back: the longest token of a provider is some hundred characters long.
const MAX_ECHO = 4096;
const MAX_BODY = 64 * 1024;

/**
 * The answer to a handshake; null when the request is none.
 * @param proven whether the request was verified: handshakes that a provider signs are answered then, the others before
 */
export function replyTo(
  handshakes: readonly Handshake[],
  credentials: Credentials,
  request: ProviderRequest,
  proven: boolean,
): Reply | null {
  for (const handshake of handshakes) {
    if (BEFORE_PROOF.includes(handshake.kind) === proven) continue;
    if (!isAskedWith(handshake, request.method) || request.body.length > MAX_BODY) continue;
    const reply = answer(handshake, credentials, request);
    if (reply === null) continue;
    const isProven = proven || handshake.kind === 'hub-challenge' || 'verifyToken' in handshake;
    return { handshake: handshake.kind, isProven, status: 200, headers: {}, content: null, ...reply };
  }
  return null;
}

type Answer = Partial<Omit<Reply, 'handshake' | 'isProven'>> | null;

function answer(handshake: Handshake, credentials: Credentials, request: ProviderRequest): Answer {
  switch (handshake.kind) {
    case 'echo-query':
      return echoQuery(handshake, request.query());
    case 'hub-challenge':
      return hubChallenge(credentials, request.query(), handshake.as);
    case 'query-hmac':
      return signedQuery(handshake, credentials, request.query());
    case 'echo-header':
      return json(handshake.member, header(request, handshake.header.toLowerCase()));
    case 'challenge':
      return challenge(handshake, request);
    case 'plain-token':
      return plainToken(credentials, request);
    case 'hook-secret':
      return hookSecret(credentials, request);
    case 'validation-code':
      return validationCode(request);
    case 'abuse-protection':
      return allowedOrigin(header(request, 'webhook-request-origin'));
    case 'ping':
      return ping(request);
    case 'head':
    case 'get':
      return {};
    case 'ssl-check':
      return sslCheck(request);
    case 'form-ping':
      return /^webhook_id=\d{1,20}$/.test(request.body.toString('latin1')) ? {} : null;
    case 'echo-body':
      return json('challenge', onlyMember(request, 'challenge'));
    case 'verification-token':
      return verificationToken(credentials, request);
    case 'subscription':
      return subscription(credentials, request);
    case 'bt-challenge':
      return text(braintreeAnswer(credentials.secret, request.query().get('bt_challenge')));
    case 'websub':
      return text(subscriptionChallenge(credentials, request.query()));
  }
}

const isEcho = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_ECHO;

const text = (value: unknown): Answer => (isEcho(value) ? { content: { type: 'text/plain', body: value } } : null);
const json = (member: string, value: unknown): Answer => (isEcho(value) ? jsonOf({ [member]: value }) : null);
const jsonOf = (value: object): Answer => ({ content: { type: 'application/json', body: JSON.stringify(value) } });

function hubChallenge({ verifyToken }: Credentials, query: URLSearchParams, as: 'json' | undefined): Answer {
  if (query.get('hub.mode') !== 'subscribe' || verifyToken === undefined || !hasToken(query, verifyToken)) return null;
  const challenge = query.get('hub.challenge');
  return as === 'json' ? json('hub.challenge', challenge) : text(challenge);
}

function hasToken(query: URLSearchParams, verifyToken: string): boolean {
  const given = query.get('hub.verify_token');
  return given !== null && isSameSecret(given, verifyToken);
}

function echoQuery(handshake: Handshake & { kind: 'echo-query' }, query: URLSearchParams): Answer {
  const { parameter, member, verifyToken } = handshake;
  if (verifyToken !== undefined && !hasToken(query, verifyToken)) return null;
  const value = query.get(parameter);
  return member === undefined ? text(value) : json(member, value);
}

function signedQuery(handshake: Handshake & { kind: 'query-hmac' }, { secret }: Credentials, query: URLSearchParams) {
  const { member, echoMember } = handshake;
  const signed = queryHmac(handshake, secret, query);
  if (signed === null || member === undefined) return text(signed?.signature);
  return jsonOf({ ...(echoMember !== undefined && { [echoMember]: signed.token }), [member]: signed.signature });
}

// https://docs.slack.dev/interactivity/implementing-slash-commands: from time to time Slack checks the certificate of the address so.
function sslCheck(request: ProviderRequest): Answer {
  if (request.method === 'GET') return request.query().get('ssl_check') === '1' ? {} : null;
  // Ordinary webhooks are not parsed for this.
  if (request.body.length > MAX_ECHO || !request.body.includes('ssl_check=1')) return null;
  return readShortFields(request.body, header(request, 'content-type'))?.ssl_check === '1' ? {} : null;
}

function challenge(handshake: Handshake & { kind: 'challenge' }, request: ProviderRequest): Answer {
  const { when, is, as } = handshake;
  // Ordinary events are not parsed for this.
  if ('header' in when ? header(request, when.header.toLowerCase()) !== is : !request.body.includes(is)) return null;
  const body = untrustedJson(request, MAX_BODY);
  if ('member' in when && memberOf(body, when.member) !== is) return null;
  const value = memberOf(body, 'challenge');
  return as === 'json' ? json('challenge', value) : text(value);
}

// https://developers.zoom.us/docs/api/webhooks/#validate-your-webhook-endpoint
function plainToken({ secret }: Credentials, request: ProviderRequest): Answer {
  if (!request.body.includes('endpoint.url_validation')) return null;
  const body = untrustedJson(request, MAX_BODY);
  const token = memberOf(memberOf(body, 'payload'), 'plainToken');
  if (memberOf(body, 'event') !== 'endpoint.url_validation' || !isEcho(token)) return null;
  return jsonOf({ plainToken: token, encryptedToken: hmac('sha256', secret, token).toString('hex') });
}

/** The member of a short object that has no other one. */
function onlyMember(request: ProviderRequest, name: string): unknown {
  if (request.body.length > 2 * MAX_ECHO || !request.body.includes(name)) return undefined;
  const body = untrustedJson(request, MAX_BODY);
  return typeof body === 'object' && body !== null && Object.keys(body).length === 1 ? memberOf(body, name) : undefined;
}

const HOOK_SECRET = /^[\x21-\x7e]{16,512}$/;

// https://developers.asana.com/docs/webhooks-guide. The first secret that comes is remembered, and no other takes its place.
function hookSecret({ secret }: Credentials, request: ProviderRequest): Answer {
  const given = header(request, 'x-hook-secret');
  if (given === undefined || !HOOK_SECRET.test(given)) return null;
  const reply = { headers: { 'X-Hook-Secret': given } };
  if (secret === '') return { ...reply, remember: given };
  return isSameSecret(given, secret) ? reply : null;
}

// https://developers.notion.com/reference/webhooks: the first token that comes is remembered, as in hookSecret.
function verificationToken({ secret }: Credentials, request: ProviderRequest): Answer {
  const given = onlyMember(request, 'verification_token');
  if (typeof given !== 'string' || !HOOK_SECRET.test(given)) return null;
  if (secret === '') return { shown: given, remember: given };
  return isSameSecret(given, secret) ? { shown: given } : null;
}

function subscription(credentials: Credentials, request: ProviderRequest): Answer {
  const url = confirmationOf(credentials, request);
  return url === null ? null : { shown: url, visit: url };
}

// https://learn.microsoft.com/azure/event-grid/end-point-validation-event-grid-events-schema
function validationCode(request: ProviderRequest): Answer {
  if (header(request, 'aeg-event-type') !== 'SubscriptionValidation') return null;
  const events = untrustedJson(request, MAX_BODY);
  const [event] = Array.isArray(events) ? (events as unknown[]) : [];
  return json('validationResponse', memberOf(memberOf(event, 'data'), 'validationCode'));
}

// A header with anything else would end the answer.
const ORIGIN = /^[\x21-\x7e]{1,256}$/;

function allowedOrigin(origin: string | undefined): Answer {
  if (origin === undefined || !ORIGIN.test(origin)) return null;
  return { headers: { 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': '*', Allow: 'POST' } };
}

// https://discord.com/developers/docs/events/webhook-events, and of interactions. Discord wants a content type in both answers, also
// where there is no content.
function ping(request: ProviderRequest): Answer {
  if (request.body.length > MAX_ECHO) return null;
  const body = untrustedJson(request, MAX_BODY);
  const type = memberOf(body, 'type');
  if (type === 0) return { status: 204, headers: { 'Content-Type': 'application/json' } };
  // Webhook events have type 1, too, and an event.
  return type === 1 && memberOf(body, 'event') === undefined ? jsonOf({ type: 1 }) : null;
}
