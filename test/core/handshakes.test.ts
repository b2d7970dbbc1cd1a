import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { type Handshake, isSignable, type Reply, replyTo, handshakesOf } from '../../core/verification/handshakes.ts';
import { providerNamed } from '../../providers/index.ts';
import { rawRequest } from '../support/raw-request.ts';

const SECRET = 'a_secret_of_many_letters';
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:orders';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const KIBIBYTE = 1024;

interface Asked {
  method?: string;
  query?: string | Record<string, string>;
  headers?: Record<string, string>;
  /** As JSON, where it is no text. */
  body?: unknown;
  /** Null: the source has none yet. */
  secret?: string | null;
  verifyToken?: string;
}

function ask(handshakes: readonly Handshake[], isVerified: boolean, asked: Asked): Reply | null {
  const { method = 'GET', query = '', headers = {}, body = '', secret = SECRET, verifyToken } = asked;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const given = { secret: secret ?? '', ...(verifyToken !== undefined && { verifyToken }) };
  const request = { method, headers, body: Buffer.from(text), query: new URLSearchParams(query).toString() };
  return replyTo(handshakes, given, rawRequest(request), isVerified);
}

const isSignedKind: Partial<Record<Handshake['kind'], true>> = {
  ...{ challenge: true, 'plain-token': true, 'validation-code': true, 'abuse-protection': true },
  ...{ ping: true, subscription: true },
};
const hmacOf = (text: string, encoding: 'hex' | 'base64') => createHmac('sha256', SECRET).update(text).digest(encoding);
const post = (body: unknown, headers: Record<string, string> = {}): Asked => ({ method: 'POST', body, headers });
const options = (origin: string): Asked => ({ method: 'OPTIONS', headers: { 'webhook-request-origin': origin } });
const long = (bytes: number, member: object) => ({ ...member, padding: 'x'.repeat(bytes) });

const echo: Handshake = { kind: 'echo-query', method: 'GET', parameter: 'c' };
const withToken: Handshake = { ...echo, member: 'm', verifyToken: 'token' };
const crc: Handshake = {
  ...{ kind: 'query-hmac', parameter: 'crc', algorithm: 'sha256', encoding: 'base64', prefix: 'sha256=' },
};
const slack: Handshake = { kind: 'challenge', when: { member: 'type' }, is: 'url_verification', as: 'json' };
const twitch: Handshake = { kind: 'challenge', when: { header: 'X-Type' }, is: 'verification', as: 'text' };
const hub = { 'hub.mode': 'subscribe', 'hub.challenge': 'c1', 'hub.verify_token': 'token' };
const feed = { ...hub, 'hub.topic': 'https://example.com/feed' };
const ofFeed = { verifyToken: 'https://example.com/feed' };
const given = { challenge: 'abc' };
const notion = { verification_token: SECRET };
const asana = { method: 'POST', headers: { 'x-hook-secret': SECRET } };
const code = (data: unknown) => post([{ data }], { 'aeg-event-type': 'SubscriptionValidation' });
const zoom = { event: 'endpoint.url_validation', payload: { plainToken: 'abc' } };
const url = (topic: string, action = 'ConfirmSubscription', host = 'sns.eu-central-1.amazonaws.com/') =>
  `https://${host}?${new URLSearchParams({ Action: action, TopicArn: topic }).toString()}`;
