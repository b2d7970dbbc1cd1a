// What single signature schemes do besides the rules for all (test/support/providers/sender-rules.ts), their settings,
// and the signing of deliveries.
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  publicVerificationConfig,
  type VerificationConfig,
  verificationConfigSchema,
} from '../../core/verification/config.ts';
import { signingSecretProblem, signStandardWebhook } from '../../core/verification/standard-webhooks.ts';
import {
  expectRefused,
  hmacConfig,
  JEFE,
  JEFE_SHA256,
  signatureVectors,
  signedWith,
  slackVector,
  stripeVector,
  verifyAs,
  verifyVector,
} from '../support/providers/signature-vectors.ts';

for (const vector of signatureVectors) {
  const { config, headers, signatureHeader, prefix, isList } = vector;
  const signature = headers[signatureHeader] ?? '';

  describe(`the signature ${vector.name}`, () => {
    it('is taken, and not with another body or secret', () => {
      expect(verifyVector(vector).valid).to.equal(true);
      expectRefused(vector, { body: `${vector.body} ` }, /does not match/);
      const others = { ...config, secret: 'another secret' } as VerificationConfig;
      expectRefused(vector, { config: others }, /does not match/);
    });

    it('is not taken when it is missing, cut short, lengthened or none, or stands behind another prefix', () => {
      for (const sent of [{ headers: {} }, signedWith(vector, '')]) expectRefused(vector, sent, /header is missing/i);
      for (const text of [signature.slice(0, -4), `${signature}00`, `${signature}!`, 'x', '=', ',', 'v1=', 'v0='])
        expectRefused(vector, signedWith(vector, text), /signature|start with|timestamp/i);
      if (prefix === undefined) return;
      for (const other of ['', 'x'.repeat(prefix.length), prefix.toUpperCase()])
        expectRefused(vector, signedWith(vector, other + signature.slice(prefix.length)), /has no signature/);
    });

    // Node joins headers of one name with a comma and a space.
    it(`${isList ? 'may be' : 'is not'} one of several`, () => {
      const wrong = signature.replace(/[0-9a-z](?=.{4}$)/i, (digit) => (digit === '0' ? '1' : '0'));
      for (const twice of [`${signature}, ${signature}`, `${signature}, ${wrong}`, `${wrong}, ${signature}`])
        expect(verifyVector(vector, signedWith(vector, twice)).valid, twice).to.equal(isList ?? false);
    });
  });
}

describe('signed timestamps', () => {
  it('of slack must be there, once, and a number', () => {
    const { 'x-slack-signature': signature = '', 'x-slack-request-timestamp': time = '' } = slackVector.headers;
    expectRefused(slackVector, { headers: { 'x-slack-signature': signature } }, /timestamp is missing/);
    for (const timestamp of ['now', '1531420618.5', '-1', '1e9', `${time}, ${time}`]) {
      const headers = { ...slackVector.headers, 'x-slack-request-timestamp': timestamp };
      expectRefused(slackVector, { headers }, /not a number/);
    }
  });

  it('are good for 300 seconds', () => {
    for (const vector of [slackVector, stripeVector]) {
      for (const sign of [1, -1]) {
        expect(verifyVector(vector, { nowMs: vector.nowMs + sign * 300_000 }).valid).to.equal(true);
        expectRefused(vector, { nowMs: vector.nowMs + sign * 300_001 }, /more than 300 seconds/);
      }
    }
  });
});

describe('stripe signatures', () => {
  const genuine = stripeVector.headers['stripe-signature'] ?? '';

  it('accept any v1 among several', () => {
    const [time, v1] = genuine.split(',');
    for (const text of [`${genuine},v1=potato`, `${time},v1=potato,${v1}`, `${v1},${time}`, `${time}, ${v1}, v0=abc`]) {
      expect(verifyVector(stripeVector, signedWith(stripeVector, text)).valid, text).to.equal(true);
    }
  });

  it('refuse the old scheme v0 alone, even when its digest is right', () => {
    expectRefused(stripeVector, signedWith(stripeVector, genuine.replace('v1=', 'v0=')), /no v1 signature/);
  });

  it('refuse a header without a time', () => {
    expectRefused(stripeVector, signedWith(stripeVector, genuine.replace('t=12345,', '')), /timestamp is missing/);
  });
});

