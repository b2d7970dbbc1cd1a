// Which keys are believed, and how often a provider is asked for them.
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect } from 'chai';
import { pino } from 'pino';
import { readKeySet } from '../../core/verification/published-keys.ts';
import type { Resolve } from '../../outbound/http/guarded-connect.ts';
import { createSender } from '../../outbound/http/sender.ts';
import { createProviderKeys } from '../../outbound/provider-keys.ts';
import { oddPublicKey } from '../support/attacks/odd-keys.ts';
import {
  googleClaims,
  type PublishedSigner,
  publishedSigners,
  snsCertificateUrl,
  snsMessage,
  tokenOf,
} from '../support/providers/published-signers.ts';
import { until } from '../support/until.ts';
import { ADDRESS, expectAway, expectRefused, useKeyWorld, verifiedAs } from '../support/providers/verified.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const signerOf = (name: string) => publishedSigners[name] as PublishedSigner;
const askerOf = (organization: number, source = 1) => ({
  organizationId: `org_${organization}`,
  sourceId: `src_${organization}_${source}`,
});

describe('Amazon SNS', () => {
  const world = useKeyWorld();
  const signer = signerOf('aws-sns');
  const key = signer.key();
  const secret = signer.secret();
  beforeEach(() => signer.publish(world.server, key));
  const verified = (changes: Record<string, string | undefined> = {}, nowMs = NOW) =>
    verifiedAs('aws-sns', secret, { ...snsMessage({ secret, nowMs }, key, changes), nowMs }, world.keys.of(askerOf(1)));

  it('signs in two versions, with a subject or without, and no other is taken', async () => {
    expect(await verified({ Subject: undefined })).to.include({ valid: true });
    await expectRefused(verified({ Message: undefined }), 'no message');
    for (const SignatureVersion of ['1', '2']) expect(await verified({ SignatureVersion })).to.include({ valid: true });
    for (const SignatureVersion of ['', '0', '3'])
      await expectRefused(verified({ SignatureVersion }), SignatureVersion);
  });

  it('has certificates on the host of the topic, by https, and is asked for no other', async () => {
    const url = snsCertificateUrl(key);
    for (const SigningCertURL of [
      url.replace('https:', 'http:'),
      ...['eu-west-1', 'eu-central-1.evil', 'EU-CENTRAL-1'].map((region) => url.replace('eu-central-1', region)),
      ...['amazonaws.com.evil.example', 'amazonaws.co', 'evil.example'].map((host) =>
        url.replace('amazonaws.com', host),
      ),
      ...['sns.eu-central-1.amazonaws.com@evil.example', 'user@sns.eu-central-1.amazonaws.com'].map((host) =>
        url.replace('sns.eu-central-1.amazonaws.com', host),
      ),
      ...[':8443/', '.:443/', '/../', '/x/', '//'].map((text) => url.replace('.com/', `.com${text}`)),
      ...[`${url}?a=1`, `${url}#a`, `${url} `, ` ${url}`, `${url}.txt`, url.replace('Simple', 'Complex'), '', 'x'],
    ])
      expect(await expectRefused(verified({ SigningCertURL }), SigningCertURL)).to.match(
        /does not belong to Amazon SNS/,
      );
    expect(world.server.asked).to.deep.equal([]);
  });

  it('is believed while its certificate is valid', async () => {
    const [fromMs, toMs] = [NOW - 86_400_000, NOW + 86_400_000];
    const limited = signer.key();
    signer.publish(world.server, limited, { fromMs, toMs });
    const at = (nowMs: number) =>
      verifiedAs('aws-sns', secret, { ...snsMessage({ secret, nowMs }, limited), nowMs }, world.keys.of(askerOf(1)));
    for (const nowMs of [fromMs, NOW, toMs]) expect(await at(nowMs)).to.include({ valid: true });
    for (const nowMs of [fromMs - 1000, toMs + 1000])
      expect(await expectRefused(at(nowMs), String(nowMs))).to.match(/No valid certificate/);
  });

  it('must be of the topic in the header and in the message, before anything is asked', async () => {
    const other = signer.secret();
    const message = snsMessage({ secret, nowMs: NOW }, key, { TopicArn: other });
    const arriving = { ...message, nowMs: NOW };
    await expectRefused(verifiedAs('aws-sns', secret, arriving, world.keys.of(askerOf(1))), 'another in the message');
    await expectRefused(verifiedAs('aws-sns', other, arriving, world.keys.of(askerOf(1))), 'another in the header');
    expect(world.server.asked).to.deep.equal([]);
  });
});