const sns = (SubscribeURL: string, Type = 'SubscriptionConfirmation', topic = TOPIC): Asked => ({
  ...post({ Type, SubscribeURL, Message: 'SubscriptionConfirmation' }),
  secret: topic,
});
// The keys and the answer are those of the tests of Braintree's library.
const braintree = (bt_challenge: string): Asked => ({
  ...{ query: { bt_challenge }, secret: 'integration_public_key:integration_private_key' },
});
const DIGEST = 'd9b899556c966b3f06945ec21311865d35df3ce4';
const chinese = 'arn:aws-cn:sns:cn-north-1:123456789012:orders';
const chineseUrl = url(chinese, undefined, 'sns.cn-north-1.amazonaws.com.cn/');
const text = (body: string) => ({ content: { type: 'text/plain', body } });
const json = (body: object) => ({ content: { type: 'application/json', body: JSON.stringify(body) } });
const origin = 'eventgrid.azure.net';
const allowed = { 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': '*', Allow: 'POST' };

const otherTopic = { ...feed, 'hub.topic': 'x', 'hub.verify_token': feed['hub.topic'] };
const ofJson = { 'Content-Type': 'application/json' };
const echoed = { prefix: '', member: 'm', echoMember: 'e' };
const unset = (body: object): Asked => ({ ...post(body), secret: null });
const LONG = 'x'.repeat(513);
const unsetToken = (token: string) => unset({ verification_token: token });
const none = (handshake: Handshake, ...asked: Asked[]) =>
  asked.map((each): [Handshake, Asked, null] => [handshake, each, null]);

const ROWS: [Handshake, Asked, Partial<Reply> | null][] = [
  [echo, { query: 'c=%3Cb%3E+1' }, { ...text('<b> 1'), isProven: false, status: 200 }],
  [echo, { method: 'POST', query: 'c=a' }, null],
  [echo, { query: { c: 'x'.repeat(4096) } }, text('x'.repeat(4096))],
  [echo, { query: { c: 'x'.repeat(4097) } }, null],
  [echo, { query: 'c=' }, null],
  [echo, { query: 'other=a' }, null],
  [echo, { query: 'c=a', body: 'x'.repeat(64 * KIBIBYTE) }, text('a')],
  [echo, { query: 'c=a', body: 'x'.repeat(64 * KIBIBYTE + 1) }, null],
  [withToken, { query: 'c=a&hub.verify_token=token' }, { ...json({ m: 'a' }), isProven: true }],
  [withToken, { query: 'c=a&hub.verify_token=other' }, null],
  [withToken, { query: 'c=a' }, null],
  [{ kind: 'hub-challenge' }, { query: hub, verifyToken: 'token' }, { ...text('c1'), isProven: true }],
  [{ kind: 'hub-challenge', as: 'json' }, { query: hub, verifyToken: 'token' }, json({ 'hub.challenge': 'c1' })],
  [{ kind: 'hub-challenge' }, { query: hub, verifyToken: 'other' }, null],
  [{ kind: 'hub-challenge' }, { query: hub }, null],
  [{ kind: 'hub-challenge' }, { query: { ...hub, 'hub.mode': 'unsubscribe' }, verifyToken: 'token' }, null],
  [{ kind: 'websub' }, { query: hub, verifyToken: 'token' }, { ...text('c1'), isProven: false }],
  [{ kind: 'websub' }, { query: feed, ...ofFeed }, text('c1')],
  [{ kind: 'websub' }, { query: feed }, null],
  [{ kind: 'websub' }, { query: { ...feed, 'hub.mode': 'unsubscribe' }, ...ofFeed }, null],
  [{ kind: 'websub' }, { query: otherTopic, ...ofFeed }, null],
  [{ kind: 'websub' }, { query: feed, verifyToken: 'other' }, null],
  [crc, { query: 'crc=a-b' }, text(`sha256=${hmacOf('a-b', 'base64')}`)],
  [{ ...crc, encoding: 'hex', prefix: '', member: 'm' }, { query: 'crc=1' }, json({ m: hmacOf('1', 'hex') })],
  [{ ...crc, ...echoed }, { query: 'crc=1' }, json({ e: '1', m: hmacOf('1', 'base64') })],
  [crc, { query: 'crc=1', secret: null }, null],
  [crc, {}, null],
  ...none(crc, ...['{"a":1}', '[1]', '"a"', 'a=b', 'a.b', '', LONG].map((text) => ({ query: { crc: text } }))),
  [{ kind: 'echo-header', header: 'X-C', member: 'm' }, { headers: { 'x-c': 'a' } }, json({ m: 'a' })],
  [{ kind: 'echo-header', header: 'X-C', member: 'm' }, {}, null],
  [slack, post({ type: 'url_verification', ...given }), { ...json(given), isProven: true }],
  [slack, post({ type: 'event_callback', text: 'url_verification', ...given }), null],
  [slack, post('url_verification'), null],
  [slack, post(given), null],
  [twitch, post(given, { 'x-type': 'verification' }), text('abc')],
  [twitch, post(given), null],
  [{ kind: 'plain-token' }, post(zoom), json({ plainToken: 'abc', encryptedToken: hmacOf('abc', 'hex') })],
  [{ kind: 'plain-token' }, post({ ...zoom, event: 'other', text: 'endpoint.url_validation' }), null],
  [{ kind: 'plain-token' }, post({ ...zoom, payload: {} }), null],
  [{ kind: 'hook-secret' }, { ...asana, secret: null }, { headers: { 'X-Hook-Secret': SECRET }, remember: SECRET }],
  [{ kind: 'hook-secret' }, asana, { headers: { 'X-Hook-Secret': SECRET }, content: null }],
  [{ kind: 'hook-secret' }, { ...asana, secret: 'another secret' }, null],
  [{ kind: 'hook-secret' }, { method: 'POST', headers: { 'x-hook-secret': 'short' }, secret: null }, null],
  [{ kind: 'hook-secret' }, { method: 'POST' }, null],
  [{ kind: 'validation-code' }, code({ validationCode: '512d' }), json({ validationResponse: '512d' })],
  [{ kind: 'validation-code' }, post([{ data: { validationCode: '512d' } }]), null],
  [{ kind: 'validation-code' }, { ...code({}), body: {} }, null],
  [{ kind: 'abuse-protection' }, options(origin), { headers: allowed, content: null }],
  ...none({ kind: 'abuse-protection' }, ...['a\r\nX: y', 'a b', 'x'.repeat(257), ''].map(options)),
  [{ kind: 'ping' }, post({ type: 0 }), { status: 204, headers: ofJson, content: null }],
  [{ kind: 'ping' }, post({ type: 1 }), { ...json({ type: 1 }), status: 200 }],
  [{ kind: 'ping' }, post({ type: 1, event: {} }), null],
  [{ kind: 'ping' }, post({ type: 2 }), null],
  [{ kind: 'ping' }, post(long(4096, { type: 1 })), null],
  [{ kind: 'head' }, { method: 'HEAD' }, { content: null, isProven: false }],
  [{ kind: 'head' }, {}, null],
  [{ kind: 'get' }, {}, { content: null }],
  [{ kind: 'get' }, { method: 'HEAD' }, null],
  [{ kind: 'ssl-check' }, { query: 'ssl_check=1&token=x' }, { content: null }],
  [{ kind: 'ssl-check' }, { query: 'ssl_check=0' }, null],
  [{ kind: 'ssl-check' }, post('token=x&ssl_check=1', FORM), { content: null }],
  [{ kind: 'ssl-check' }, post('ssl_check=1'), null],
  [{ kind: 'ssl-check' }, post(`ssl_check=1&a=${'x'.repeat(4096)}`, FORM), null],
  ...none(
    { kind: 'ssl-check' },
    post('ssl_check=0', FORM),
    post('text=ssl_check=1', FORM),
    post('a_ssl_check=1', FORM),
  ),
  [{ kind: 'form-ping' }, post('webhook_id=7'), { content: null }],
  [{ kind: 'form-ping' }, post('webhook_id=7&more=1'), null],
  [{ kind: 'echo-body' }, post(given), json(given)],
  ...none({ kind: 'echo-body' }, post({ ...given, event: {} }), post(['challenge']), post('challenge'), post(null)),
  ...none({ kind: 'echo-body' }, post({ challenge: 1 }), post({ challenge: 'x'.repeat(4097) })),
  [{ kind: 'verification-token' }, unset(notion), { remember: SECRET, shown: SECRET, content: null }],
  [{ kind: 'verification-token' }, post(notion), { shown: SECRET }],
  [{ kind: 'verification-token' }, { ...post(notion), secret: 'another secret' }, null],
  ...none({ kind: 'verification-token' }, unset({ ...notion, type: 'page' }), unsetToken('short'), unsetToken(LONG)),
  [{ kind: 'subscription' }, sns(url(TOPIC)), { visit: url(TOPIC), shown: url(TOPIC), content: null }],
  [{ kind: 'subscription' }, sns(chineseUrl, undefined, chinese), { visit: chineseUrl }],
  ...none(
    { kind: 'subscription' },
    sns(url(TOPIC), 'Notification'),
    post({ Type: 'Notification', Message: 'hello' }),
    sns(url(`${TOPIC}2`)),
    sns(url(TOPIC, 'Unsubscribe')),
    sns(url(TOPIC, undefined, 'sns.us-east-1.amazonaws.com/')),
    sns(url(TOPIC, undefined, 'sns.eu-central-1.amazonaws.com/other')),
    sns(url(TOPIC, undefined, 'user@sns.eu-central-1.amazonaws.com/')),
    sns(`${url(TOPIC)}#end`),
    sns(`${url(TOPIC)}&x=${'x'.repeat(2048)}`),
    sns(url(TOPIC).replace('https', 'http')),
    sns('no address'),
  ),
  [{ kind: 'bt-challenge' }, braintree('20f9f8ed05f77439fe955c977e4c8a53'), text(`integration_public_key|${DIGEST}`)],
  // So that nobody has a payload signed.
  ...none({ kind: 'bt-challenge' }, ...['', 'PGE+', 'G'.repeat(20)].map(braintree)),
  ...none({ kind: 'bt-challenge' }, ...['a'.repeat(19), 'a'.repeat(33), `${'a'.repeat(20)}\n`].map(braintree)),
];

describe('handshakes', () => {
  for (const [handshake, asked, expected] of ROWS) {
    const { kind } = handshake;
    it(`${kind}: ${expected ? 'answers' : 'not'} ${JSON.stringify(asked).slice(0, 70)}`, () => {
      const isSigned = isSignedKind[kind] ?? false;
      const reply = ask([handshake], isSigned, asked);
      if (expected === null) expect(reply).to.equal(null);
      else expect(reply).to.deep.include({ handshake: kind, ...expected });
      if (expected && !('remember' in expected)) expect(reply).to.not.have.property('remember');
      // Those that are signed are answered after the proof only, the others before it.
      expect(ask([handshake], !isSigned, asked), 'before or after the proof').to.equal(null);
    });
  }

  it('of a source are those that its owner says', () => {
    expect(handshakesOf(null, null)).to.deep.equal([]);
    expect(handshakesOf({ type: 'ok' }, null)).to.deep.equal([{ kind: 'get' }, { kind: 'head' }]);
    expect(handshakesOf({ type: 'echo', parameter: 'c' }, null)).to.deep.equal([echo]);
    expect(handshakesOf({ type: 'echo', parameter: 'c', member: 'm' }, 'token')).to.deep.equal([withToken]);
    const { kind: _kind, ...rest } = crc as Handshake & { kind: 'query-hmac' };
    expect(handshakesOf({ type: 'hmac', ...rest }, null)).to.deep.equal([crc]);
  });

  it('sign nothing that is a webhook', () => {
    const signable = ['', 'abc', 'abc==', '12345', 'a-b_c+/', 'x'.repeat(514)];
    for (const body of signable) expect(isSignable(Buffer.from(body)), body).to.equal(body.length !== 514);
    for (const body of ['{}', '"a"', 'a=b', 'a b', 'a===', `${'x'.repeat(512)}===`])
      expect(isSignable(Buffer.from(body)), body).to.equal(false);
  });

  const ofProviders: [name: string, asked: Asked, expected: Partial<Reply>][] = [
    ['dropbox', { query: 'challenge=abc' }, text('abc')],
    ['nylas', { query: 'challenge=abc' }, text('abc')],
    ['okta', { headers: { 'x-okta-verification-challenge': 'abc' } }, json({ verification: 'abc' })],
    ['meta', { query: hub, verifyToken: 'token' }, text('c1')],
    ['intercom', { method: 'HEAD' }, { content: null }],
    ['trello', { method: 'HEAD' }, { content: null }],
    ['woocommerce', post('webhook_id=7'), { content: null }],
  ];
  for (const [name, asked, expected] of ofProviders)
    it(`of ${name} are answered`, () =>
      expect(ask(providerNamed(name)?.handshakes ?? [], false, asked)).to.deep.include(expected));
});
