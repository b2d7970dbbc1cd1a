// Webhooks with signatures that providers, or the tests of their libraries, publish.
import { generateKeyPairSync, sign } from 'node:crypto';
import { expect } from 'chai';
import { verify } from '../../core/verification/index.ts';
import { NO_KEYS } from '../../core/verification/published-keys.ts';
import { type Provider, providerNamed } from '../../providers/index.ts';
import { rawRequest } from '../support/raw-request.ts';

interface Vector {
  provider: string;
  from: string;
  secret: string;
  body: string;
  /** A part of the body that is signed, where not all of it is. */
  signedPart?: string;
  headers: Record<string, string>;
  nowMs: number;
  url?: string;
}

const message = { 'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek', 'webhook-timestamp': '1614265330' };
const FORM = 'application/x-www-form-urlencoded';

const vectors: Vector[] = [
  {
    provider: 'adyen',
    // docs.adyen.com, "Verify HMAC signatures", and the tests of its libraries
    from: 'its documentation',
    secret: '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056',
    body: JSON.stringify({
      live: 'false',
      notificationItems: [
        {
          NotificationRequestItem: {
            additionalData: { hmacSignature: 'coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0=' },
            ...{ amount: { value: 1130, currency: 'EUR' }, pspReference: '7914073381342284', success: 'true' },
            ...{ eventCode: 'AUTHORISATION', eventDate: '2019-05-06T17:15:34.121+02:00', paymentMethod: 'visa' },
            ...{ merchantAccountCode: 'TestMerchant', merchantReference: 'TestPayment-1407325143704' },
          },
        },
      ],
    }),
    headers: {},
    nowMs: 1407325143_000,
    signedPart: '1130',
  },
  {
    provider: 'standard-webhooks',
    from: 'the specification',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    body: '{"test": 2432232314}',
    headers: { ...message, 'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=' },
    nowMs: 1614265330_000,
  },
  {
    provider: 'standard-webhooks',
    // test_asymmetric_key_signing of the server of Svix, whose authors wrote the specification; it has the same
    // signature
    from: "v1a, the tests of Svix's server",
    secret: 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=',
    body: '{"test": 2432232314}',
    headers: {
      ...message,
      'webhook-signature':
        'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==',
    },
    nowMs: 1614265330_000,
  },
  {
    provider: 'coinbase',
    from: "the tests of Hook0's clients",
    secret: 'secret',
    body: 'hello !',
    headers: {
      'x-hook0-signature':
        't=1636936200,h=x-test x-test2,v1=493c35f05443fdb74cb99fd4f00e0e7653c2ab6b24fbc97f4a7bd4d56b31758a',
      'x-test': 'val1',
      'x-test2': 'val2',
    },
    nowMs: 1636936200_000,
  },
  {
    provider: 'dropbox',
    from: 'the tests of hapi-dropbox-webhooks',
    secret: 'the_secret',
    body: '{"delta": {"users": [12345]}}',
    headers: { 'x-dropbox-signature': '0a8c16b085420b960dc78664279fe09e936a2a01b1f91064869d9e77dfd64529' },
    nowMs: 0,
  },
  {
    provider: 'twilio',
    from: "the documentation and the tests of Twilio's libraries",
    secret: '12345',
    body: 'CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212',
    headers: { 'content-type': FORM, 'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' },
    nowMs: 0,
    url: 'https://mycompany.com/myapp.php?foo=1&bar=2',
  },
  {
    provider: 'sendgrid',
    from: "the tests of SendGrid's libraries",
    secret:
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==',
    body: `${JSON.stringify([
      {
        email: 'hello@world.com',
        event: 'dropped',
        reason: 'Bounced Address',
        sg_event_id: 'ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA',
        sg_message_id: 'LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0',
        'smtp-id': '<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>',
        timestamp: 1600112492,
      },
    ])}\r\n`,
    headers: {
      'x-twilio-email-event-webhook-timestamp': '1600112502',
      'x-twilio-email-event-webhook-signature':
        'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=',
    },
    nowMs: 1600112502_000,
  },
];

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
