// Mailgun, "Securing webhooks": the body holds a time, a token, and the HMAC-SHA256 of both in hex. The rest of the body is not signed.
// In the JSON of a webhook they are the member `signature`; in the mail that a route forwards they are fields of a form, in parts if
// the mail has attachments.
// https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks
// https://documentation.mailgun.com/docs/mailgun/user-manual/receive-forward-store/receive-http
import { readShortFields } from '../forms/index.ts';
import { compared, header, hmac, type Verification } from '../signatures/scheme.ts';
import {
  type Credentials,
  memberOf,
  type ProviderRequest,
  refused,
  timeProblem,
  untrustedJson,
  withoutBody,
} from './request.ts';

export interface MailgunScheme {
  kind: 'mailgun';
}

// Mailgun gives no limit. It repeats a webhook that was not accepted for eight hours with the same signature, so the limit is that.
const TOLERANCE_SECONDS = 9 * 3600;
const MAX_TOKEN = 256;
// Webhooks of Mailgun are a few kilobytes of JSON. Routes send forms with a whole mail, which may be as large as the payload limit.
const MAX_JSON_BYTES = 256 * 1024;

export function verifyMailgun(_scheme: MailgunScheme, { secret }: Credentials, request: ProviderRequest): Verification {
  const form = readShortFields(request.body, header(request, 'content-type'));
  const part = form ?? memberOf(untrustedJson(request, MAX_JSON_BYTES), 'signature');
  const [timestamp, token, signature] = ['timestamp', 'token', 'signature'].map((name) => memberOf(part, name));
  if (typeof token !== 'string' || token.length > MAX_TOKEN || typeof signature !== 'string')
    return refused('The body has no signature with timestamp, token and signature');
  const time = typeof timestamp === 'number' ? String(timestamp) : timestamp;
  const tolerance = { unit: 's', toleranceSeconds: TOLERANCE_SECONDS } as const;
  const problem = timeProblem(typeof time === 'string' ? time : '', tolerance, request.nowMs);
  return problem ?? withoutBody(compared([signature], 'hex', hmac('sha256', secret, `${time}${token}`)));
}
