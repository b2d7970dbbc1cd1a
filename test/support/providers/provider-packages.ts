// Packages of providers that sign and verify webhooks. Together they are as large as half of the project's
// dependencies, so they are installed outside of it, when the first test wants one.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { npmPackages } from '../programs/npm-packages.ts';

const folder = await npmPackages({
  name: 'provider-packages',
  what: 'packages of providers',
  pins: join(import.meta.dirname, 'provider-packages'),
});
const load = createRequire(join(folder, 'package.json'));

// What the tests use of them.
interface Sample {
  bt_signature: string;
  bt_payload: string;
}
interface BraintreeGateway {
  webhookTesting: { sampleNotification(kind: string, id: string): Sample };
}
interface Braintree {
  Environment: { Sandbox: unknown };
  WebhookNotification: { Kind: { SubscriptionWentActive: string } };
  BraintreeGateway: new (
    options: Record<'merchantId' | 'publicKey' | 'privateKey', string> & { environment: unknown },
  ) => BraintreeGateway;
}
interface StripeWebhooks {
  generateTestHeaderString(of: { payload: string; secret: string; timestamp: number }): string;
}
interface StandardWebhook {
  sign(id: string, at: Date, body: string): string;
}
interface Twilio {
  getExpectedTwilioSignature(secret: string, url: string, fields: Record<string, string>): string;
}
interface SnsValidator {
  validate(body: string, checked: (error: Error | null) => void): void;
}
interface Paddle {
  webhooks: { isSignatureValid(body: string, secret: string, signature: string): Promise<boolean> };
}

export const braintree = load('braintree') as Braintree;
export const Stripe = load('stripe') as new (key: string) => { webhooks: StripeWebhooks };
export const { Webhook: SvixWebhook } = load('svix') as { Webhook: new (secret: string) => StandardWebhook };
export const twilio = load('twilio') as Twilio;
export const { Paddle } = load('@paddle/paddle-node-sdk') as { Paddle: new (key: string) => Paddle };
export const { verifyKey } = load('discord-interactions') as {
  verifyKey(body: Buffer, signature: string, timestamp: string, key: string): Promise<boolean>;
};
export const MessageValidator = load('sns-validator') as new () => SnsValidator;
