// Handshakes: requests by which a sender finds out whether an address is meant to receive its webhooks. They are
// answered here, and are no events. Which a source answers is said by its provider (providers/), or by its owner
// (source-handshake.ts).
import { readShortFields } from '../forms/forms.ts';
import { confirmationOf } from './certificates.ts';
import {
  type Credentials,
  header,
  hmac,
  isSameSecret,
  memberOf,
  type RawRequest,
  type SignatureAlgorithm,
  type SignatureEncoding,
  untrustedJson,
} from './scheme.ts';
import { braintreeAnswer } from './signed-bodies.ts';

export interface Reply {
  handshake: keyof typeof kinds;
  isProven: boolean;
  status: 200 | 204;
  headers: Record<string, string>;
  /** With its content type; null: no body, whatever content type the headers have. */
  content: { type: string; body: string } | null;
  /** The secret that the source has to remember before this is sent. */
  remember?: string;
  shown?: string;
  visit?: string;
}

type Answer = Partial<Omit<Reply, 'handshake' | 'isProven'>> | null;

type Method = 'GET' | 'HEAD' | 'OPTIONS' | 'POST';

interface HandshakeKind<Asked> {
  methods: readonly Method[];
  /**
   * Whether it is answered only once the request was verified; in the others the sender proves nothing: it cannot, or
   * not yet.
   */
  isVerified: boolean;
  /** Null: the request is no such handshake. */
  answer(asked: Asked, credentials: Credentials, request: RawRequest): Answer;
}
type Answers<Asked> = HandshakeKind<Asked>['answer'];

/** What is answered although the sender has proved nothing. @param Asked what a provider says of it */
const open = <Asked = unknown>(methods: readonly Method[], answer: Answers<Asked>): HandshakeKind<Asked> => ({
  ...{ methods, isVerified: false, answer },
});
const verified = <Asked = unknown>(methods: readonly Method[], answer: Answers<Asked>): HandshakeKind<Asked> => ({
  ...{ methods, isVerified: true, answer },
});

const kinds = {
  /**
   * A parameter of the query comes back as text (Microsoft Graph, Dropbox), or as a member of a JSON object. With a
   * `verifyToken` `hub.verify_token` must be it.
   */
  'echo-query': open(['GET', 'POST'], echoQuery),
  /** `hub.challenge` comes back, as text (Meta) or JSON (Strava), if `hub.verify_token` is the one of the source. */
  'hub-challenge': open(['GET'], hubChallenge),
  /**
   * The HMAC of a parameter of the query, as text or as a member of a JSON object (X); the parameter itself may be
   * another member.
   */
  'query-hmac': open(['GET'], signedQuery),
  /** A header comes back as a member of a JSON object (Okta). */
  'echo-header': open<{ header: string; member: string }>(['GET'], (asked, _credentials, request) =>
    json(asked.member, header(request, asked.header.toLowerCase())),
  ),
  /** A signed event asks for the value of its member `challenge` (Slack, Twitch). */
  challenge: verified(['POST'], challenge),
  /** A signed event asks for the HMAC of a token (Zoom). */
  'plain-token': verified(['POST'], plainToken),
  /** A header holds the secret of all later webhooks, and comes back (Asana). */
  'hook-secret': open(['POST'], hookSecret),
  /** An event asks for its validation code (Azure Event Grid). */
  'validation-code': verified(['POST'], validationCode),
  /** CloudEvents, "HTTP 1.1 Web Hooks for Event Delivery", section 4: OPTIONS with the origin of the sender. */
  'abuse-protection': verified(['OPTIONS'], allowedOrigin),
  /**
   * A signed PING (Discord): that of interactions (type 1) is answered with it, that of webhook events (type 0) with
   * nothing.
   */
  ping: verified(['POST'], ping),
  /** The address has to answer HEAD (Intercom, Trello), or GET (Mailchimp). */
  head: open(['HEAD'], () => ({})),
  get: open(['GET'], () => ({})),
  /** An unsigned form, or query, with `ssl_check=1` (Slack). */
  'ssl-check': open(['GET', 'POST'], sslCheck),
  /** A form with the number of the webhook, unsigned (WooCommerce). */
  'form-ping': open(['POST'], (_asked, _credentials, { body }) =>
    /^webhook_id=\d{1,20}$/.test(body.toString('latin1')) ? {} : null,
  ),
  /** An unsigned object whose only member is `challenge` comes back (monday.com). */
  'echo-body': open(['POST'], (_asked, _credentials, request) => json('challenge', onlyMember(request, 'challenge'))),
  /**
   * An unsigned object whose only member is the secret of all later webhooks, which the owner has to enter at the
   * provider (Notion).
   */
  'verification-token': open(['POST'], verificationToken),
  /** A signed message with an address that confirms the subscription when it is visited (Amazon SNS). */
  subscription: verified(['POST'], subscription),
  /** The HMAC of `bt_challenge` (Braintree). */
  'bt-challenge': open(['GET'], (_asked, { secret }, request) =>
    text(braintreeAnswer(secret, request.query().get('bt_challenge'))),
  ),
  /** `hub.challenge` of a subscription with the verify token or the topic of the source (WebSub). */
  websub: open(['GET'], subscriptionChallenge),
};

