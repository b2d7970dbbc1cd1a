// The registry of signature schemes: a new one is a file beside this one, a member of the union and a line in `verify`.
// Rules: SRC-12 to SRC-17.
import { z } from 'zod';
import { githubSchema, verifyGithub } from './github.ts';
import { hmacSchema, verifyHmac } from './hmac.ts';
import { noneSchema, verifyNone } from './none.ts';
import type { SignedRequest, Verification } from './scheme.ts';
import { slackSchema, verifySlack } from './slack.ts';
import { stripeSchema, verifyStripe } from './stripe.ts';

export type { SignedRequest, Verification } from './scheme.ts';
export { slackChallenge } from './slack.ts';

/** A source's `verificationConfig` (SRC-12 to SRC-16), secrets in clear. */
export const verificationConfigSchema = z.discriminatedUnion('type', [
  githubSchema,
  stripeSchema,
  slackSchema,
  hmacSchema,
  noneSchema,
]);

export type VerificationConfig = z.output<typeof verificationConfigSchema>;
export type VerificationType = VerificationConfig['type'];

/**
 * Verifies that a request comes from the provider that shares the source's secret; comparisons take constant time.
 * @param config the source's configuration with its secret in clear
 */
export function verifySignature(config: VerificationConfig, request: SignedRequest): Verification {
  switch (config.type) {
    case 'github':
      return verifyGithub(config, request);
    case 'stripe':
      return verifyStripe(config, request);
    case 'slack':
      return verifySlack(config, request);
    case 'hmac':
      return verifyHmac(config, request);
    case 'none':
      return verifyNone();
  }
}

/** A `verificationConfig` as the API shows it: the type and the members that are no secret. */
export function publicVerificationConfig(config: VerificationConfig): Record<string, string> {
  const { secret: _secret, ...shown } = { secret: '', ...config };
  return shown;
}