describe('PayPal', () => {
  const world = useKeyWorld();
  it('has certificates at its own addresses, and is asked for no other', async () => {
    const signer = signerOf('paypal');
    const [key, secret] = [signer.key(), signer.secret()];
    signer.publish(world.server, key);
    const sent = signer.sign({ body: Buffer.from('{}'), nowMs: NOW, url: ADDRESS, secret }, key);
    const verified = (headers: Record<string, string>) =>
      verifiedAs('paypal', secret, { ...sent, headers, nowMs: NOW }, world.keys.of(askerOf(1)));
    const url = sent.headers['paypal-cert-url'] ?? '';
    for (const other of [
      url.replace('https', 'http'),
      ...[
        'api.paypal.com.evil.example',
        'evil.example',
        'evil-paypal.com',
        'api.paypal.com:444',
        'a@api.paypal.com',
      ].map((host) => url.replace('api.paypal.com', host)),
      ...[`${url}?a=1`, `${url}#a`, `${url}/..`, `${url}\n`, url.replace('CERT-', 'CERT-../'), 'x'],
    ])
      expect(await expectRefused(verified({ ...sent.headers, 'paypal-cert-url': other }), other)).to.match(
        /does not belong to PayPal/,
      );
    for (const algorithm of ['SHA1withRSA', 'none'])
      await expectRefused(verified({ ...sent.headers, 'paypal-auth-algo': algorithm }), algorithm);
    expect(world.server.asked).to.deep.equal([]);
    expect(await verified(sent.headers)).to.include({ valid: true });
  });
});

describe('tokens of Google', () => {
  const world = useKeyWorld();
  const signer = signerOf('google-pubsub');
  const key = signer.key();
  const secret = signer.secret();
  beforeEach(() => signer.publish(world.server, key));
  const claims = googleClaims({ body: Buffer.alloc(0), nowMs: NOW, url: ADDRESS, secret });
  const header = { alg: 'RS256', kid: key.id, typ: 'JWT' };
  const verified = (token: string) => {
    const arriving = { headers: { authorization: `Bearer ${token}` }, body: Buffer.from('{}'), nowMs: NOW };
    return verifiedAs('google-pubsub', secret, arriving, world.keys.of(askerOf(1)));
  };
  const without = (name: string) => Object.fromEntries(Object.entries(claims).filter(([its]) => its !== name));

  it('are for the address of the source, of its service account, and nothing is asked for others', async () => {
    for (const other of [
      ...[{ ...claims, aud: `${ADDRESS}2` }, { ...claims, aud: [ADDRESS] }, without('aud'), without('iat')],
      ...[
        { ...claims, email: 'other@x.iam.gserviceaccount.com' },
        { ...claims, email_verified: false },
      ],
      ...[{ ...claims, email_verified: 'true' }, without('email_verified'), without('email')],
    ])
      await expectRefused(verified(tokenOf(header, other, key.privateKey)), JSON.stringify(other));
    expect(world.server.asked).to.deep.equal([]);
    expect(await verified(tokenOf(header, claims, key.privateKey))).to.include({ valid: true });
  });

  it('are of its issuer, end, and are signed as Google signs', async () => {
    for (const other of [{ ...claims, iss: 'https://evil.example' }, without('iss'), without('exp')])
      await expectRefused(verified(tokenOf(header, other, key.privateKey)), JSON.stringify(other));
    await expectRefused(verified(tokenOf(header, { ...claims, exp: claims.iat - 61 }, key.privateKey)), 'expired');
    const genuine = tokenOf(header, claims, key.privateKey);
    const [head = '', payload = '', signature = ''] = genuine.split('.');
    const named = (change: object) => Buffer.from(JSON.stringify({ ...header, ...change })).toString('base64url');
    const pem = key.publicKey.export({ format: 'pem', type: 'spki' });
    const byPublicKey = `${named({ alg: 'HS256' })}.${payload}`;
    const mac = createHmac('sha256', pem).update(byPublicKey).digest('base64url');
    for (const other of [
      ...[`${named({ alg: 'none' })}.${payload}.`, `${named({ alg: 'none' })}.${payload}.${signature}`],
      ...[`${byPublicKey}.${mac}`, `${named({ kid: undefined })}.${payload}.${signature}`],
      ...[`${head}.${payload}`, `${head}.${payload}.${signature}.x`, `${head}.e30.${signature}`, head, ''],
      ...[`${head}.${payload}.${'A'.repeat(9000)}`, `${head}.${payload}.${signature.slice(0, -4)}`],
      ...[{ crit: ['b64'], b64: false }, { kid: 'x y' }].map((change) => `${named(change)}.${payload}.${signature}`),
    ])
      await expectRefused(verified(other), other.slice(0, 60));
  });
});

