// Slack, "Verifying requests from Slack": `X-Slack-Signature: v0=<hex HMAC-SHA256 of v0:<timestamp>:<body>>`.
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

const PREFIX = 'v0=';

export const slackSchema = z.object({ type: z.literal('slack'), secret: secretSchema });

export function verifySlack(config: z.output<typeof slackSchema>, request: SignedRequest): Verification {
  const signature = header(request, 'x-slack-signature');
  if (signature === undefined) return invalid('The header X-Slack-Signature is missing');
  if (!signature.startsWith(PREFIX)) return invalid('The header X-Slack-Signature does not start with v0=');
  const timestamp = header(request, 'x-slack-request-timestamp');
  const problem = timestampProblem(timestamp, request.nowMs);
  if (problem !== null) return problem;
  const expected = hmac('sha256', config.secret, `v0:${timestamp}:`, request.body);
  return compared([signature.slice(PREFIX.length)], 'hex', expected);
}
