// Webhooks with signatures that providers, or the tests of their libraries, publish.
import { generateKeyPairSync, sign } from 'node:crypto';
import { expect } from 'chai';
import { verify } from '../../core/verification/index.ts';
import { NO_KEYS } from '../../core/verification/published-keys.ts';
import { type Provider, providerNamed } from '../../providers/index.ts';
import { type Vector, vectors } from '../support/providers/provider-vectors.ts';
import { rawRequest } from '../support/raw-request.ts';
import { stripeVector } from '../support/providers/signature-vectors.ts';

function verified({ provider, secret, body, headers, nowMs, url = 'https://example.com/' }: Vector) {
  const [address = '', query = ''] = url.split('?');
  const request = rawRequest({ headers, body: Buffer.from(body), nowMs, address, query });
  return verify((providerNamed(provider) as Provider).verification, { secret }, request, NO_KEYS);
}

describe('published signatures', () => {
  for (const vector of vectors) {
    it(`of ${vector.provider} are right (${vector.from})`, async () => {
      expect(await verified(vector)).to.deep.include({ valid: true });
      const { body, signedPart } = vector;
      const changed = signedPart === undefined ? `${body} ` : body.replace(signedPart, `${signedPart}1`);
      expect(await verified({ ...vector, body: changed })).to.deep.include({ valid: false });
    });
  }
});

describe('signatures v1a of Standard Webhooks', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const secret = `whpk_${publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')}`;
  const body = '{"order":1}';
  const signature = sign(null, Buffer.from(`msg_1.1614265330.${body}`), privateKey).toString('base64');
  const vector = (text: string): Vector => ({
    ...{ provider: 'standard-webhooks', from: '', secret, body, nowMs: 1614265330_000 },
    headers: { 'webhook-id': 'msg_1', 'webhook-timestamp': '1614265330', 'webhook-signature': text },
  });

  it('are verified with the public key, among others too', async () => {
    for (const text of [`v1a,${signature}`, `v1,AAAA v1a,${signature}`]) {
      expect(await verified(vector(text)), text).to.deep.include({ valid: true });
    }
  });

  it('are refused of another body, as v1, and behind so many that trying them would take long', async () => {
    expect((await verified({ ...vector(`v1a,${signature}`), body: '{"order":2}' })).valid).to.equal(false);
    expect((await verified(vector(`v1,${signature}`))).valid).to.equal(false);
    const wrong = `v1a,${Buffer.alloc(64).toString('base64')} `;
    expect((await verified(vector(`${wrong.repeat(4)}v1a,${signature}`))).valid).to.equal(false);
  });
});

describe('PagerDuty and Stripe during a rotation', () => {
  it('send several signatures, of which one is enough', async () => {
    const right = stripeVector.headers['stripe-signature'] ?? '';
    const [t, v1] = right.split(',');
    const stripe = vectors.find(({ provider }) => provider === 'stripe') as Vector;
    const both = { ...stripe, headers: { 'stripe-signature': `${t},v1=${'0'.repeat(64)},${v1}` } };
    expect(await verified(both)).to.deep.include({ valid: true });
    expect((await verified({ ...stripe, headers: { 'stripe-signature': `${t},${right}` } })).valid).to.equal(false);
  });
});
