import { expect } from 'chai';
import { createHash, createHmac } from 'node:crypto';
import { Received } from '../../api/ingest/received.ts';
import { openCredentials, sealedCredentials } from '../../core/verification/config.ts';
import { type Provider, providerNamed } from '../../providers/index.ts';
import {
  type Credentials,
  isSigned,
  needsPublishedKeys,
  needsSecret,
  type RawRequest,
  type Scheme,
  secretProblem,
  signAs,
  type Verification,
  verify,
  withoutToken,
} from '../../core/verification/index.ts';
import { NO_KEYS } from '../../core/verification/published-keys.ts';
import { rawRequest } from '../support/raw-request.ts';

const SECRET = 'a secret of many letters';
const NOW = 1_700_000_000_000;
const KIBIBYTE = 1024;
const PARTS = {
  ...{ organizationSlug: 'o', sourceSlug: 's', below: '', method: 'POST', queryText: '', headers: {} },
  ...{ rawHeaders: [], clientAddress: '127.0.0.1', receivedAt: new Date(NOW) },
};

const requestOf = ({ text, ...fields }: Parameters<typeof rawRequest>[0] & { text?: string }) =>
  rawRequest({ nowMs: NOW, ...fields, ...(text !== undefined && { query: text }) });
const verifyNow = (scheme: Scheme, credentials: Credentials, request: RawRequest) =>
  verify(scheme, credentials, request, NO_KEYS) as Verification;

