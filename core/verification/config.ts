// The `verificationConfig` of a source: what it holds by its type, and the scheme that it means. A new type is a line
// in `types`, a row in test/support/providers/described-signers.ts and one in docs/guide/verification.md.
import { z } from 'zod';
import { parsePath } from '../text/dotted-path.ts';
import type { Scheme } from './index.ts';
import { type Credentials, jsonOf, secretSchema } from './scheme.ts';
import {
  describedType,
  headerName,
  hmacTemplateType,
  hmacType,
  type MemberProblem,
  publicKeyType,
  toleranceSeconds,
} from './header-signature-config.ts';

type WithoutSecret<Config> = Config extends unknown ? Omit<Config, 'secret'> : never;

const MAX_CLAIMS = 10;
const claimText = z.string().min(1, 'must not be empty').max(2048, 'must be at most 2048 characters long');

const jwt = z.object({
  type: z.literal('jwt'),
  // With HS256.
  secret: secretSchema.optional(),
  header: headerName('contains the token').default('Authorization'),
  algorithm: z.enum(['RS256', 'ES256', 'HS256']).default('RS256'),
  jwksUrl: z
    .string()
    .max(2048, 'must be at most 2048 characters long')
    .refine(isKeySetUrl, 'must be an https:// URL without a username, password or fragment')
    .meta({ examples: ['https://issuer.example.com/.well-known/jwks.json'] })
    .optional(),
  issuer: claimText.optional(),
  audience: claimText.optional(),
  claims: z
    .record(claimText, claimText)
    .refine((claims) => Object.keys(claims).length <= MAX_CLAIMS, `must contain at most ${MAX_CLAIMS} claims`)
    .optional(),
  bodyHashClaim: claimText.optional(),
  toleranceSeconds,
});
type JwtConfig = z.output<typeof jwt>;

function isKeySetUrl(given: string): boolean {
  const url = URL.parse(given);
  return url !== null && url.protocol === 'https:' && url.username === '' && url.password === '' && url.hash === '';
}

function jwtProblem({ algorithm, secret, jwksUrl, audience, claims }: JwtConfig): MemberProblem | null {
  if (algorithm === 'HS256') {
    if (secret === undefined) return { member: 'secret', message: 'is required with HS256' };
    return jwksUrl === undefined
      ? null
      : { member: 'jwksUrl', message: 'must be omitted with HS256, because the secret is the key' };
  }
  if (secret !== undefined)
    return { member: 'secret', message: `must be omitted with ${algorithm}, because the keys are published` };
  if (jwksUrl === undefined)
    return {
      member: 'jwksUrl',
      message: `is required with ${algorithm}: the URL at which the sender publishes its keys`,
    };
  if (audience !== undefined || Object.keys(claims ?? {}).length > 0) return null;
  const message =
    'or claims is required: otherwise every token from the sender would be accepted, including tokens for other receivers';
  return { member: 'audience', message };
}

const jwtScheme = ({ jwksUrl, issuer, audience, bodyHashClaim, ...config }: JwtConfig): Scheme => ({
  kind: 'jwt',
  ...config,
  keys: jwksUrl === undefined ? 'secret' : { jwks: jwksUrl },
  issuers: issuer === undefined ? undefined : [issuer],
  audience: audience === undefined ? undefined : { is: audience },
  bodyHash: bodyHashClaim,
});

const headerToken = z.object({
  type: z.literal('header_token'),
  secret: secretSchema.refine(
    (secret) => !/[\r\n\0]|[ \t]$/.test(secret),
    'must not contain line breaks or null characters, or end with a space or tab, because a header value cannot',
  ),
  header: headerName('contains the token').refine(
    (name) => name.toLowerCase() !== 'content-type',
    'must not be Content-Type, because the header with the token is not stored',
  ),
  prefix: z.string().max(256, 'must be at most 256 characters long').default(''),
});

// `user:password`
const basic = z.object({ type: z.literal('basic'), secret: secretSchema });

const queryToken = z.object({
  type: z.literal('query_token'),
  secret: secretSchema,
  parameter: z.string().min(1, 'must be the name of a query parameter').max(256, 'must be at most 256 characters long'),
});

