// Handshakes: requests by which a sender finds out whether an address is meant to receive its webhooks. They are
// answered here, and are no events. Which a source answers is said by its provider (providers/), or by its owner
// (the last part of this file).
import { z } from 'zod';
import { readShortFields } from '../forms/forms.ts';
import { confirmationOf } from './certificates.ts';
import {
  SIGNATURE_ALGORITHMS,
  SIGNATURE_ENCODINGS,
  secretSchema,
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
  /** Null: the request is no such handshake. @param asked what a provider says of it */
  answer(request: RawRequest, credentials: Credentials, asked: Asked): Answer;
}
type Answers<Asked> = HandshakeKind<Asked>['answer'];

/** What is answered although the sender has proved nothing. */
const open = <Asked = unknown>(methods: readonly Method[], answer: Answers<Asked>): HandshakeKind<Asked> => ({
  ...{ methods, isVerified: false, answer },
});
const verified = <Asked = unknown>(methods: readonly Method[], answer: Answers<Asked>): HandshakeKind<Asked> => ({
  ...{ methods, isVerified: true, answer },
});

// Of what is sent back: the longest token of a provider is some hundred characters long.
const MAX_ECHO = 4096;
const MAX_BODY = 64 * 1024;

interface QueryEcho {
  method: 'GET' | 'POST';
  parameter: string;
  member?: string;
  verifyToken?: string;
}

interface QueryHmac {
  parameter: string;
  algorithm: SignatureAlgorithm;
  encoding: SignatureEncoding;
  /** Before the HMAC. */
  prefix: string;
  member?: string;
  echoMember?: string;
}

interface Challenge {
  when: { header: string } | { member: string };
  is: string;
  as: 'json' | 'text';
}