describe('schemes of providers', () => {
  const sized = (bytes: number, json: (padding: string) => string) =>
    Buffer.from(json('x'.repeat(bytes - json('').length)));

  it('refuse what is too large to be parsed for a stranger', () => {
    const graph: Scheme = { kind: 'body-token', list: 'value', member: 'clientState' };
    const graphBody = (padding: string) => JSON.stringify({ value: [{ clientState: SECRET }], padding });
    const mailgun: Scheme = { kind: 'mailgun' };
    const timestamp = String(NOW / 1000);
    const signature = createHmac('sha256', SECRET).update(`${timestamp}t`).digest('hex');
    const mailgunBody = (padding: string) =>
      JSON.stringify({ signature: { timestamp, token: 't', signature }, padding });
    for (const [scheme, body, most] of [
      [graph, graphBody, 256 * KIBIBYTE],
      [mailgun, mailgunBody, 256 * KIBIBYTE],
    ] as const) {
      const valid = (bytes: number) =>
        verifyNow(scheme, { secret: SECRET }, requestOf({ body: sized(bytes, body) })).valid;
      expect([valid(most), valid(most + 1)], scheme.kind).to.deep.equal([true, false]);
    }
  });

  const twilioForm = (text: string, fields: string, parsed?: RawRequest['parsed']) => {
    const mac = createHmac('sha1', SECRET).update(`https://example.com/${fields}`).digest('base64');
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': mac };
    return requestOf({ headers, body: Buffer.from(text), ...(parsed && { parsed }) });
  };
  const takesForm = (request: RawRequest) => verifyNow({ kind: 'twilio' }, { secret: SECRET }, request).valid;

  it('of Twilio refuse a form of too many bytes or fields before it is parsed', () => {
    const padded = (bytes: number) => `a=${'x'.repeat(bytes - 2)}`;
    const many = (count: number) => Array.from({ length: count }, () => 'a=1').join('&');
    const valid = (text: string, fields: string) => takesForm(twilioForm(text, fields));
    const long = (bytes: number) => valid(padded(bytes), padded(bytes).replace('=', ''));
    expect([long(256 * KIBIBYTE), long(256 * KIBIBYTE + 1)]).to.deep.equal([true, false]);
    expect([valid(many(1000), 'a1'), valid(many(1001), 'a1')]).to.deep.equal([true, false]);
    const never = () => expect.fail('it was parsed');
    for (const text of [padded(256 * KIBIBYTE + 1), many(1001)])
      expect(takesForm(twilioForm(text, '', never))).to.equal(false);
  });

  it('parse a body once, with however many secrets it is verified', () => {
    const parts = { ...PARTS, body: Buffer.from('{"a":1}') };
    const received = new Received(parts);
    let parses = 0;
    const parse = () => (parses += 1);
    expect([received.parsed(parse), received.parsed(parse), parses]).to.deep.equal([1, 1, 1]);
    expect(received.parsed(() => 'another')).to.equal('another');
  });

  // Anyone who conceals a source hashes the body of those that are refused before (api/ingest/verification.ts).
  it('say that the body was hashed where it was, whole', () => {
    const refusedOf = (scheme: Scheme, request: Parameters<typeof requestOf>[0]) => {
      const outcome = verifyNow(scheme, { secret: SECRET }, requestOf(request));
      return outcome.valid ? 'accepted' : (outcome.hashed ?? false);
    };
    const signature = { timestamp: String(NOW / 1000), token: 't', signature: '00' };
    expect(refusedOf({ kind: 'mailgun' }, { body: Buffer.from(JSON.stringify({ signature })) })).to.equal(false);
    const headers = { 'content-type': 'application/json', 'x-twilio-signature': 'AAAA' };
    expect(refusedOf({ kind: 'twilio' }, { headers, text: 'bodySHA256=00' })).to.equal(true);
    expect(refusedOf({ kind: 'twilio' }, { headers })).to.equal(false);
    const hmacOf = (signed: ('body' | 'url')[]): Scheme => ({
      ...{ kind: 'hmac', algorithm: 'sha256', encoding: 'hex', header: 'X-Signature' },
      signed,
    });
    const signed = { headers: { 'x-signature': '00' } };
    expect([refusedOf(hmacOf(['url']), signed), refusedOf(hmacOf(['body']), signed)]).to.deep.equal([false, true]);
  });

  it('want the token in every item, and no more than a thousand', () => {
    const graph: Scheme = { kind: 'body-token', list: 'value', member: 'clientState' };
    const valid = (value: unknown) =>
      verifyNow(graph, { secret: SECRET }, requestOf({ body: Buffer.from(JSON.stringify({ value })) })).valid;
    const item = { clientState: SECRET };
    expect(valid([item, item])).to.equal(true);
    for (const value of [[], [item, {}], [item, { clientState: 'other' }], item, null, Array(1001).fill(item)])
      expect(valid(value), JSON.stringify(value).slice(0, 80)).to.equal(false);
  });

  it('of Twilio take JSON by the hash in the address only', () => {
    const body = Buffer.from('{"a":1}');
    const hash = '015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862';
    const valid = (text: string, of = body) => {
      const url = `https://example.com/?${text}`;
      const headers = {
        'content-type': 'application/json',
        'x-twilio-signature': createHmac('sha1', SECRET).update(url).digest('base64'),
      };
      return verifyNow({ kind: 'twilio' }, { secret: SECRET }, requestOf({ headers, body: of, text, url: () => url }))
        .valid;
    };
    expect(valid(`bodySHA256=${hash}`)).to.equal(true);
    expect(valid(`bodySHA256=${hash}`, Buffer.from('{"a":2}'))).to.equal(false);
    expect(valid('x=1')).to.equal(false);
  });

  it('of HubSpot sign an address with the characters that its documentation lists decoded, and no others', () => {
    const { verification } = providerNamed('hubspot') as Provider;
    const url = 'https://example.com/a?%3A%2F%3F%40%21%24%27%28%29%2A%2C%3B%3b%26%3D%20%25%E2%82%AC';
    const signed = "https://example.com/a?:/?@!$'()*,;;%26%3D%20%25%E2%82%AC";
    const validFor = (address: string) => {
      const mac = createHmac('sha256', SECRET).update(`POST${address}{}${NOW}`).digest('base64');
      const headers = { 'x-hubspot-signature-v3': mac, 'x-hubspot-request-timestamp': String(NOW) };
      const request = requestOf({ headers, body: Buffer.from('{}'), url: () => url });
      return verifyNow(verification as Scheme, { secret: SECRET }, request).valid;
    };
    expect([validFor(signed), validFor(url)]).to.deep.equal([true, false]);
  });

  it('of Adyen sign eight values of every item', () => {
    const secret = 'ab'.repeat(32);
    const item = {
      ...{ pspReference: 'p1', originalReference: 'o1', merchantAccountCode: 'm1', merchantReference: 'r1' },
      ...{ amount: { value: 1130, currency: 'EUR' }, eventCode: 'CAPTURE', success: 'true' },
    };
    const text = 'p1:o1:m1:r1:1130:EUR:CAPTURE:true';
    const hmacSignature = createHmac('sha256', Buffer.from(secret, 'hex')).update(text).digest('base64');
    const isTaken = (...items: object[]) => {
      const notificationItems = items.map((each) => ({
        NotificationRequestItem: { additionalData: { hmacSignature }, ...each },
      }));
      const body = Buffer.from(JSON.stringify({ notificationItems }));
      return verifyNow({ kind: 'adyen' }, { secret }, requestOf({ body })).valid;
    };
    expect([isTaken(item), isTaken(item, item), isTaken()]).to.deep.equal([true, true, false]);
    const changes = [
      ...[{ pspReference: 'p2' }, { originalReference: 'o2' }, { merchantAccountCode: 'm2' }],
      ...[{ merchantReference: 'r2' }, { eventCode: 'REFUND' }, { success: 'false' }, { success: ['true'] }],
      ...[{ amount: { value: 1131, currency: 'EUR' } }, { amount: { value: 1130, currency: 'USD' } }],
      ...[{ additionalData: {} }, { additionalData: null }],
    ];
    for (const change of changes) {
      expect(isTaken({ ...item, ...change }), JSON.stringify(change)).to.equal(false);
      expect(isTaken(item, { ...item, ...change }), `second ${JSON.stringify(change)}`).to.equal(false);
    }
  });

  it('of Braintree are forms with one payload, which is XML', () => {
    const [publicKey, privateKey] = ['integration_public_key', 'integration_private_key'];
    const digest = createHash('sha1').update(privateKey).digest();
    const macOf = (payload: string) => createHmac('sha1', digest).update(payload).digest('hex');
    const isTaken = (...fields: [string, string][]) =>
      verifyNow(
        { kind: 'braintree' },
        { secret: `${publicKey}:${privateKey}` },
        requestOf({ body: Buffer.from(new URLSearchParams(fields).toString()) }),
      ).valid;
    const payload = Buffer.from('<notification/>').toString('base64');
    const signature: [string, string] = ['bt_signature', `other|00&${publicKey}|${macOf(payload)}`];
    expect(isTaken(signature, ['bt_payload', payload])).to.equal(true);
    // A form loses the line end of a payload on some ways; Braintree's own library takes both.
    const ended: [string, string] = ['bt_signature', `${publicKey}|${macOf(`${payload}\n`)}`];
    expect(isTaken(ended, ['bt_payload', payload])).to.equal(true);
    expect(isTaken(signature, ['bt_payload', payload], ['bt_payload', payload])).to.equal(false);
    expect(isTaken(signature, signature, ['bt_payload', payload])).to.equal(false);
    // What anyone can have signed by asking for the answer to a challenge.
    const challenge = '20f9f8ed05f77439fe955c977e4c8a53';
    expect(isTaken(['bt_signature', `${publicKey}|${macOf(challenge)}`], ['bt_payload', challenge])).to.equal(false);
  });

  it('with a token take one that is signed, meant for them and still good', async () => {
    const body = Buffer.from('{"a":1}');
    const [seconds, url] = [NOW / 1000, 'https://example.com/'];
    const tokenOf = (claims: object, secret = SECRET) => {
      const parts = [{ alg: 'HS256', typ: 'JWT' }, claims].map((part) => Buffer.from(JSON.stringify(part)));
      const signed = parts.map((part) => part.toString('base64url')).join('.');
      return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
    };
    const scheme: Extract<Scheme, { kind: 'jwt' }> = {
      ...{ kind: 'jwt', header: 'X-Token', algorithm: 'HS256', keys: 'secret', toleranceSeconds: 300 },
      ...{ issuers: ['them'], audience: 'required', claims: { team: 'a' } },
    };
    const hashed = { ...scheme, bodyHash: 'hash' };
    const hash = createHash('sha256').update(body).digest('hex');
    const good = { iss: 'them', aud: url, team: 'a', iat: seconds, exp: seconds + 10, hash };
    // The scheme, what the claims are beside the good ones, and why they are refused.
    const rows: [Scheme, claims: object, reason: RegExp | null][] = [
      [scheme, {}, null],
      [scheme, { iat: seconds - 300 }, null],
      [scheme, { iat: seconds - 301 }, /./],
      [scheme, { iat: undefined }, /./],
      [scheme, { exp: seconds - 61 }, /has expired/],
      [scheme, { exp: seconds - 59 }, null],
      [scheme, { exp: undefined }, /does not expire/],
      [scheme, { iss: 'others' }, /different issuer/],
      [scheme, { aud: `${url}2` }, /aud claim is missing or is not the URL/],
      [scheme, { aud: undefined }, /aud claim is missing or is not the URL/],
      [{ ...scheme, audience: 'optional' }, { aud: undefined }, null],
      [{ ...scheme, audience: 'optional' }, { aud: `${url}2` }, /aud claim is missing or is not the URL/],
      [{ ...scheme, audience: { is: 'us' } }, { aud: ['we', 'us'] }, null],
      [{ ...scheme, audience: { is: 'us' } }, {}, /token's aud claim does not include/],
      [scheme, { team: 'b' }, /team claim/],
      [scheme, { team: undefined }, /team claim/],
      [hashed, { exp: undefined }, null],
      [hashed, { hash: hash.replace(/^./, 'x') }, /body does not match/],
      [hashed, { hash: undefined }, /body does not match/],
    ];
    const outcomeOf = (each: Scheme, token: string) =>
      verify(each, { secret: SECRET }, requestOf({ headers: { 'x-token': `Bearer ${token}` }, body }), NO_KEYS);
    for (const [each, claims, reason] of rows) {
      const outcome = await outcomeOf(each, tokenOf({ ...good, ...claims }));
      expect(outcome.valid ? '' : outcome.reason, JSON.stringify(claims)).to.match(reason ?? /^$/);
      // Only a token that names the body tells a repeat, and has the body hashed where it is refused.
      const names = 'bodyHash' in each;
      if (outcome.valid) expect(outcome.mac !== null).to.equal(names);
      else expect(outcome.hashed ?? false).to.equal(names);
    }
    const refusals = [tokenOf(good, 'another secret'), 'no token', tokenOf({ ...good, long: 'x'.repeat(8192) })];
    for (const token of refusals) expect((await outcomeOf(scheme, token)).valid, token.slice(0, 20)).to.equal(false);
  });

  // https://documentation.mailgun.com/docs/mailgun/user-manual/receive-forward-store/receive-http
  it('of Mailgun are forms of either kind and any size, with one proof', async () => {
    const timestamp = String(NOW / 1000);
    const signature = createHmac('sha256', SECRET).update(`${timestamp}t`).digest('hex');
    const proof = Object.entries({ timestamp, token: 't', signature });
    const mail: [string, string][] = [['body-html', `<p>${'é=&+ '.repeat(40_000)}</p>`]];
    const many = Array.from({ length: 1000 }, (_, n): [string, string] => [`field-${n}`, '']);
    const inParts = (fields: [string, string][]) => {
      const form = new FormData();
      for (const [name, value] of fields) form.append(name, value);
      form.append('attachment-1', new File([Buffer.alloc(900_000, 0xff)], 'order.pdf'));
      return form;
    };
    for (const form of [(fields: [string, string][]) => new URLSearchParams(fields), inParts]) {
      const isTaken = async (...fields: [string, string][]) => {
        const sent = new Response(form(fields));
        const headers = { 'content-type': sent.headers.get('content-type') ?? '' };
        const request = requestOf({ headers, body: Buffer.from(await sent.arrayBuffer()) });
        return verifyNow({ kind: 'mailgun' }, { secret: SECRET }, request).valid;
      };
      expect([await isTaken(...mail, ...proof), await isTaken(...proof, ...mail)]).to.deep.equal([true, true]);
      const changed = proof.map(([name, value]): [string, string] => [name, name === 'token' ? 't0' : value]);
      const twice: [string, string][] = [...proof, ['signature', signature]];
      for (const fields of [changed, [], twice, [...proof, ...many]])
        expect(await isTaken(...mail, ...fields)).to.equal(false);
    }
  });

  it('of WebSub are signed with a method of the specification', () => {
    const body = Buffer.from('<feed/>');
    const isTaken = (value: string) =>
      verifyNow({ kind: 'websub' }, { secret: SECRET }, requestOf({ headers: { 'x-hub-signature': value }, body }))
        .valid;
    for (const method of ['sha1', 'sha256', 'sha384', 'sha512']) {
      const mac = createHmac(method, SECRET).update(body).digest('hex');
      expect([isTaken(`${method}=${mac}`), isTaken(mac), isTaken(`${method}=${mac.slice(2)}`)]).to.deep.equal([
        ...[true, false, false],
      ]);
    }
    const weak = createHmac('md5', SECRET).update(body).digest('hex');
    expect(isTaken(`md5=${weak}`)).to.equal(false);
  });

  it('take a token where the sender puts it, and say what else an owner has to know', () => {
    const form = { contentType: 'application/x-www-form-urlencoded', body: Buffer.from('a=1') };
    const json = { contentType: 'application/json', body: Buffer.from('{"a":{"b":1},"list":[{},{"x":1}]}') };
    const empty = { ...form, body: Buffer.alloc(0) };
    const inPath: Scheme = { kind: 'payload-token', path: '$.a.token' };
    // What is sent before it has the token.
    const rows: [Scheme, unsigned: typeof json, secret?: string][] = [
      [{ kind: 'header-token', header: 'X-Token', prefix: 'Bearer ' }, json],
      [{ kind: 'basic' }, json, 'user:password of many letters'],
      [{ kind: 'query-token', parameter: 'token' }, json],
      [{ kind: 'body-token', list: 'list', member: 'clientState' }, json],
      [inPath, json],
      [{ kind: 'payload-token', path: 'token' }, form],
      [{ kind: 'payload-token', path: 'token' }, empty],
    ];
    for (const [scheme, unsigned, secret = SECRET] of rows) {
      const sent = signAs(scheme, secret, { ...unsigned, url: 'https://example.com/', nowMs: NOW, id: 'msg_1' });
      const headers = Object.entries(sent?.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
      const request = requestOf({
        headers: { 'content-type': unsigned.contentType, ...Object.fromEntries(headers) },
        ...{ body: sent?.body ?? Buffer.alloc(0), text: new URLSearchParams(sent?.query).toString() },
      });
      expect(verifyNow(scheme, { secret }, request).valid, scheme.kind).to.equal(true);
      expect(verifyNow(scheme, { secret: `${secret}2` }, request).valid, scheme.kind).to.equal(false);
      expect([isSigned(scheme), needsSecret(scheme), needsPublishedKeys(scheme)]).to.deep.equal([false, true, false]);
    }
    expect([needsSecret({ kind: 'none' }), isSigned({ kind: 'mailgun' })]).to.deep.equal([false, true]);
    const jwt = { kind: 'jwt', header: 'X-Token', toleranceSeconds: 300 } as const;
    const published: [Scheme, boolean][] = [
      [{ ...jwt, algorithm: 'HS256', keys: 'secret' }, false],
      [{ ...jwt, algorithm: 'ES256', keys: 'plaid' }, true],
      [{ ...jwt, algorithm: 'RS256', keys: { jwks: 'https://a.example' } }, true],
      [{ kind: 'sns' }, true],
      [{ kind: 'paypal' }, true],
    ];
    for (const [scheme, needs] of published) expect(needsPublishedKeys(scheme), scheme.kind).to.equal(needs);
    const wrong: [Scheme, good: string, bad: string][] = [
      [{ kind: 'basic' }, 'user:p', 'user:'],
      [{ kind: 'basic' }, 'user:p:q', ':password'],
      [{ kind: 'header-token', header: 'X' }, 'a,b', 'a, b'],
      [{ kind: 'sns' }, 'arn:aws:sns:eu-central-1:123456789012:orders', 'arn:aws:sqs:eu-central-1:123456789012:orders'],
      [{ kind: 'paypal' }, '0'.repeat(16), '0'.repeat(15)],
      [{ kind: 'adyen' }, 'ab'.repeat(16), 'ab'.repeat(15)],
      [{ kind: 'braintree' }, 'integration_public_key:integration_private_key', 'integration_public_key'],
    ];
    for (const [scheme, good, bad] of wrong) {
      expect(secretProblem(scheme, good), good).to.equal(null);
      expect(secretProblem(scheme, bad), bad).to.match(/^must/);
    }
    const large = requestOf({ body: Buffer.alloc(256 * KIBIBYTE + 1, ' ') });
    expect(verifyNow(inPath, { secret: SECRET }, large))
      .to.have.property('reason')
      .that.matches(/larger than/);
  });

  it('take the secret out of what is stored, and nothing else', () => {
    const parts = { headers: { authorization: 'x', 'x-token': 'y', other: 'z' }, queryText: 'token=a&b=%20c' };
    const left = (scheme: Scheme) => withoutToken(scheme, parts);
    expect(left({ kind: 'basic' }).headers).to.deep.equal({ 'x-token': 'y', other: 'z' });
    expect(left({ kind: 'header-token', header: 'X-Token' }).headers).to.deep.equal({ authorization: 'x', other: 'z' });
    expect(left({ kind: 'query-token', parameter: 'token' }).queryText).to.equal('b=%20c');
    expect(left({ kind: 'twilio' })).to.deep.equal(parts);
    const token = { kind: 'jwt', header: 'X-Token', algorithm: 'ES256', keys: 'plaid', toleranceSeconds: 300 } as const;
    expect(left(token).headers).to.deep.equal({ authorization: 'x', other: 'z' });
    expect(left({ ...token, bodyHash: 'request_body_sha256' })).to.deep.equal(parts);
  });
});

it('the secrets of a provider are read as they were sealed, and are in no message when they cannot be read', () => {
  for (const sealed of [{ secret: SECRET }, { secret: SECRET, verifyToken: 'token' }])
    expect(openCredentials(sealedCredentials(sealed))).to.deep.equal(sealed);
  expect(openCredentials(null)).to.deep.equal({ secret: '' });
  for (const text of [SECRET, '{}', 'null'])
    expect(() => openCredentials(text)).to.throw(/^The stored value does not contain/);
});
