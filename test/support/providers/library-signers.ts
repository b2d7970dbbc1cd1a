// The signers of providers whose own packages sign.
import { randomBytes, randomUUID } from 'node:crypto';
import { sign as signGithub } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { braintree, Stripe, SvixWebhook, twilio } from './provider-packages.ts';
import { type Signer, shared, sharedAs } from './signer.ts';

/** Standard Webhooks, by the library of the specification, or by that of Svix for those that send with it. */
function standard(by: 'standardwebhooks' | 'svix'): Signer {
  const [Webhook, prefix] = by === 'svix' ? [SvixWebhook, 'svix-'] : [StandardWebhook, 'webhook-'];
  return {
    by,
    secret: sharedAs(() => `whsec_${randomBytes(24).toString('base64')}`),
    seconds: 300,
    sign({ body, nowMs }, key) {
      const id = `msg_${randomUUID()}`;
      const signature = new Webhook(key as string).sign(id, new Date(nowMs), body.toString());
      const timestamp = String(Math.floor(nowMs / 1000));
      return { headers: { [`${prefix}id`]: id, [`${prefix}timestamp`]: timestamp, [`${prefix}signature`]: signature } };
    },
  };
}

const stripe = new Stripe('sk_test_unused');

export const librarySigners: Record<string, Signer> = {
  braintree: {
    by: 'braintree',
    secret: sharedAs(() => `${randomBytes(8).toString('hex')}:${randomBytes(16).toString('hex')}`),
    // Its test gateway makes the payload, too.
    sign(_message, key) {
      const [publicKey = '', privateKey = ''] = (key as string).split(':');
      const environment = braintree.Environment.Sandbox;
      const gateway = new braintree.BraintreeGateway({ environment, merchantId: 'shop', publicKey, privateKey });
      const kind = braintree.WebhookNotification.Kind.SubscriptionWentActive;
      const { bt_signature, bt_payload } = gateway.webhookTesting.sampleNotification(kind, 'sub_1');
      const form = `bt_signature=${encodeURIComponent(bt_signature)}&bt_payload=${encodeURIComponent(bt_payload)}`;
      return { headers: {}, body: Buffer.from(form) };
    },
  },
  clerk: standard('svix'),
  github: {
    by: '@octokit/webhooks-methods',
    secret: shared,
    sign: async ({ body }, key) => ({
      headers: { 'x-hub-signature-256': await signGithub(key as string, body.toString()) },
    }),
  },
  openai: standard('standardwebhooks'),
  replicate: standard('standardwebhooks'),
  resend: standard('svix'),
  'standard-webhooks': standard('standardwebhooks'),
  stripe: {
    by: 'stripe',
    secret: shared,
    seconds: 300,
    sign: ({ body, nowMs }, key) => ({
      headers: {
        'stripe-signature': stripe.webhooks.generateTestHeaderString({
          payload: body.toString(),
          secret: key as string,
          timestamp: Math.floor(nowMs / 1000),
        }),
      },
    }),
  },
  twilio: {
    by: 'twilio',
    secret: shared,
    covers: 'address',
    body: 'To=%2B18005551212&Body=Hello+%26+goodbye&From=%2B14158675309&Empty=',
    sign: ({ body, url }, key) => {
      const fields = Object.fromEntries(new URLSearchParams(body.toString()));
      const signature = twilio.getExpectedTwilioSignature(key as string, url, fields);
      return { headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature } };
    },
  },
};