type AskedOf<Kind> = Kind extends HandshakeKind<infer Asked> ? (unknown extends Asked ? object : Asked) : never;
export type Handshake = {
  [Kind in keyof typeof kinds]: { kind: Kind } & AskedOf<(typeof kinds)[Kind]>;
}[keyof typeof kinds];

/** The methods of handshakes that no webhook has. */
export const HANDSHAKE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

// Of what is sent back: the longest token of a provider is some hundred characters long.
const MAX_ECHO = 4096;
const MAX_BODY = 64 * 1024;

/**
 * The answer to a handshake; null when the request is none.
 * @param isVerified whether the request was verified: handshakes that a sender signs are answered then, the others
 * before
 */
export function replyTo(
  handshakes: readonly Handshake[],
  credentials: Credentials,
  request: RawRequest,
  isVerified: boolean,
): Reply | null {
  for (const asked of handshakes) {
    const kind = kinds[asked.kind] as HandshakeKind<Handshake>;
    if (kind.isVerified !== isVerified || !isAskedWith(asked, kind, request.method)) continue;
    const answer = request.body.length > MAX_BODY ? null : kind.answer(asked, credentials, request);
    if (answer === null) continue;
    const isProven = isVerified || asked.kind === 'hub-challenge' || 'verifyToken' in asked;
    return { handshake: asked.kind, isProven, status: 200, headers: {}, content: null, ...answer };
  }
  return null;
}

const isAskedWith = (asked: Handshake, { methods }: HandshakeKind<Handshake>, method: string): boolean =>
  'method' in asked ? method === asked.method : methods.some((its) => its === method);

const isEcho = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_ECHO;

const text = (value: unknown): Answer => (isEcho(value) ? { content: { type: 'text/plain', body: value } } : null);
const json = (member: string, value: unknown): Answer => (isEcho(value) ? jsonOf({ [member]: value }) : null);
const jsonOf = (value: object): Answer => ({ content: { type: 'application/json', body: JSON.stringify(value) } });

function hubChallenge({ as }: { as?: 'json' }, { verifyToken }: Credentials, request: RawRequest): Answer {
  const query = request.query();
  if (query.get('hub.mode') !== 'subscribe' || verifyToken === undefined || !hasToken(query, verifyToken)) return null;
  const given = query.get('hub.challenge');
  return as === 'json' ? json('hub.challenge', given) : text(given);
}

function hasToken(query: URLSearchParams, verifyToken: string): boolean {
  const given = query.get('hub.verify_token');
  return given !== null && isSameSecret(given, verifyToken);
}

