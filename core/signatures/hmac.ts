// Any provider that signs the body with an HMAC in a header of its own choice.
import { z } from 'zod';
import { checkHeaderName } from '../headers.ts';
import {
  header,
  hmac,
  invalid,
  macEquals,
  mismatch,
  type SignedRequest,
  secretSchema,
  VALID,
  type Verification,
} from './scheme.ts';

export const hmacSchema = z.object({
  type: z.literal('hmac'),
  secret: secretSchema,
  header: z
    .string()
    .max(256, 'must be at most 256 characters')
    .refine((name) => checkHeaderName(name) === null, 'must be the name of the header that carries the signature'),
  algorithm: z.enum(['sha1', 'sha256', 'sha512']).default('sha256'),
  encoding: z.enum(['hex', 'base64']).default('hex'),
  prefix: z.string().max(256, 'must be at most 256 characters').default(''),
});

export function verifyHmac(config: z.output<typeof hmacSchema>, request: SignedRequest): Verification {
  const signature = header(request, config.header.toLowerCase());
  if (signature === undefined) return invalid(`The header ${config.header} is missing`);
  if (!signature.startsWith(config.prefix))
    return invalid(`The header ${config.header} does not start with its prefix`);
  const expected = hmac(config.algorithm, config.secret, request.body);
  return macEquals(signature.slice(config.prefix.length), config.encoding, expected) ? VALID : mismatch;
}
