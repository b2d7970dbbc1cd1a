// What providers of object stores answer in cases that no emulator produces: status, code and form as their references
// show them.
import type { StoreProblem } from '../../../outbound/warehouses/store.ts';
import type { ProviderCase } from './warehouse-targets.ts';

export type Answer = { status: number; headers?: Record<string, string>; body?: string };

const WORDS = 'Words of the store.';
const s3 = (status: number, code: string, message = WORDS): Answer => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message><RequestId>4442587FB7D0A2F9</RequestId></Error>`,
});
const azure = (status: number, code: string, detail = ''): Answer => ({
  status,
  headers: { 'content-type': 'application/xml', 'x-ms-error-code': code },
  body: `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${WORDS}</Message>${detail && `<AuthenticationErrorDetail>${detail}</AuthenticationErrorDetail>`}</Error>`,
});
export const gcs = (status: number, reason: string, message = WORDS): Answer => ({
  status,
  headers: { 'content-type': 'application/json; charset=UTF-8' },
  body: JSON.stringify({ error: { code: status, message, errors: [{ message, domain: 'global', reason }] } }),
});
const page: Answer = { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>Bad Gateway</html>' };

const KEY = 'The MAC signature found in the HTTP request is not the same as any computed signature.';
const CLOCK = 'Request date header too old: Sat, 21 Nov 2026 10:00:00 GMT';
const S3_KEYS = /check accessKeyId and secretAccessKey$/;
const NO_BUCKET = /bucket "hookyard-events" does not exist/;
const SET_CLOCK = /correct the clock of the machine that runs Hookyard$/;

// provider, what it answers, what that is, what the sentence says
export const answers: [ProviderCase['type'], Answer, StoreProblem['kind'], RegExp][] = [
  ['s3', s3(403, 'InvalidAccessKeyId'), 'credentials', /^S3 rejected the credentials; check accessKeyId/],
  ['s3', s3(403, 'SignatureDoesNotMatch'), 'credentials', S3_KEYS],
  ['s3', s3(403, 'AccessDenied'), 'permission', /need s3:PutObject and s3:GetObject/],
  ['s3', s3(404, 'NoSuchBucket'), 'no_bucket', NO_BUCKET],
  ['s3', s3(301, 'PermanentRedirect'), 'region', /not in region "eu-central-1"/],
  ['s3', s3(403, 'RequestTimeTooSkewed'), 'clock', SET_CLOCK],
  ['s3', s3(503, 'SlowDown'), 'busy', /is throttling requests \(HTTP status 503\)/],
  ['s3', s3(500, 'InternalError'), 'other', /HTTP status 500 \(InternalError: Words of the store/],
  ['s3', s3(400, 'New', 'Words\n of it.'), 'other', /^S3 returned HTTP status 400 \(New: Words of it\.\)$/],
  ['s3', page, 'other', /HTTP status 502/],
  ['r2', s3(401, 'Unauthorized'), 'credentials', /R2_ACCESS_KEY_ID/],
  ['r2', s3(429, 'TooManyRequests'), 'busy', /HTTP status 429/],
  ['gcs', gcs(401, 'authError'), 'credentials', /check serviceAccountKey$/],
  ['gcs', gcs(403, 'forbidden'), 'permission', /Storage Object User/],
  ['gcs', gcs(404, 'notFound'), 'no_bucket', NO_BUCKET],
  ['gcs', gcs(429, 'rateLimitExceeded'), 'busy', /is throttling requests/],
  ['gcs', gcs(503, 'backendError'), 'other', /HTTP status 503 \(backendError: Words of the store\.\)$/],
  ['gcs', gcs(400, 'invalid'), 'other', /HTTP status 400 \(invalid: Words of the store\.\)$/],
  ['gcs', page, 'other', /HTTP status 502/],
  ['azure_blob', azure(403, 'AuthenticationFailed', KEY), 'credentials', /check accountName and accountKey$/],
  ['azure_blob', azure(403, 'AuthenticationFailed', CLOCK), 'clock', SET_CLOCK],
  ['azure_blob', azure(403, 'AuthorizationFailure'), 'permission', /read and write blobs/],
  ['azure_blob', azure(404, 'ContainerNotFound'), 'no_bucket', /container "hookyard-events" does not exist/],
  ['azure_blob', azure(503, 'ServerBusy'), 'busy', /is throttling requests/],
  ['azure_blob', azure(500, 'InternalError'), 'other', /HTTP status 500 \(InternalError: /],
  ['azure_blob', azure(400, 'InvalidHeaderValue'), 'other', /HTTP status 400 \(InvalidHeaderValue: /],
];