describe('a set of keys', () => {
  const namedKeys: Record<string, KeyObject> = {
    'RSA with 2048 bits': oddPublicKey(2048),
    'RSA with 4096 bits': oddPublicKey(4096),
    'P-256': generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey,
    'RSA with 1024 bits': oddPublicKey(1024),
    'RSA with 4104 bits': oddPublicKey(4104),
    'RSA with a long exponent': oddPublicKey(2048, 2048),
    'P-384': generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).publicKey,
    'another curve of 256 bits': generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey,
    Ed25519: generateKeyPairSync('ed25519').publicKey,
  };

  it('is read without keys of other kinds, and without those that take long to verify with', () => {
    const keys = Object.entries(namedKeys).map(([kid, key]) => ({ ...key.export({ format: 'jwk' }), kid }));
    const read = readKeySet(JSON.stringify({ keys }));
    expect([...(read?.keys() ?? [])]).to.deep.equal(['RSA with 2048 bits', 'RSA with 4096 bits', 'P-256']);
  });
});

describe('keys of Plaid', () => {
  const world = useKeyWorld();
  const signer = signerOf('plaid');
  const [key, secret] = [signer.key(), signer.secret()];
  const verified = (withSecret: string) => {
    const sent = signer.sign({ body: Buffer.from('{}'), nowMs: NOW, url: ADDRESS, secret }, key);
    return verifiedAs('plaid', withSecret, { ...sent, nowMs: NOW }, world.keys.of(askerOf(1)));
  };

  it('are asked for with the credentials of the source, which are told nobody else', async () => {
    signer.publish(world.server, key);
    expect(await verified(secret)).to.include({ valid: true });
    const [, client_id, password] = secret.split(':');
    const { address, method, body } = world.server.asked[0] ?? { address: '', method: '', body: '{}' };
    expect([method, address]).to.deep.equal(['POST', 'production.plaid.com/webhook_verification_key/get']);
    expect(JSON.parse(body)).to.deep.equal({ client_id, secret: password, key_id: key.id });
    const told = await expectAway(verified('production:client-1:wrong'));
    expect(told)
      .to.match(/HTTP 400 response$/)
      .and.not.include('wrong');
  });

  it('are believed until Plaid says that they have ended', async () => {
    const jwk = { ...key.publicKey.export({ format: 'jwk' }), kid: key.id, alg: 'ES256', expired_at: 1560466150 };
    const address = 'production.plaid.com/webhook_verification_key/get';
    world.server.documents.set(address, () => ({ body: JSON.stringify({ key: jwk }) }));
    expect(await expectRefused(verified(secret), 'ended')).to.match(/no suitable key/);
  });
});

