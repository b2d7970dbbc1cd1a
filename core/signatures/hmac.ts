// Any provider that signs the body, or a time and the body, with an HMAC in a header of its own choice.
import { z } from 'zod';
import { checkHeaderName } from '../http/headers.ts';
import {
  compared,
  header,
  hmac,
  invalid,
  SIGNATURE_ENCODINGS,
  type SignedRequest,
  secretSchema,
  timestampProblem,
  type Verification,
} from './scheme.ts';

export const headerName = (what: string) =>
  z
    .string()
    .max(256, 'must be at most 256 characters')
    .refine((name) => checkHeaderName(name) === null, `must be the name of the header that ${what}`);

export const hmacSchema = z.object({
  type: z.literal('hmac'),
  secret: secretSchema,
  header: headerName('carries the signature'),
  algorithm: z.enum(['sha1', 'sha256', 'sha512']).default('sha256'),
  encoding: z.enum(SIGNATURE_ENCODINGS).default('hex'),
  prefix: z.string().max(256, 'must be at most 256 characters').default(''),
  // With it, what is signed is the timestamp, the separator and the body, and an old request is refused.
  timestampHeader: headerName('carries the time of the signature').optional(),
  timestampSeparator: z.string().max(16, 'must be at most 16 characters').optional(),
});

export function verifyHmac(config: z.output<typeof hmacSchema>, request: SignedRequest): Verification {
  const signature = header(request, config.header.toLowerCase());
  if (signature === undefined) return invalid(`The header ${config.header} is missing`);
  if (!signature.startsWith(config.prefix))
    return invalid(`The header ${config.header} does not start with its prefix`);
  const signed: (string | Buffer)[] = [request.body];
  if (config.timestampHeader !== undefined) {
    const timestamp = header(request, config.timestampHeader.toLowerCase());
    const problem = timestampProblem(timestamp, request.nowMs);
    if (problem !== null) return problem;
    signed.unshift(`${timestamp}${config.timestampSeparator ?? '.'}`);
  }
  const expected = hmac(config.algorithm, config.secret, ...signed);
  return compared([signature.slice(config.prefix.length)], config.encoding, expected);
}