describe('raw bytes', () => {
  it('are what is signed, also when they are no text', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const body = Buffer.from(bytes);
        const signature = createHmac('sha256', 'secret').update(body).digest('hex');
        const headers = { 'x-hub-signature-256': `sha256=${signature}` };
        return verifyAs({ type: 'github', secret: 'secret' }, { headers, body, nowMs: 0 }).valid;
      }),
    );
  });
});

describe('verificationConfig', () => {
  it('of type none accepts everything', () => {
    const request = { headers: {}, body: Buffer.alloc(0), nowMs: 0 };
    expect(verifyAs({ type: 'none' }, request)).to.deep.equal({ valid: true, mac: null });
  });

  it('of type hmac has defaults, and finds its header whatever the case and the name', () => {
    const config = hmacConfig({ secret: JEFE.secret, header: 'Constructor' });
    expect(config).to.deep.include({ algorithm: 'sha256', encoding: 'hex', prefix: '' });
    const request = { body: Buffer.from(JEFE.body), nowMs: 0 };
    expect(verifyAs(config, { ...request, headers: {} }).valid).to.equal(false);
    expect(verifyAs(config, { ...request, headers: { constructor: JEFE_SHA256 } }).valid).to.equal(true);
  });

  // RFC 4231, test case 2, in the alphabet of RFC 4648, section 5, and in that of section 4.
  it('of type hmac takes base64url where that is said, and then nothing else', () => {
    const [url, plain] = [
      'Fkt6e_z4GeLjlfvnO1bgo4e9ZCIugx_WECcM1-olBVSXWL91wFqZSm0DT2X48Ob9yuqxo01Ka0tjbgcKOLznNw',
      'Fkt6e/z4GeLjlfvnO1bgo4e9ZCIugx/WECcM1+olBVSXWL91wFqZSm0DT2X48Ob9yuqxo01Ka0tjbgcKOLznNw==',
    ];
    const config = hmacConfig({ secret: JEFE.secret, algorithm: 'sha512', encoding: 'base64url' });
    const valid = (text: string) =>
      verifyAs(config, { body: Buffer.from(JEFE.body), nowMs: 0, headers: { 'x-signature': text } }).valid;
    expect([valid(url), valid(`${url}==`), valid(plain)]).to.deep.equal([true, true, false]);
  });

  it('is refused when a member is missing or out of range', () => {
    const wrong: object[] = [
      {},
      { type: 'gitlab', secret: 's' },
      { type: 'github' },
      { type: 'slack', secret: '' },
      { type: 'stripe', secret: 5 },
      { type: 'hmac', secret: 's' },
      { type: 'hmac', secret: 's', header: 'not a name' },
      { type: 'hmac', secret: 's', header: 'X-S', algorithm: 'md5' },
      { type: 'hmac', secret: 's', header: 'X-S', encoding: 'base58' },
    ];
    for (const config of wrong) {
      expect(verificationConfigSchema.safeParse(config).success, JSON.stringify(config)).to.equal(false);
    }
  });

  it('is shown without its secret', () => {
    for (const { config } of signatureVectors) expect(publicVerificationConfig(config)).not.to.have.property('secret');
    expect(publicVerificationConfig({ type: 'github', secret: 'abc' })).to.deep.equal({ type: 'github' });
    const shown = { type: 'hmac', header: 'X-Signature', algorithm: 'sha256', encoding: 'hex', prefix: 'v1=' };
    expect(publicVerificationConfig(hmacConfig({ secret: 'abc', prefix: 'v1=' }))).to.deep.equal(shown);
  });
});

describe('Standard Webhooks', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

  it("signs as the specification's example", () => {
    const headers = signStandardWebhook({
      secrets: [secret],
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestampSeconds: 1614265330,
      body: Buffer.from('{"test": 2432232314}'),
    });
    expect(headers).to.deep.equal({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('takes keys of 24 to 64 bytes in base64 after whsec_', () => {
    const keyOf = (bytes: number): string => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;
    for (const good of [secret, keyOf(24), keyOf(64)]) expect(signingSecretProblem(good), good).to.equal(null);
    for (const bad of ['', 'whsec_', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_not base64!', keyOf(23), keyOf(65)]) {
      expect(signingSecretProblem(bad), bad).to.match(/^must /);
    }
  });

  it('refuses to sign with what is no secret', () => {
    const sign = (): unknown =>
      signStandardWebhook({ secrets: ['x'], id: 'm', timestampSeconds: 1, body: Buffer.alloc(0) });
    expect(sign).to.throw(TypeError, /whsec_/);
  });
});