describe('providers are asked for keys', () => {
  const world = useKeyWorld(300);
  const [paypal, google] = [signerOf('paypal'), signerOf('google-pubsub')];
  const [paypalKey, googleKey] = [paypal.key(), google.key()];
  const [webhookId, account] = [paypal.secret(), google.secret()];
  const message = { body: Buffer.from('{}'), nowMs: NOW, url: ADDRESS };
  let names = 0;
  const newName = () => {
    names += 1;
    return `N${names}`;
  };

  /** A webhook of PayPal that names a certificate. */
  const ofPaypal = (asker: ReturnType<typeof askerOf>, id: string = newName()) => {
    const sent = paypal.sign({ ...message, secret: webhookId }, { ...paypalKey, id });
    return verifiedAs('paypal', webhookId, { ...sent, nowMs: NOW }, world.keys.of(asker));
  };
  const ofGoogle = (asker: ReturnType<typeof askerOf>, id: string = googleKey.id) => {
    const sent = google.sign({ ...message, secret: account }, { ...googleKey, id });
    return verifiedAs('google-pubsub', account, { ...sent, nowMs: NOW }, world.keys.of(asker));
  };

  it('at most ten times a minute by the webhooks of a source, and the others are not concerned', async () => {
    for (let each = 0; each < 10; each += 1) await expectRefused(ofPaypal(askerOf(1)), `webhook ${each}`);
    expect(await expectAway(ofPaypal(askerOf(1)))).to.match(/Too many requests to senders were made/);
    await expectRefused(ofPaypal(askerOf(1, 2)), 'another source');
    expect(world.server.asked).to.have.length(11);
    world.clock += 60_001;
    await expectRefused(ofPaypal(askerOf(1)), 'the next minute');
  });

  it('at most sixty times a minute by those of an organization, and the others are not concerned', async () => {
    for (let each = 0; each < 60; each += 1) await expectRefused(ofPaypal(askerOf(1, each)), `webhook ${each}`);
    await expectAway(ofPaypal(askerOf(1, 60)));
    await expectRefused(ofPaypal(askerOf(2)), 'another organization');
  });

  it('at most once a second for ids that a set of keys lacks, and by known ids never', async () => {
    google.publish(world.server, googleKey);
    expect(await ofGoogle(askerOf(1))).to.include({ valid: true });
    for (let each = 0; each < 20; each += 1) await expectRefused(ofGoogle(askerOf(1), newName()), 'within a second');
    expect(world.server.asked).to.have.length(1);
    for (let each = 0; each < 10; each += 1) {
      world.clock += 1001;
      await expectRefused(ofGoogle(askerOf(1), newName()), `${each} seconds later`);
    }
    world.clock += 1001;
    await expectAway(ofGoogle(askerOf(1), newName()));
    expect(world.server.asked).to.have.length(11);
    expect(await ofGoogle(askerOf(1))).to.include({ valid: true });
    const rotated = google.key();
    google.publish(world.server, rotated);
    const sent = google.sign({ ...message, secret: account }, rotated);
    const arriving = { ...sent, nowMs: NOW };
    const outcome = await verifiedAs('google-pubsub', account, arriving, world.keys.of(askerOf(2)));
    expect(outcome, 'another organization').to.include({ valid: true });
  });

  it('once by all webhooks that come at the same time', async () => {
    google.publish(world.server, googleKey);
    const outcomes = await Promise.all([1, 2, 3, 4, 5, 6].map((organization) => ofGoogle(askerOf(organization))));
    for (const outcome of outcomes) expect(outcome).to.include({ valid: true });
    expect(world.server.asked).to.have.length(1);
  });

  it('again after an hour, while webhooks continue, so that a key that was withdrawn ends', async () => {
    google.publish(world.server, googleKey);
    expect(await ofGoogle(askerOf(1))).to.include({ valid: true });
    const other = { ...google.key().publicKey.export({ format: 'jwk' }), kid: 'other' };
    const withdrawn = JSON.stringify({ keys: [other] });
    world.server.documents.set('www.googleapis.com/oauth2/v3/certs', () => ({ body: withdrawn }));
    world.clock += 3_600_001;
    expect(await ofGoogle(askerOf(1)), 'while it is asked').to.include({ valid: true });
    await until('the key to end', async () => !(await ofGoogle(askerOf(1))).valid);
    expect(world.server.asked).to.have.length(2);
  });

  it('in turn within an organization, and the others do not wait for a provider that is slow to one', async () => {
    google.publish(world.server, googleKey);
    const slow = Array.from({ length: 20 }, (_none, at) => {
      const name = newName();
      world.server.documents.set(`api.paypal.com/v1/notifications/certs/CERT-${name}`, null);
      return expectAway(ofPaypal(askerOf(1, at), name));
    });
    expect(await expectAway(ofPaypal(askerOf(1, 20)))).to.match(/Too many webhooks are waiting/);
    const isOver = Promise.all(slow).then(() => 'the slow ones were over');
    expect(await Promise.race([isOver, ofGoogle(askerOf(2))])).to.include({ valid: true });
    for (const told of await Promise.all(slow)) expect(told).to.match(/no response$/);
    expect(world.server.asked.filter(({ address }) => address.includes('paypal'))).to.have.length(20);
  });

  it('through the address guard, and what it refuses is not told to strangers', async () => {
    const resolve: Resolve = (_name, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
    const sender = createSender({ allow: [], resolve });
    const keys = createProviderKeys({ sender, log: pino({ level: 'silent' }) });
    const sent = google.sign({ ...message, secret: account }, googleKey);
    const told = await expectAway(verifiedAs('google-pubsub', account, { ...sent, nowMs: NOW }, keys.of(askerOf(1))));
    expect(told).to.match(/from www.googleapis.com: no response$/);
    const address = 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription';
    expect(await expectAway(keys.visit(address, askerOf(1)))).to.match(/could not be confirmed: no response$/);
    await sender.close();
  });
});
