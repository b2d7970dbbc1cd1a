// What the packages of providers say of webhooks, beside what we say: genuine ones are taken by both, changed ones by
// none.
import { expect } from 'chai';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { mock } from 'node:test';
import { NO_KEYS, type PublishedKeys } from '../../core/verification/published-keys.ts';
import { type Provider, providerNamed } from '../../providers/index.ts';
import { sampleOf } from '../../providers/sample.ts';
import { signers } from '../support/providers/provider-signers.ts';
import { type PublishedSigner, publishedSigners } from '../support/providers/published-signers.ts';
import { MessageValidator, Paddle, verifyKey } from '../support/providers/provider-packages.ts';
import { ADDRESS, useKeyWorld, verifiedAs } from '../support/providers/verified.ts';

interface Received {
  headers: Record<string, string>;
  body: Buffer;
  /** As the owner of the source enters it. */
  secret: string;
}

interface SecondVerifier {
  /** The package. */
  by: string;
  /** Times are compared with that of this machine. It may throw instead of saying no. */
  accepts: (received: Received) => boolean | Promise<boolean>;
}

const secondVerifiers: Record<string, SecondVerifier> = {
  'aws-sns': {
    by: 'sns-validator',
    accepts: ({ body }) =>
      new Promise((resolve) => {
        new MessageValidator().validate(body.toString(), (error) => resolve(error === null));
      }),
  },
  discord: {
    by: 'discord-interactions',
    accepts: ({ headers, body, secret }) =>
      verifyKey(body, headers['x-signature-ed25519'] ?? '', headers['x-signature-timestamp'] ?? '', secret),
  },
  paddle: {
    by: '@paddle/paddle-node-sdk',
    accepts: ({ headers, body, secret }) =>
      new Paddle('unused').webhooks.isSignatureValid(body.toString(), secret, headers['paddle-signature'] ?? ''),
  },
};

/** What both say of a webhook that comes now. */
async function opinions(name: string, received: Received, keys: PublishedKeys = NO_KEYS) {
  const { accepts } = secondVerifiers[name] as SecondVerifier;
  const { headers, body, secret } = received;
  const asked = async () => accepts(received);
  return {
    theirs: await asked().catch(() => false),
    ours: (await verifiedAs(name, secret, { headers, body, nowMs: Date.now() }, keys)).valid,
  };
}
const TAKEN = { theirs: true, ours: true };
const REFUSED = { theirs: false, ours: false };

describe('packages of providers verify', () => {
  for (const [name, { by }] of Object.entries(secondVerifiers)) {
    const signer = signers[name];
    if (signer === undefined) continue;
    it(`webhooks of ${name} as we do (${by})`, async () => {
      const { secret, key } = signer.secret();
      const now = new Date();
      const sample = sampleOf(providerNamed(name) as Provider, undefined, now)?.body as Buffer;
      const { headers, body = sample } = await signer.sign({ body: sample, nowMs: now.getTime(), url: ADDRESS }, key);
      expect(await opinions(name, { headers, body, secret })).to.deep.equal(TAKEN);
      const changed = [Buffer.from(body.toString().replace('e', 'f')), Buffer.concat([body, Buffer.from(' ')])];
      for (const [at, other] of changed.entries())
        expect(await opinions(name, { headers, body: other, secret }), `change ${at}`).to.deep.equal(REFUSED);
      const another = { headers, body, secret: signer.secret().secret };
      expect(await opinions(name, another), 'another secret').to.deep.equal(REFUSED);
    });
  }
});

describe('packages of providers that fetch keys verify', () => {
  const world = useKeyWorld();
  // The package asks Amazon by itself: it gets what the server in its place has.
  before(() => {
    mock.method(https, 'get', (address: string, answered: (response: IncomingMessage) => void) =>
      http.get(`${world.server.url}/${address.slice('https://'.length)}`, answered),
    );
  });
  after(() => mock.restoreAll());

  it('messages of aws-sns as we do (sns-validator)', async () => {
    const signer = publishedSigners['aws-sns'] as PublishedSigner;
    const [key, secret] = [signer.key(), signer.secret()];
    signer.publish(world.server, key);
    const keys = world.keys.of({ organizationId: 'org_1', sourceId: 'src_1' });
    const { headers, body } = signer.sign({ body: Buffer.alloc(0), nowMs: Date.now(), url: ADDRESS, secret }, key);
    expect(await opinions('aws-sns', { headers, body, secret }, keys)).to.deep.equal(TAKEN);
    for (const [at, changed] of (signer.changed?.(body) ?? []).entries())
      expect(await opinions('aws-sns', { headers, body: changed, secret }, keys), `change ${at}`).to.deep.equal(
        REFUSED,
      );
  });
});