/**
 * The challenge of a hub that asks about a subscription which is the owner's: it has the verify token of the source
 * (`hub.verify_token`, of PubSubHubbub), or is of its topic. Null for every other one, and for its end: anyone can ask
 * a hub to end a subscription. https://www.w3.org/TR/websub/, section 5.3
 * @param credentials verifyToken: the token, or the address of the topic
 */
function subscriptionChallenge(_asked: unknown, { verifyToken }: Credentials, request: RawRequest): Answer {
  const query = request.query();
  if (query.get('hub.mode') !== 'subscribe' || verifyToken === undefined) return null;
  const given = query.get(/^https?:/.test(verifyToken) ? 'hub.topic' : 'hub.verify_token');
  return given !== null && isSameSecret(given, verifyToken) ? text(query.get('hub.challenge')) : null;
}

interface QueryEcho {
  method: 'GET' | 'POST';
  parameter: string;
  member?: string;
  verifyToken?: string;
}

function echoQuery(asked: QueryEcho, _credentials: Credentials, request: RawRequest): Answer {
  const { parameter, member, verifyToken } = asked;
  const query = request.query();
  if (verifyToken !== undefined && !hasToken(query, verifyToken)) return null;
  const value = query.get(parameter);
  return member === undefined ? text(value) : json(member, value);
}

// Anyone may ask for the HMAC of a parameter, and the sender signs its webhooks with the same secret. So only texts are
// signed of which no webhook consists: letters, digits, `_`, `+`, `/` and `-`, with the padding of base64.
const SIGNABLE = /^[\w+/-]{1,512}={0,2}$/;
const MAX_SIGNABLE = 514;

interface QueryHmac {
  parameter: string;
  algorithm: SignatureAlgorithm;
  encoding: SignatureEncoding;
  /** Before the HMAC. */
  prefix: string;
  member?: string;
  echoMember?: string;
}

function signedQuery(asked: QueryHmac, { secret }: Credentials, request: RawRequest): Answer {
  const { parameter, algorithm, encoding, prefix, member, echoMember } = asked;
  const token = request.query().get(parameter);
  if (token === null || secret === '' || !SIGNABLE.test(token)) return null;
  const signature = prefix + hmac(algorithm, secret, token).toString(encoding);
  if (member === undefined) return text(signature);
  return jsonOf({ ...(echoMember !== undefined && { [echoMember]: token }), [member]: signature });
}

/**
 * Whether anyone can ask for the signature of a webhook with this body. Whatever its template holds beside the body: if
 * all of it is signable, so is the body, or it is empty.
 */
export const isSignable = (body: Buffer): boolean =>
  body.length === 0 || (body.length <= MAX_SIGNABLE && SIGNABLE.test(body.toString('latin1')));

// https://docs.slack.dev/interactivity/implementing-slash-commands: from time to time Slack checks the certificate of
// the address so.
function sslCheck(_asked: unknown, _credentials: Credentials, request: RawRequest): Answer {
  if (request.method === 'GET') return request.query().get('ssl_check') === '1' ? {} : null;
  // Ordinary webhooks are not parsed for this.
  if (request.body.length > MAX_ECHO || !request.body.includes('ssl_check=1')) return null;
  return readShortFields(request.body, header(request, 'content-type'))?.ssl_check === '1' ? {} : null;
}

interface Challenge {
  when: { header: string } | { member: string };
  is: string;
  as: 'json' | 'text';
}

function challenge(asked: Challenge, _credentials: Credentials, request: RawRequest): Answer {
  const { when, is, as } = asked;
  // Ordinary events are not parsed for this.
  if ('header' in when ? header(request, when.header.toLowerCase()) !== is : !request.body.includes(is)) return null;
  const body = untrustedJson(request, MAX_BODY);
  if ('member' in when && memberOf(body, when.member) !== is) return null;
  const value = memberOf(body, 'challenge');
  return as === 'json' ? json('challenge', value) : text(value);
}

