import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  publicVerificationConfig,
  slackChallenge,
  type VerificationConfig,
  verificationConfigSchema,
  verifySignature,
} from '../../core/signatures/index.ts';
import { signingSecretProblem, signStandardWebhook } from '../../core/signatures/standard-webhooks.ts';

type Case = {
  name: string;
  config: VerificationConfig;
  body: string;
  nowMs: number;
  /** The genuine headers, lowercase. */
  headers: Record<string, string>;
  signatureHeader: string;
};

const hmacConfig = (fields: object): VerificationConfig =>
  verificationConfigSchema.parse({ type: 'hmac', header: 'X-Signature', ...fields });

// RFC 4231, test case 2, and RFC 2202, test case 2.
const JEFE = { secret: 'Jefe', body: 'what do ya want for nothing?' };
const JEFE_SHA256 = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
const JEFE_SHA1 = 'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79';
const JEFE_SHA512 =
  '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554' +
  '9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737';

const SLACK_BODY =
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V' +
  '&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=' +
  '&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
  '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';

function jefe(algorithm: string, encoding: 'hex' | 'base64', prefix: string, hex: string): Case {
  const signature = prefix + Buffer.from(hex, 'hex').toString(encoding);
  return {
    name: `hmac ${algorithm} ${encoding}${prefix && ` with prefix ${prefix}`} (RFC 4231 and 2202, test case 2)`,
    config: hmacConfig({ secret: JEFE.secret, algorithm, encoding, prefix }),
    body: JEFE.body,
    nowMs: 0,
    headers: { 'x-signature': signature },
    signatureHeader: 'x-signature',
  };
}

const cases: Case[] = [
  {
    name: "github (GitHub's documentation)",
    config: { type: 'github', secret: "It's a Secret to Everybody" },
    body: 'Hello, World!',
    nowMs: 0,
    headers: { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
    signatureHeader: 'x-hub-signature-256',
  },
  {
    name: "stripe (the test data of Stripe's libraries)",
    config: { type: 'stripe', secret: 'whsec_test_secret' },
    body: JSON.stringify({ id: 'evt_test_webhook', object: 'event' }, null, 2),
    nowMs: 12345_000,
    headers: {
      'stripe-signature': 't=12345,v1=2672d138c9a412830f3bfe2ecc5bfb3277cf6f5b49d0119d77dd6cb64da1257e',
    },
    signatureHeader: 'stripe-signature',
  },
  {
    name: "slack (Slack's documentation)",
    config: { type: 'slack', secret: '8f742231b10e8888abcd99yyyzzz85a5' },
    body: SLACK_BODY,
    nowMs: 1531420618_000,
    headers: {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    signatureHeader: 'x-slack-signature',
  },
  jefe('sha256', 'hex', '', JEFE_SHA256),
  jefe('sha256', 'hex', 'sha256=', JEFE_SHA256),
  jefe('sha256', 'base64', '', JEFE_SHA256),
  jefe('sha1', 'hex', 'sha1=', JEFE_SHA1),
  jefe('sha1', 'base64', '', JEFE_SHA1),
  jefe('sha512', 'hex', '', JEFE_SHA512),
  jefe('sha512', 'base64', 'v1,', JEFE_SHA512),
];

const verify = (c: Case, change: Partial<Case> = {}) => {
  const { config, body, headers, nowMs } = { ...c, ...change };
  return verifySignature(config, { headers, body: Buffer.from(body), nowMs });
};

const refused = (c: Case, change: Partial<Case>, reason: RegExp): void => {
  const result = verify(c, change);
  expect(result.valid).to.equal(false);
  if (!result.valid) expect(result.reason).to.match(reason);
};

for (const c of cases) {
  describe(`signature scheme ${c.name}`, () => {
    const signature = c.headers[c.signatureHeader] ?? '';
    const with_ = (text: string): Partial<Case> => ({ headers: { ...c.headers, [c.signatureHeader]: text } });

    it('accepts the genuine request', () => {
      expect(verify(c)).to.deep.equal({ valid: true });
    });

    it('refuses a changed body', () => {
      refused(c, { body: `${c.body} ` }, /does not match/);
    });

    it('refuses another secret', () => {
      refused(c, { config: { ...c.config, secret: 'another secret' } as VerificationConfig }, /does not match/);
    });

    it('refuses a missing or empty header', () => {
      refused(c, { headers: {} }, /header .* is missing/i);
      refused(c, with_(''), /header .* is missing/i);
    });

    it('refuses a signature that is cut short, lengthened, or no signature at all', () => {
      for (const text of [signature.slice(0, -4), `${signature}00`, `${signature}!`, 'x', '=', ',', 'v1=', 'v0=']) {
        refused(c, with_(text), /signature|start with|timestamp/i);
      }
    });

    it('refuses a signature with any character of the digest changed', () => {
      for (let i = 1; i <= 20; i += 1) {
        const at = signature.length - 3 - i;
        const other = signature[at] === '0' ? '1' : '0';
        refused(c, with_(signature.slice(0, at) + other + signature.slice(at + 1)), /does not match/);
      }
    });

    const prefix = /^(?:sha(?:1|256)=|v0=|v1,)/.exec(signature)?.[0];
    if (prefix !== undefined) {
      it(`refuses the right digest behind anything but ${prefix}`, () => {
        const digest = signature.slice(prefix.length);
        for (const other of ['', 'x'.repeat(prefix.length), prefix.toUpperCase()]) {
          refused(c, with_(other + digest), /does not start with/);
        }
      });
    }

    it('never throws on what strangers send', () => {
      fc.assert(fc.property(fc.string(), fc.string(), (text, body) => !verify(c, { ...with_(text), body }).valid));
    });
  });
}

describe('signed timestamps', () => {
  for (const name of ['stripe', 'slack']) {
    const c = cases.find((each) => each.config.type === name) as Case;
    it(`of ${name} may be 300 seconds from now and no more`, () => {
      for (const seconds of [300, -300]) expect(verify(c, { nowMs: c.nowMs + seconds * 1000 }).valid).to.equal(true);
      for (const ms of [300_001, -300_001]) refused(c, { nowMs: c.nowMs + ms }, /more than 300 seconds/);
    });
  }

  it('of slack must be there and a number', () => {
    const c = cases.find((each) => each.config.type === 'slack') as Case;
    const { 'x-slack-signature': signature = '' } = c.headers;
    refused(c, { headers: { 'x-slack-signature': signature } }, /timestamp is missing/);
    for (const timestamp of ['now', '1531420618.5', '-1', '1e9']) {
      refused(c, { headers: { ...c.headers, 'x-slack-request-timestamp': timestamp } }, /not a number/);
    }
  });
});

describe('stripe signatures', () => {
  const c = cases.find((each) => each.config.type === 'stripe') as Case;
  const genuine = c.headers['stripe-signature'] ?? '';
  const with_ = (text: string): Partial<Case> => ({ headers: { 'stripe-signature': text } });

  it('accept any v1 among several', () => {
    const [time, v1] = genuine.split(',');
    for (const text of [`${genuine},v1=potato`, `${time},v1=potato,${v1}`, `${v1},${time}`, `${time}, ${v1}, v0=abc`]) {
      expect(verify(c, with_(text)), text).to.deep.equal({ valid: true });
    }
  });

  it('refuse the old scheme v0 alone, even when its digest is right', () => {
    refused(c, with_(genuine.replace('v1=', 'v0=')), /no v1 signature/);
  });

  it('refuse a header without a time', () => {
    refused(c, with_(genuine.replace('t=12345,', '')), /timestamp is missing/);
  });
});

describe('raw bytes', () => {
  it('are what is signed, also when they are no text', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const body = Buffer.from(bytes);
        const signature = createHmac('sha256', 'secret').update(body).digest('hex');
        const headers = { 'x-hub-signature-256': `sha256=${signature}` };
        return verifySignature({ type: 'github', secret: 'secret' }, { headers, body, nowMs: 0 }).valid;
      }),
    );
  });
});

