// Stripe, "Verify webhook signatures manually": `Stripe-Signature: t=<seconds>,v1=<hex>[,v1=<hex>...]`, each `v1` an
// HMAC-SHA256 of `<t>.<body>`; several while a secret is being rolled. Other schemes, such as v0, prove nothing.
import { z } from 'zod';
import {
  compared,
  header,
  hmac,
  invalid,
  type SignedRequest,
  secretSchema,
  timestampProblem,
  type Verification,
} from './scheme.ts';

export const stripeSchema = z.object({ type: z.literal('stripe'), secret: secretSchema });

export function verifyStripe(config: z.output<typeof stripeSchema>, request: SignedRequest): Verification {
  const value = header(request, 'stripe-signature');
  if (value === undefined) return invalid('The header Stripe-Signature is missing');
  const items = value.split(',').map((item) => item.trim());
  const timestamp = items.find((item) => item.startsWith('t='))?.slice(2);
  const signatures = items.filter((item) => item.startsWith('v1=')).map((item) => item.slice(3));
  if (signatures.length === 0) return invalid('The header Stripe-Signature has no v1 signature');
  const problem = timestampProblem(timestamp, request.nowMs);
  if (problem !== null) return problem;
  // The whole `whsec_...` text is the key.
  const expected = hmac('sha256', config.secret, `${timestamp}.`, request.body);
  return compared(signatures, 'hex', expected);
}
