// Senders that send a JSON Web Token: by a shared secret, or by a key of a set that they publish.
import { z } from 'zod';
import { headerName } from '../../signatures/hmac.ts';
import { secretSchema } from '../../signatures/scheme.ts';
import type { JwtScheme } from '../published/jwt.ts';
import { type MemberProblem, refineBy, toleranceSeconds } from './members.ts';

const MAX_CLAIMS = 10;
const text = z.string().min(1, 'must not be empty').max(2048, 'must be at most 2048 characters');

const jwt = z.object({
  type: z.literal('jwt'),
  // With HS256.
  secret: secretSchema.optional(),
  header: headerName('carries the token').default('Authorization'),
  algorithm: z.enum(['RS256', 'ES256', 'HS256']).default('RS256'),
  jwksUrl: z
    .string()
    .max(2048, 'must be at most 2048 characters')
    .refine(isKeySetUrl, 'must be an https address without user, password and fragment')
    .meta({ examples: ['https://issuer.example.com/.well-known/jwks.json'] })
    .optional(),
  issuer: text.optional(),
  audience: text.optional(),
  claims: z
    .record(text, text)
    .refine((claims) => Object.keys(claims).length <= MAX_CLAIMS, `must have at most ${MAX_CLAIMS} members`)
    .optional(),
  bodyHashClaim: text.optional(),
  toleranceSeconds,
});
type JwtConfig = z.output<typeof jwt>;

function isKeySetUrl(given: string): boolean {
  const url = URL.parse(given);
  return url !== null && url.protocol === 'https:' && url.username === '' && url.password === '' && url.hash === '';
}

function problemOf({ algorithm, secret, jwksUrl, audience, claims }: JwtConfig): MemberProblem | null {
  if (algorithm === 'HS256') {
    if (secret === undefined) return { member: 'secret', message: 'is needed with HS256' };
    return jwksUrl === undefined
      ? null
      : { member: 'jwksUrl', message: 'must be left out with HS256, whose key is the secret' };
  }
  if (secret !== undefined)
    return { member: 'secret', message: `must be left out with ${algorithm}, whose keys are published` };
  if (jwksUrl === undefined)
    return { member: 'jwksUrl', message: `is needed with ${algorithm}: where the sender publishes its keys` };
  if (audience !== undefined || Object.keys(claims ?? {}).length > 0) return null;
  const message = 'is needed, or claims: else every token of the sender would be taken, also those for others';
  return { member: 'audience', message };
}

export const jwtScheme = (config: Omit<JwtConfig, 'secret'>): JwtScheme => {
  const { header, algorithm, jwksUrl, issuer, audience, claims, bodyHashClaim } = config;
  return {
    ...{ kind: 'jwt', header, algorithm, toleranceSeconds: config.toleranceSeconds },
    keys: jwksUrl === undefined ? 'secret' : { jwks: jwksUrl },
    ...(issuer !== undefined && { issuers: [issuer] }),
    ...(audience !== undefined && { audience: { is: audience } }),
    ...(claims !== undefined && { claims }),
    ...(bodyHashClaim !== undefined && { bodyHash: bodyHashClaim }),
  };
};
export const jwtSchema = jwt.superRefine(refineBy<JwtConfig>(problemOf, jwtScheme));
