// What providers of object stores answer in cases that no emulator produces: status and body as their references show them.
import type { StoreProblem } from '../../../outbound/warehouses/store.ts';
import type { ProviderCase } from './warehouse-targets.ts';

export type Answer = { status: number; headers?: Record<string, string>; body?: string };

const s3 = (status: number, code: string, message: string): Answer => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message><RequestId>4442587FB7D0A2F9</RequestId></Error>`,
});
const azure = (status: number, code: string, message: string, detail = ''): Answer => ({
  status,
  headers: { 'content-type': 'application/xml', 'x-ms-error-code': code },
  body: `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${message}</Message>${detail}</Error>`,
});
export const gcs = (status: number, reason: string, message: string): Answer => ({
  status,
  headers: { 'content-type': 'application/json; charset=UTF-8' },
  body: JSON.stringify({ error: { code: status, message, errors: [{ message, domain: 'global', reason }] } }),
});

const SKEW = 'The difference between the request time and the current time is too large.';
const azureClock =
  '<AuthenticationErrorDetail>Request date header too old: Sat, 21 Nov 2026 10:00:00 GMT</AuthenticationErrorDetail>';
const azureKey =
  '<AuthenticationErrorDetail>The MAC signature found in the HTTP request is not the same as any computed signature.</AuthenticationErrorDetail>';

// provider, what it answers, what that is, whether it is worth another try, what the sentence says
export const answers: [ProviderCase['type'], Answer, StoreProblem['kind'], boolean, RegExp][] = [
  [
    's3',
    s3(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.'),
    'credentials',
    false,
    /^S3 does not accept the credentials: check accessKeyId and secretAccessKey$/,
  ],
  [
    's3',
    s3(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match.'),
    'credentials',
    false,
    /check accessKeyId and secretAccessKey$/,
  ],
  ['s3', s3(403, 'AccessDenied', 'Access Denied'), 'permission', false, /need s3:PutObject and s3:GetObject/],
  [
    's3',
    s3(404, 'NoSuchBucket', 'The specified bucket does not exist'),
    'no_bucket',
    false,
    /bucket "hookyard-events" does not exist/,
  ],
  [
    's3',
    s3(
      301,
      'PermanentRedirect',
      'The bucket you are attempting to access must be addressed using the specified endpoint.',
    ),
    'region',
    false,
    /not in region "eu-central-1": correct region/,
  ],
  ['s3', s3(403, 'RequestTimeTooSkewed', SKEW), 'clock', false, /set the clock of this machine$/],
  [
    's3',
    s3(503, 'SlowDown', 'Please reduce your request rate.'),
    'busy',
    true,
    /busy and asks to slow down \(HTTP status 503\)/,
  ],
  [
    's3',
    s3(500, 'InternalError', 'We encountered an internal error. Please try again.'),
    'other',
    true,
    /HTTP status 500 \(InternalError: We encountered/,
  ],
  [
    's3',
    s3(400, 'NewCode', 'Words\n about it.'),
    'other',
    false,
    /^S3 answered HTTP status 400 \(NewCode: Words about it\.\)$/,
  ],
  [
    's3',
    { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>Bad Gateway</html>' },
    'other',
    true,
    /HTTP status 502/,
  ],
  ['r2', s3(401, 'Unauthorized', 'Unauthorized'), 'credentials', false, /R2_ACCESS_KEY_ID/],
  [
    'r2',
    s3(429, 'TooManyRequests', 'Reduce your concurrent request rate for the same object.'),
    'busy',
    true,
    /HTTP status 429/,
  ],
  ['gcs', gcs(401, 'authError', 'Invalid Credentials'), 'credentials', false, /check serviceAccountKey$/],
  [
    'gcs',
    gcs(403, 'forbidden', 'writer does not have storage.objects.create access to the Google Cloud Storage object.'),
    'permission',
    false,
    /Storage Object User/,
  ],
  [
    'gcs',
    gcs(404, 'notFound', 'The specified bucket does not exist.'),
    'no_bucket',
    false,
    /bucket "hookyard-events" does not exist/,
  ],
  [
    'gcs',
    gcs(429, 'rateLimitExceeded', 'The object exceeded the rate limit for object mutation operations.'),
    'busy',
    true,
    /slow down/,
  ],
  ['gcs', gcs(503, 'backendError', 'Backend Error'), 'other', true, /HTTP status 503 \(backendError: Backend Error\)$/],
  [
    'gcs',
    gcs(400, 'invalid', 'Invalid bucket name'),
    'other',
    false,
    /HTTP status 400 \(invalid: Invalid bucket name\)$/,
  ],
  [
    'gcs',
    { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>Bad Gateway</html>' },
    'other',
    true,
    /HTTP status 502/,
  ],
  [
    'azure_blob',
    azure(403, 'AuthenticationFailed', 'Server failed to authenticate the request.', azureKey),
    'credentials',
    false,
    /check accountName and accountKey$/,
  ],
  [
    'azure_blob',
    azure(403, 'AuthenticationFailed', 'Server failed to authenticate the request.', azureClock),
    'clock',
    false,
    /set the clock of this machine$/,
  ],
  [
    'azure_blob',
    azure(403, 'AuthorizationFailure', 'This request is not authorized to perform this operation.'),
    'permission',
    false,
    /write and read blobs/,
  ],
  [
    'azure_blob',
    azure(404, 'ContainerNotFound', 'The specified container does not exist.'),
    'no_bucket',
    false,
    /container "hookyard-events" does not exist/,
  ],
  ['azure_blob', azure(503, 'ServerBusy', 'The server is busy.'), 'busy', true, /slow down/],
  [
    'azure_blob',
    azure(500, 'InternalError', 'The server encountered an internal error.'),
    'other',
    true,
    /HTTP status 500 \(InternalError: /,
  ],
  [
    'azure_blob',
    azure(400, 'InvalidHeaderValue', 'The value is wrong.'),
    'other',
    false,
    /HTTP status 400 \(InvalidHeaderValue: /,
  ],
];
