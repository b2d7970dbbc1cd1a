// The registry of signature schemes. A new one is a file beside this one, a line in `schemes`, its row in the conformance tests, and
// a sample for `hookyard send` (cli/samples.ts). Those that an owner describes in full: core/verification/described.
// Rules: SRC-12 to SRC-17.
import { z } from 'zod';
import type { PROVIDER_TYPE } from '../verification/provider-config.ts';
import { DESCRIBED_TYPES, type DescribedConfig, describedSchemas } from '../verification/described/index.ts';
import { githubSchema, verifyGithub } from './github.ts';
import { hmacSchema, verifyHmac } from './hmac.ts';
import { noneSchema, verifyNone } from './none.ts';
import type { SignedRequest, Verification } from './scheme.ts';
import { slackSchema, verifySlack } from './slack.ts';
import { stripeSchema, verifyStripe } from './stripe.ts';

export { ADVISED_SECRET_LENGTH, isSameSecret, secretSchema, type SignedRequest, type Verification } from './scheme.ts';

/** One line a scheme: what its `verificationConfig` holds, and how a request is verified. */
const schemes = {
  github: { schema: githubSchema, verify: verifyGithub },
  stripe: { schema: stripeSchema, verify: verifyStripe },
  slack: { schema: slackSchema, verify: verifySlack },
  hmac: { schema: hmacSchema, verify: verifyHmac },
  none: { schema: noneSchema, verify: verifyNone },
} as const;
export type NamedType = keyof typeof schemes;
type Scheme = (typeof schemes)[NamedType];
type Verify = (config: NamedConfig, request: SignedRequest) => Verification;

export const NAMED_TYPES = Object.keys(schemes) as [NamedType, ...NamedType[]];
export const VERIFICATION_TYPES = [...NAMED_TYPES, ...DESCRIBED_TYPES] as const;

type AnySchema = Scheme['schema'] | (typeof describedSchemas)[number];
/** The schema of `verificationConfig`, by its type. */
export const verificationSchemas = [
  ...Object.values(schemes).map(({ schema }) => schema),
  ...describedSchemas,
] as unknown as [AnySchema, ...AnySchema[]];

/** A source's `verificationConfig` (SRC-12 to SRC-17, SRC-44 to SRC-50), secrets in clear. */
export const verificationConfigSchema = z.discriminatedUnion('type', verificationSchemas);
/** Of the types that say how they verify by themselves. */
export type NamedConfig = z.output<Scheme['schema']>;
export type VerificationConfig = NamedConfig | DescribedConfig;

/**
 * Verifies that a request comes from the provider that shares the source's secret; comparisons take constant time.
 * @param config the source's configuration with its secret in clear
 */
export function verifySignature(config: NamedConfig, request: SignedRequest): Verification {
  // The line of the type takes the config of the type.
  const verify = schemes[config.type].verify as Verify;
  return verify(config, request);
}

type WithoutSecret<Config> = Config extends unknown ? Omit<Config, 'secret'> : never;
/** Of a source with a provider, whose scheme is that of the provider (core/verification). */
export interface ProviderVerification {
  type: typeof PROVIDER_TYPE;
  /** Whether the address that confirms a subscription is visited; of providers that send one. */
  confirmSubscriptions?: boolean;
}
/** A `verificationConfig` as the API shows it: the type and the members that are no secret. */
export type PublicVerificationConfig = WithoutSecret<VerificationConfig> | ProviderVerification;

export const confirmsSubscriptions = (verification: PublicVerificationConfig): boolean =>
  'confirmSubscriptions' in verification && verification.confirmSubscriptions === true;

export function publicVerificationConfig(config: VerificationConfig): WithoutSecret<VerificationConfig> {
  const { secret: _secret, ...shown } = { secret: '', ...config };
  return shown;
}
