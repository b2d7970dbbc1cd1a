// GitHub, "Validating webhook deliveries": `X-Hub-Signature-256: sha256=<hex HMAC-SHA256 of the body>`.
import { z } from 'zod';
import { compared, header, hmac, invalid, type SignedRequest, secretSchema, type Verification } from './scheme.ts';

const PREFIX = 'sha256=';

export const githubSchema = z.object({ type: z.literal('github'), secret: secretSchema });

export function verifyGithub(config: z.output<typeof githubSchema>, request: SignedRequest): Verification {
  const signature = header(request, 'x-hub-signature-256');
  if (signature === undefined) return invalid('The header X-Hub-Signature-256 is missing');
  if (!signature.startsWith(PREFIX)) return invalid('The header X-Hub-Signature-256 does not start with sha256=');
  const expected = hmac('sha256', config.secret, request.body);
  return compared([signature.slice(PREFIX.length)], 'hex', expected);
}