// https://developers.zoom.us/docs/api/webhooks/#validate-your-webhook-endpoint
function plainToken(_asked: unknown, { secret }: Credentials, request: RawRequest): Answer {
  if (!request.body.includes('endpoint.url_validation')) return null;
  const body = untrustedJson(request, MAX_BODY);
  const token = memberOf(memberOf(body, 'payload'), 'plainToken');
  if (memberOf(body, 'event') !== 'endpoint.url_validation' || !isEcho(token)) return null;
  return jsonOf({ plainToken: token, encryptedToken: hmac('sha256', secret, token).toString('hex') });
}

/** The member of a short object that has no other one. */
function onlyMember(request: RawRequest, name: string): unknown {
  if (request.body.length > 2 * MAX_ECHO || !request.body.includes(name)) return undefined;
  const body = untrustedJson(request, MAX_BODY);
  return typeof body === 'object' && body !== null && Object.keys(body).length === 1 ? memberOf(body, name) : undefined;
}

const HOOK_SECRET = /^[\x21-\x7e]{16,512}$/;

// https://developers.asana.com/docs/webhooks-guide. The first secret that comes is remembered, and no other takes its
// place.
function hookSecret(_asked: unknown, { secret }: Credentials, request: RawRequest): Answer {
  const given = header(request, 'x-hook-secret');
  if (given === undefined || !HOOK_SECRET.test(given)) return null;
  const reply = { headers: { 'X-Hook-Secret': given } };
  if (secret === '') return { ...reply, remember: given };
  return isSameSecret(given, secret) ? reply : null;
}

// https://developers.notion.com/reference/webhooks: the first token that comes is remembered, as in hookSecret.
function verificationToken(_asked: unknown, { secret }: Credentials, request: RawRequest): Answer {
  const given = onlyMember(request, 'verification_token');
  if (typeof given !== 'string' || !HOOK_SECRET.test(given)) return null;
  if (secret === '') return { shown: given, remember: given };
  return isSameSecret(given, secret) ? { shown: given } : null;
}

function subscription(_asked: unknown, credentials: Credentials, request: RawRequest): Answer {
  const url = confirmationOf(credentials, request);
  return url === null ? null : { shown: url, visit: url };
}

// https://learn.microsoft.com/azure/event-grid/end-point-validation-event-grid-events-schema
function validationCode(_asked: unknown, _credentials: Credentials, request: RawRequest): Answer {
  if (header(request, 'aeg-event-type') !== 'SubscriptionValidation') return null;
  const events = untrustedJson(request, MAX_BODY);
  const [event] = Array.isArray(events) ? (events as unknown[]) : [];
  return json('validationResponse', memberOf(memberOf(event, 'data'), 'validationCode'));
}

// A header with anything else would end the answer.
const ORIGIN = /^[\x21-\x7e]{1,256}$/;

function allowedOrigin(_asked: unknown, _credentials: Credentials, request: RawRequest): Answer {
  const origin = header(request, 'webhook-request-origin');
  if (origin === undefined || !ORIGIN.test(origin)) return null;
  return { headers: { 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': '*', Allow: 'POST' } };
}

// https://discord.com/developers/docs/events/webhook-events, and of interactions. Discord wants a content type in both
// answers, also where there is no content.
function ping(_asked: unknown, _credentials: Credentials, request: RawRequest): Answer {
  if (request.body.length > MAX_ECHO) return null;
  const body = untrustedJson(request, MAX_BODY);
  const type = memberOf(body, 'type');
  if (type === 0) return { status: 204, headers: { 'Content-Type': 'application/json' } };
  // Webhook events have type 1, too, and an event.
  return type === 1 && memberOf(body, 'event') === undefined ? jsonOf({ type: 1 }) : null;
}