const kinds = {
  /**
   * A parameter of the query comes back as text (Microsoft Graph, Dropbox), or as a member of a JSON object. With a
   * `verifyToken` `hub.verify_token` must be it.
   */
  'echo-query': open<QueryEcho>(['GET', 'POST'], (request, _credentials, { parameter, member, verifyToken }) => {
    const query = request.query();
    if (verifyToken !== undefined && !hasToken(query, verifyToken)) return null;
    const value = query.get(parameter);
    return member === undefined ? text(value) : json(member, value);
  }),
  /** `hub.challenge` comes back, as text (Meta) or JSON (Strava), if `hub.verify_token` is the one of the source. */
  'hub-challenge': open<{ as?: 'json' }>(['GET'], (request, { verifyToken }, { as }) => {
    const query = request.query();
    if (query.get('hub.mode') !== 'subscribe' || verifyToken === undefined || !hasToken(query, verifyToken))
      return null;
    const given = query.get('hub.challenge');
    return as === 'json' ? json('hub.challenge', given) : text(given);
  }),
  /**
   * The HMAC of a parameter of the query, as text or as a member of a JSON object (X); the parameter itself may be
   * another member.
   */
  'query-hmac': open<QueryHmac>(['GET'], (request, { secret }, asked) => {
    const { parameter, algorithm, encoding, prefix, member, echoMember } = asked;
    const token = request.query().get(parameter);
    if (token === null || secret === '' || !SIGNABLE.test(token)) return null;
    const signature = prefix + hmac(algorithm, secret, token).toString(encoding);
    if (member === undefined) return text(signature);
    return jsonOf({ ...(echoMember !== undefined && { [echoMember]: token }), [member]: signature });
  }),
  /** A header comes back as a member of a JSON object (Okta). */
  'echo-header': open<{ header: string; member: string }>(['GET'], (request, _credentials, asked) =>
    json(asked.member, header(request, asked.header.toLowerCase())),
  ),
  /** A signed event asks for the value of its member `challenge` (Slack, Twitch). */
  challenge: verified<Challenge>(['POST'], (request, _credentials, { when, is, as }) => {
    // Ordinary events are not parsed for this.
    if ('header' in when ? header(request, when.header.toLowerCase()) !== is : !request.body.includes(is)) return null;
    const body = untrustedJson(request, MAX_BODY);
    if ('member' in when && memberOf(body, when.member) !== is) return null;
    const value = memberOf(body, 'challenge');
    return as === 'json' ? json('challenge', value) : text(value);
  }),
  /**
   * A signed event asks for the HMAC of a token (Zoom).
   * https://developers.zoom.us/docs/api/webhooks/#validate-your-webhook-endpoint
   */
  'plain-token': verified(['POST'], (request, { secret }) => {
    if (!request.body.includes('endpoint.url_validation')) return null;
    const body = untrustedJson(request, MAX_BODY);
    const token = memberOf(memberOf(body, 'payload'), 'plainToken');
    if (memberOf(body, 'event') !== 'endpoint.url_validation' || !isEcho(token)) return null;
    return jsonOf({ plainToken: token, encryptedToken: hmac('sha256', secret, token).toString('hex') });
  }),
  /**
   * A header holds the secret of all later webhooks, and comes back (Asana). The first secret that comes is remembered,
   * and no other takes its place. https://developers.asana.com/docs/webhooks-guide
   */
  'hook-secret': open(['POST'], (request, { secret }) => {
    const given = header(request, 'x-hook-secret');
    return given === undefined ? null : remembered(given, secret, { headers: { 'X-Hook-Secret': given } });
  }),
  /**
   * An event asks for its validation code (Azure Event Grid).
   * https://learn.microsoft.com/azure/event-grid/end-point-validation-event-grid-events-schema
   */
  'validation-code': verified(['POST'], (request) => {
    if (header(request, 'aeg-event-type') !== 'SubscriptionValidation') return null;
    const events = untrustedJson(request, MAX_BODY);
    const [event] = Array.isArray(events) ? (events as unknown[]) : [];
    return json('validationResponse', memberOf(memberOf(event, 'data'), 'validationCode'));
  }),
  /** CloudEvents, "HTTP 1.1 Web Hooks for Event Delivery", section 4: OPTIONS with the origin of the sender. */
  'abuse-protection': verified(['OPTIONS'], (request) => {
    const origin = header(request, 'webhook-request-origin');
    if (origin === undefined || !ORIGIN.test(origin)) return null;
    return { headers: { 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': '*', Allow: 'POST' } };
  }),
  /**
   * A signed PING: that of interactions (type 1) is answered with it, that of webhook events (type 0) with nothing, and
   * both with a content type. https://discord.com/developers/docs/events/webhook-events
   */
  ping: verified(['POST'], (request) => {
    const body = request.body.length > MAX_ECHO ? undefined : untrustedJson(request, MAX_BODY);
    const type = memberOf(body, 'type');
    if (type === 0) return { status: 204, headers: { 'Content-Type': 'application/json' } };
    // Webhook events have type 1, too, and an event.
    return type === 1 && memberOf(body, 'event') === undefined ? jsonOf({ type: 1 }) : null;
  }),
  /** The address has to answer HEAD (Intercom, Trello), or GET (Mailchimp). */
  head: open(['HEAD'], () => ({})),
  get: open(['GET'], () => ({})),
  /**
   * An unsigned form, or query, with `ssl_check=1`: from time to time Slack checks the certificate of the address so.
   * https://docs.slack.dev/interactivity/implementing-slash-commands
   */
  'ssl-check': open(['GET', 'POST'], (request) => {
    if (request.method === 'GET') return request.query().get('ssl_check') === '1' ? {} : null;
    // Ordinary webhooks are not parsed for this.
    if (request.body.length > MAX_ECHO || !request.body.includes('ssl_check=1')) return null;
    return readShortFields(request.body, header(request, 'content-type'))?.ssl_check === '1' ? {} : null;
  }),
  /** A form with the number of the webhook, unsigned (WooCommerce). */
  'form-ping': open(['POST'], ({ body }) => (/^webhook_id=\d{1,20}$/.test(body.toString('latin1')) ? {} : null)),
  /** An unsigned object whose only member is `challenge` comes back (monday.com). */
  'echo-body': open(['POST'], (request) => json('challenge', onlyMember(request, 'challenge'))),
  /**
   * An unsigned object whose only member is the secret of all later webhooks, which the owner has to enter at the
   * provider (Notion). As with hook-secret, the first one is remembered.
   * https://developers.notion.com/reference/webhooks
   */
  'verification-token': open(['POST'], (request, { secret }) => {
    const given = onlyMember(request, 'verification_token');
    return typeof given === 'string' ? remembered(given, secret, { shown: given }) : null;
  }),
  /** A signed message with an address that confirms the subscription when it is visited (Amazon SNS). */
  subscription: verified(['POST'], (request, credentials) => {
    const url = confirmationOf(credentials, request);
    return url === null ? null : { shown: url, visit: url };
  }),
  /** The HMAC of `bt_challenge` (Braintree). */
  'bt-challenge': open(['GET'], (request, { secret }) =>
    text(braintreeAnswer(secret, request.query().get('bt_challenge'))),
  ),
  /**
   * `hub.challenge` of a subscription which is the owner's: it has the verify token of the source (of PubSubHubbub), or
   * is of its topic, whose address is the verify token then. Null for every other one, and for its end: anyone can ask a
   * hub to end a subscription. https://www.w3.org/TR/websub/, section 5.3
   */
  websub: open(['GET'], (request, { verifyToken }) => {
    const query = request.query();
    if (query.get('hub.mode') !== 'subscribe' || verifyToken === undefined) return null;
    const isSubscribed = hasToken(query, verifyToken, /^https?:/.test(verifyToken) ? 'hub.topic' : undefined);
    return isSubscribed ? text(query.get('hub.challenge')) : null;
  }),
};

type AskedOf<Kind> = Kind extends HandshakeKind<infer Asked> ? (unknown extends Asked ? object : Asked) : never;
export type Handshake = {
  [Kind in keyof typeof kinds]: { kind: Kind } & AskedOf<(typeof kinds)[Kind]>;
}[keyof typeof kinds];

/** The methods of handshakes that no webhook has. */
export const HANDSHAKE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

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
    const answer = request.body.length > MAX_BODY ? null : kind.answer(request, credentials, asked);
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

function hasToken(query: URLSearchParams, verifyToken: string, parameter = 'hub.verify_token'): boolean {
  const given = query.get(parameter);
  return given !== null && isSameSecret(given, verifyToken);
}

// Anyone may ask for the HMAC of a parameter, and the sender signs its webhooks with the same secret. So only texts are
// signed of which no webhook consists: letters, digits, `_`, `+`, `/` and `-`, with the padding of base64.
const SIGNABLE = /^[\w+/-]{1,512}={0,2}$/;
const MAX_SIGNABLE = 514;

/**
 * Whether anyone can ask for the signature of a webhook with this body. Whatever its template holds beside the body: if
 * all of it is signable, so is the body, or it is empty.
 */
export const isSignable = (body: Buffer): boolean =>
  body.length === 0 || (body.length <= MAX_SIGNABLE && SIGNABLE.test(body.toString('latin1')));

/** The member of a short object that has no other one. */
function onlyMember(request: RawRequest, name: string): unknown {
  if (request.body.length > 2 * MAX_ECHO || !request.body.includes(name)) return undefined;
  const body = untrustedJson(request, MAX_BODY);
  return typeof body === 'object' && body !== null && Object.keys(body).length === 1 ? memberOf(body, name) : undefined;
}

const HOOK_SECRET = /^[\x21-\x7e]{16,512}$/;

/** The answer to a secret that is the first one, which is remembered, or the one of the source. */
function remembered(given: string, secret: string, answer: Answer & object): Answer {
  if (!HOOK_SECRET.test(given)) return null;
  if (secret === '') return { ...answer, remember: given };
  return isSameSecret(given, secret) ? answer : null;
}

// A header with anything else would end the answer.
const ORIGIN = /^[\x21-\x7e]{1,256}$/;

// What a source answers to a GET or HEAD by which its sender checks the address, where its owner says so. The providers
// that Hookyard knows have their handshakes built in (providers/).

const name = (of: string) =>
  z
    .string()
    .min(1, `must be the name of ${of}`)
    .max(256, 'must be at most 256 characters long')
    .meta({ examples: ['challenge'] });
const parameter = name('a query parameter');
const member = name('a field in the JSON response').optional();

const echo = { type: z.literal('echo'), parameter, member };
const others = [
  z.object({ type: z.literal('ok') }),
  z.object({
    ...{ type: z.literal('hmac'), parameter, member, echoMember: member },
    algorithm: z.enum(SIGNATURE_ALGORITHMS).default('sha256'),
    encoding: z.enum(SIGNATURE_ENCODINGS).default('base64'),
    prefix: z.string().max(256, 'must be at most 256 characters long').default(''),
  }),
] as const;

export const sourceHandshakeSchema = z.discriminatedUnion('type', [
  z.object({ ...echo, verifyToken: secretSchema.nullish() }),
  ...others,
]);
export type SentHandshake = z.output<typeof sourceHandshakeSchema>;

const storedSchema = z.discriminatedUnion('type', [z.object(echo), ...others]);
export type SourceHandshake = z.output<typeof storedSchema>;

/** @param verifyToken in clear; null: it has none */
export function handshakesOf(own: SourceHandshake | null, verifyToken: string | null): Handshake[] {
  switch (own?.type) {
    case undefined:
      return [];
    case 'ok':
      return [{ kind: 'get' }, { kind: 'head' }];
    case 'echo': {
      const { type: _echo, ...rest } = own;
      return [{ kind: 'echo-query', method: 'GET', ...rest, ...(verifyToken !== null && { verifyToken }) }];
    }
    case 'hmac': {
      const { type: _hmac, ...rest } = own;
      return [{ kind: 'query-hmac', ...rest }];
    }
  }
}