describe('verificationConfig', () => {
  it('of type none accepts everything', () => {
    const config = verificationConfigSchema.parse({ type: 'none' });
    expect(verifySignature(config, { headers: {}, body: Buffer.alloc(0), nowMs: 0 })).to.deep.equal({ valid: true });
  });

  it('of type hmac has defaults, and finds its header whatever the case and the name', () => {
    const config = hmacConfig({ secret: JEFE.secret, header: 'Constructor' });
    expect(config).to.deep.include({ algorithm: 'sha256', encoding: 'hex', prefix: '' });
    const request = { body: Buffer.from(JEFE.body), nowMs: 0 };
    expect(verifySignature(config, { ...request, headers: {} }).valid).to.equal(false);
    expect(verifySignature(config, { ...request, headers: { constructor: JEFE_SHA256 } }).valid).to.equal(true);
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
    for (const { config } of cases) expect(publicVerificationConfig(config)).not.to.have.property('secret');
    expect(publicVerificationConfig({ type: 'github', secret: 'abc' })).to.deep.equal({ type: 'github' });
    expect(publicVerificationConfig(hmacConfig({ secret: 'abc', prefix: 'v1=' }))).to.deep.equal({
      type: 'hmac',
      header: 'X-Signature',
      algorithm: 'sha256',
      encoding: 'hex',
      prefix: 'v1=',
    });
  });
});

describe('slackChallenge', () => {
  it('is found in the url_verification event alone', () => {
    const body = { token: 'Jhj5dZrVaK7ZwHHjRyZWjbDl', challenge: '3eZbrw1aBm2rZgRNFdxV2595', type: 'url_verification' };
    expect(slackChallenge(Buffer.from(JSON.stringify(body)))).to.equal('3eZbrw1aBm2rZgRNFdxV2595');
    for (const text of ['', '{', 'url_verification', '{"type":"url_verification"}', '{"type":"event_callback"}']) {
      expect(slackChallenge(Buffer.from(text)), text).to.equal(null);
    }
  });
});

describe('Standard Webhooks', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

  it("signs as the specification's example", () => {
    const headers = signStandardWebhook({
      secret,
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
      signStandardWebhook({ secret: 'x', id: 'm', timestampSeconds: 1, body: Buffer.alloc(0) });
    expect(sign).to.throw(TypeError, /whsec_/);
  });
});