const bodyToken = z.object({
  type: z.literal('body_token'),
  secret: secretSchema,
  path: z
    .string()
    .refine((path) => isPathToOne(path), 'must be the path to a single value in the payload, for example $.token')
    .meta({ examples: ['$.token'] }),
});

function isPathToOne(path: string): boolean {
  const steps = parsePath(path) ?? [];
  return steps.length > 0 && steps.every((step) => 'key' in step);
}

const ofProvider = <Name extends string>(name: Name) => z.object({ type: z.literal(name), secret: secretSchema });

/**
 * One line a type: what its `verificationConfig` holds, and its scheme; null: that of the provider of this name
 * (providers/).
 */
const types = {
  github: { schema: ofProvider('github'), scheme: null },
  stripe: { schema: ofProvider('stripe'), scheme: null },
  slack: { schema: ofProvider('slack'), scheme: null },
  hmac: hmacType,
  none: describedType(z.object({ type: z.literal('none') }), () => ({ kind: 'none' })),
  hmac_template: hmacTemplateType,
  public_key: publicKeyType,
  jwt: describedType(jwt, jwtScheme, jwtProblem),
  header_token: describedType(headerToken, ({ header, prefix }) => ({ kind: 'header-token', header, prefix })),
  basic: describedType(basic, () => ({ kind: 'basic' })),
  query_token: describedType(queryToken, ({ parameter }) => ({ kind: 'query-token', parameter })),
  body_token: describedType(bodyToken, ({ path }) => ({ kind: 'payload-token', path })),
} as const;

type VerificationType = keyof typeof types;
type VerificationSchema = (typeof types)[VerificationType]['schema'];

export const VERIFICATION_TYPES = Object.keys(types) as [VerificationType, ...VerificationType[]];
export const verificationSchemas = Object.values(types).map(({ schema }) => schema) as unknown as [
  VerificationSchema,
  ...VerificationSchema[],
];
export const verificationConfigSchema = z.discriminatedUnion('type', verificationSchemas);
export type VerificationConfig = z.output<VerificationSchema>;

/**
 * The scheme that a `verificationConfig` describes; null: its type is the name of a provider, or says that the source
 * has one.
 */
export function describedScheme(config: { type: string }): Scheme | null {
  if (!Object.hasOwn(types, config.type)) return null;
  const { scheme } = types[config.type as VerificationType] as { scheme: ((config: unknown) => Scheme) | null };
  return scheme?.(config) ?? null;
}

export const takesSecret = ({ type, algorithm }: Record<string, unknown>): boolean =>
  type !== 'jwt' || algorithm === 'HS256';

export const PROVIDER_TYPE = 'provider';

export interface ProviderVerification {
  type: typeof PROVIDER_TYPE;
  confirmSubscriptions?: boolean;
}
/** A `verificationConfig` as it is stored, and as the API shows it: the type and the members that are no secret. */
export type PublicVerificationConfig = WithoutSecret<VerificationConfig> | ProviderVerification;

export function publicVerificationConfig(config: VerificationConfig): WithoutSecret<VerificationConfig> {
  const { secret: _secret, ...shown } = { secret: '', ...config };
  return shown;
}

export const confirmsSubscriptions = (verification: PublicVerificationConfig): boolean =>
  'confirmSubscriptions' in verification && verification.confirmSubscriptions === true;

export const providerOf = (source: { provider?: string | null }): string | null => source.provider ?? null;

const sealedSchema = z.object({ secret: z.string(), verifyToken: z.string().optional() });

/** The secrets of a source as they are encrypted: together. */
export function sealedCredentials({ secret, verifyToken }: Credentials): string {
  return JSON.stringify({ secret, ...(verifyToken !== undefined && { verifyToken }) });
}

/**
 * @param text in clear; null: there is no secret, or the provider has not given it yet
 * @throws when it is something else; the message has nothing of the text
 */
export function openCredentials(text: string | null): Credentials {
  if (text === null) return { secret: '' };
  const parsed = sealedSchema.safeParse(jsonOf(text));
  if (!parsed.success) throw new Error("The stored value does not contain a source's secrets");
  return parsed.data;
}
