// What every scheme must do that an owner can describe: genuine webhooks are taken, and nothing else. The signer of
// each row is written apart from the scheme (test/support/providers/described-signers.ts).
import { expect } from 'chai';
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import {
  describedScheme,
  publicVerificationConfig,
  VERIFICATION_TYPES,
  verificationConfigSchema,
} from '../../core/verification/config.ts';
import { needsSecret, type Scheme, secretHeaders, verify } from '../../core/verification/index.ts';
import { NO_KEYS } from '../../core/verification/published-keys.ts';
import type { Json } from '../support/api-client.ts';
import { describedSigners, JWKS_ADDRESS, keySetOf, publishedToken } from '../support/providers/described-signers.ts';
import { oddPublicKey } from '../support/attacks/odd-keys.ts';
import { NOW, testSender } from '../support/providers/sender-rules.ts';
import { rawRequest } from '../support/raw-request.ts';
import { ADDRESS, useKeyWorld } from '../support/providers/verified.ts';

const BODY = Buffer.from('{"order":{"id":1042},"note":"a \u00e9"}');
const ASKER = { organizationId: 'org_1', sourceId: 'src_1' };

/** The scheme of a config, as it is stored: without its secret. */
function schemeOf(config: Json, secret: string | undefined): Scheme {
  const parsed = verificationConfigSchema.parse({ ...config, ...(secret !== undefined && { secret }) });
  const stored = JSON.parse(JSON.stringify(publicVerificationConfig(parsed))) as { type: string };
  expect(stored).not.to.have.property('secret');
  const scheme = describedScheme(stored);
  if (scheme === null) throw new Error('it is no described type');
  return scheme;
}

it('every type has a signer here, but those of providers and the one that verifies nothing', () => {
  const tried = Object.values(describedSigners).map(({ config }) => config.type);
  const others = ['github', 'stripe', 'slack', 'hmac', 'none'];
  expect([...new Set([...tried, ...others])].toSorted()).to.deep.equal(VERIFICATION_TYPES.toSorted());
});

for (const [name, signer] of Object.entries(describedSigners)) {
  describe(`${signer.config.type}: ${name}`, () => {
    const own = signer.secret();
    const scheme = schemeOf(signer.config, own.secret);
    const world = useKeyWorld();
    beforeEach(() => {
      if (own.secret === undefined)
        world.server.documents.set(JWKS_ADDRESS, () => ({ body: keySetOf(createPublicKey(own.key as KeyObject)) }));
    });

    testSender({
      ...signer,
      ...{ scheme, own, other: signer.secret(), body: BODY },
      headersOf: () => signer.headers,
      keys: () => world.keys.of(ASKER),
    });

    it('need a secret where one is shared, and name the headers that are not shown', () => {
      expect(needsSecret(scheme)).to.equal(own.secret !== undefined);
      const shown = signer.headers.filter((its) => /signature|mac|token/.test(its));
      expect(secretHeaders(scheme)).to.include.members(shown);
    });
  });
}

describe('a JSON Web Token by a published key', () => {
  const signer = describedSigners['a JSON Web Token by a published key'] as (typeof describedSigners)[string];
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const scheme = schemeOf(signer.config, undefined);
  const world = useKeyWorld();
  beforeEach(() => world.server.documents.set(JWKS_ADDRESS, () => ({ body: keySetOf(publicKey) })));

  const valid = async (changes: object) => {
    const token = publishedToken({ nowMs: NOW }, privateKey, changes);
    const headers = { authorization: `Bearer ${token}` };
    const request = rawRequest({ headers, body: BODY, nowMs: NOW, address: ADDRESS });
    return (await verify(scheme, { secret: '' }, request, world.keys.of(ASKER))).valid;
  };

  it('must be of the issuer, for the audience, with the claims, and must end', async () => {
    expect(await valid({})).to.equal(true);
    expect(await valid({ aud: 'urn:shop' })).to.equal(true);
    const changes = [
      ...['urn:other', undefined, []].map((aud) => ({ aud })),
      ...['two', undefined, ['one']].map((shop) => ({ shop })),
      ...[{ iss: 'https://issuer.example.org' }, { exp: undefined }, { exp: NOW / 1000 - 61 }, { iat: undefined }],
    ];
    for (const change of changes) expect(await valid(change), JSON.stringify(change)).to.equal(false);
  });

  it('makes this service ask for keys once, and never for a token of others', async () => {
    await valid({ aud: 'urn:other' });
    expect(world.server.asked).to.deep.equal([]);
    await valid({});
    await valid({});
    expect(world.server.asked.map(({ address }) => address)).to.deep.equal([JWKS_ADDRESS]);
  });
});

