import { expect } from 'chai';
import { verifyWebhook, WebhookVerificationError } from '../../client/index.ts';
import { VERIFICATION_CASES } from '../support/providers/standard-webhooks.ts';

describe('verifyWebhook of the client', () => {
  for (const { what, body, headers, secrets, now, isGood } of VERIFICATION_CASES) {
    it(`${isGood ? 'takes' : 'refuses'} ${what}`, async () => {
      const given = [headers, new Headers(headers)];
      for (const each of given) {
        const verified = verifyWebhook(Buffer.from(body), each, secrets, { nowMs: now * 1000 });
        const outcome: unknown = await verified.catch((error: unknown) => error);
        if (isGood) expect(outcome).to.have.property('id', headers['webhook-id'] ?? headers['Webhook-Id']);
        else expect(outcome).to.be.instanceOf(WebhookVerificationError);
      }
    });
  }

  it('says so when a secret is none', async () => {
    const refused = await verifyWebhook('', {}, 'whsec_???').catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(TypeError);
  });
});