describe('signatures by a private key', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const secret = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const scheme = schemeOf({ type: 'public_key', algorithm: 'ed25519', header: 'X-Sig', listSeparator: ' ' }, secret);
  const LARGE = Buffer.alloc(256 * 1024 + 1, 'x');

  /** @param place of the right signature among others, from 0 */
  const verified = (body: Buffer, place: number) => {
    const right = sign(null, body, privateKey).toString('base64');
    const wrong = sign(null, Buffer.from('other'), privateKey).toString('base64');
    const headers = { 'x-sig': [...Array<string>(place).fill(wrong), right].join(' ') };
    return verify(scheme, { secret }, rawRequest({ headers, body, nowMs: NOW }), NO_KEYS);
  };
  const isTaken = async (body: Buffer, place: number) => (await verified(body, place)).valid;

  it('of a large body are fewer that are tried', async () => {
    expect(await Promise.all([3, 4].map((place) => isTaken(BODY, place)))).to.deep.equal([true, false]);
    expect(await Promise.all([1, 2].map((place) => isTaken(LARGE, place)))).to.deep.equal([true, false]);
  });

  it('of a large body are not verified in the turn in which it came, so that others are served', async () => {
    let isVerified = false;
    const verifying = isTaken(LARGE, 0).then((taken) => (isVerified = taken));
    // What needs no other turn of the event loop is done after so many steps.
    for (let step = 0; step < 1000; step += 1) await Promise.resolve();
    expect(isVerified).to.equal(false);
    expect(await verifying).to.equal(true);
  });
});

describe('what an owner describes', () => {
  const secret = 'a secret of many letters';
  const problemOf = (config: Json): string => {
    const parsed = verificationConfigSchema.safeParse(config);
    const issue = parsed.error?.issues[0];
    return issue ? `${issue.path.join('.')} ${issue.message}` : 'accepted';
  };
  const template = (fields: Json) => problemOf({ type: 'hmac_template', secret, header: 'X-Mac', ...fields });

  it('has defaults: the HMAC of the body by SHA-256, in hex', () => {
    const parsed = verificationConfigSchema.parse({ type: 'hmac_template', secret, header: 'X-Mac' });
    expect(parsed).to.deep.equal({
      ...{ type: 'hmac_template', secret, header: 'X-Mac', secretEncoding: 'text', algorithm: 'sha256' },
      ...{ encoding: 'hex', prefix: '', partSeparator: ',', timestampUnit: 's', toleranceSeconds: 300 },
      template: '{body}',
    });
  });

  it('must be a template that can be checked', () => {
    const inParts = { signaturePart: 'v1', template: '{timestamp}{body}' };
    const refused: [Json, RegExp][] = [
      [{ template: '{timestamp}.{id}' }, /^template must contain \{body\}/],
      [{ template: '{body}{body}' }, /^template must contain \{body\} only once/],
      [{ template: '{url}{body}{url}' }, /^template must contain \{url\} only once/],
      [{ template: '{id}{body}{id}', idHeader: 'X-Id' }, /^template must contain \{id\} only once/],
      [{ template: '{Body}' }, /^template must not contain placeholders other than/],
      [{ template: '{body}}' }, /^template must not contain placeholders/],
      [{ template: '{timestamp}.{body}' }, /^timestampHeader is required/],
      [{ timestampHeader: 'X-Time' }, /^template must contain \{timestamp\}/],
      [{ idHeader: 'X-Id' }, /^idHeader is required if the template contains \{id\}/],
      [{ template: '{id}{body}' }, /^idHeader is required if the template contains \{id\}/],
      [{ timestampPart: 't', template: '{timestamp}{body}' }, /^signaturePart is required/],
      [{ signaturePart: 'v1', prefix: 'v1=' }, /^signaturePart cannot be combined/],
      [{ ...inParts, timestampPart: 't', timestampHeader: 'T' }, /^timestampPart/],
      [{ signaturePart: 'v=1' }, /^signaturePart must be the name/],
      [{ listSeparator: ', ' }, /^listSeparator must not contain/],
      [{ toleranceSeconds: 0 }, /^toleranceSeconds/],
      [{ toleranceSeconds: 86_401 }, /^toleranceSeconds/],
      [{ secretEncoding: 'hex' }, /^secret must be hex/],
      [{ secretEncoding: 'base64' }, /^secret must be base64/],
      [{ encoding: 'base58' }, /^encoding/],
      [{ algorithm: 'md5' }, /^algorithm/],
      [{ header: 'not a name' }, /^header/],
      [{ template: `{body}${'x'.repeat(1024)}` }, /^template must be at most/],
    ];
    for (const [fields, problem] of refused) expect(template(fields), JSON.stringify(fields)).to.match(problem);
    expect(template({ template: '{method} {url} {body}' })).to.equal('accepted');
  });

  it('must have a secret of its form', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'pem', type: 'spki' });
    const key = (algorithm: string, its: string) =>
      problemOf({ type: 'public_key', algorithm, header: 'X-Sig', secret: its });
    expect(key('ecdsa', secret)).to.match(/^secret must be a P-256 public key/);
    expect(key('ed25519', secret)).to.match(/^secret must be an Ed25519 public key/);
    expect(key('rsa', String(small))).to.match(/^secret must be an RSA public key/);
    const spki = (its: KeyObject) => its.export({ format: 'der', type: 'spki' }).toString('base64');
    const rsa = (...bits: Parameters<typeof oddPublicKey>) => key('rsa', spki(oddPublicKey(...bits)));
    expect(rsa(4096)).to.equal('accepted');
    expect([rsa(4104), rsa(2048, 24)], 'takes long to verify').to.deep.equal([
      ...Array<string>(2).fill('secret must be an RSA public key of 2048 to 4096 bits, as PEM or as SPKI in base64'),
    ]);
    for (const namedCurve of ['secp384r1', 'secp256k1'])
      expect(key('ecdsa', spki(generateKeyPairSync('ec', { namedCurve }).publicKey))).to.match(/^secret must be/);
    expect(key('ed25519', spki(generateKeyPairSync('ed448').publicKey))).to.match(/^secret must be/);
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    expect(key('ecdsa', pem), 'a private key').to.match(/^secret must be a P-256 public key/);
    const token = { type: 'header_token', header: 'X-T', secret };
    const rows: [Json, RegExp][] = [
      [{ type: 'basic', secret: 'no colon in this one' }, /^secret must be the user/],
      [{ ...token, secret: `${secret}, more` }, /^secret must not contain/],
      [{ ...token, header: 'Content-Type' }, /^header must not be Content-Type/],
      [{ ...token, secret: '' }, /^secret must not be empty/],
      [{ type: 'query_token', secret }, /^parameter/],
      ...['', '$', 'a[*]', 'a..b'].map((path): [Json, RegExp] => [
        { type: 'body_token', path, secret },
        /^path must be the path to a single value/,
      ]),
    ];
    for (const [config, problem] of rows) expect(problemOf(config), JSON.stringify(config)).to.match(problem);
    for (const type of VERIFICATION_TYPES.filter((its) => its !== 'none'))
      expect(problemOf({ type }), type).to.not.equal('accepted');
  });

  it('must say whose tokens are taken', () => {
    const jwt = (fields: Json) => problemOf({ type: 'jwt', ...fields });
    const jwksUrl = 'https://issuer.example.com/keys';
    const noUrls = ['http://issuer.example.com', 'https://a:b@issuer.example.com', 'https://x/#a', 'x', 'file:///etc'];
    const rows: [Json, RegExp][] = [
      [{ audience: 'a' }, /^jwksUrl is required with RS256/],
      [{ jwksUrl }, /^audience or claims is required/],
      [{ jwksUrl, claims: {} }, /^audience or claims is required/],
      [{ jwksUrl, audience: 'a', secret }, /^secret must be omitted/],
      [{ algorithm: 'HS256' }, /^secret is required/],
      [{ algorithm: 'HS256', secret, jwksUrl }, /^jwksUrl must be omitted/],
      [{ algorithm: 'none', secret }, /^algorithm/],
      ...noUrls.map((url): [Json, RegExp] => [{ jwksUrl: url, audience: 'a' }, /^jwksUrl must be an https:\/\/ URL/]),
      [{ jwksUrl, audience: 'a' }, /^accepted$/],
      [{ jwksUrl, claims: { sub: 'a' } }, /^accepted$/],
      [{ algorithm: 'HS256', secret }, /^accepted$/],
    ];
    for (const [fields, problem] of rows) expect(jwt(fields), JSON.stringify(fields)).to.match(problem);
  });
});
