// Errors of object stores as one sentence that says what to fix, the provider's words in its detail only. The
// providers' codes are from their references: S3 "Error responses", R2 "Error codes", Azure "Blob service error codes",
// Google "JSON API status and error codes".
import { type DescribedError, type ErrorSummary, named, openError, ownWords } from '../../core/text/error-summary.ts';
import { TransportError } from './guarded-http.ts';
import { IdentityError, type StoreProblem, StoreSettingsError } from './store.ts';

/** What a provider calls the things a sentence names: our own words, and settings of the destination. */
export type Wording = {
  service: string;
  bucket: string;
  credentials: string;
  /** What to check when there is no connection. */
  address: string;
  /** What the credentials must be allowed. */
  permission: string;
  region: string | null;
};

type Kind = StoreProblem['kind'];

// The same code means the same with every provider.
const KINDS: Readonly<Record<string, Kind>> = {
  InvalidAccessKeyId: 'credentials',
  SignatureDoesNotMatch: 'credentials',
  // versitygw's word for an access key it does not know.
  XAdminUserNotFound: 'credentials',
  InvalidToken: 'credentials',
  ExpiredToken: 'credentials',
  InvalidClientTokenId: 'credentials',
  Unauthorized: 'credentials',
  AuthenticationFailed: 'credentials',
  InvalidAuthenticationInfo: 'credentials',
  authError: 'credentials',
  AccessDenied: 'permission',
  AllAccessDisabled: 'permission',
  AccountProblem: 'permission',
  AuthorizationFailure: 'permission',
  AuthorizationPermissionMismatch: 'permission',
  InsufficientAccountPermissions: 'permission',
  AccountIsDisabled: 'permission',
  forbidden: 'permission',
  NoSuchBucket: 'no_bucket',
  ContainerNotFound: 'no_bucket',
  PermanentRedirect: 'region',
  AuthorizationHeaderMalformed: 'region',
  IllegalLocationConstraintException: 'region',
  RequestTimeTooSkewed: 'clock',
  RequestExpired: 'clock',
  SlowDown: 'busy',
  ServiceUnavailable: 'busy',
  TooManyRequests: 'busy',
  ServerBusy: 'busy',
  OperationTimedOut: 'busy',
  rateLimitExceeded: 'busy',
  userRateLimitExceeded: 'busy',
};

// For answers without a code of their own: those to HEAD, and those of whatever stands before the store.
const KINDS_BY_STATUS: Readonly<Record<number, Kind>> = {
  301: 'region',
  307: 'region',
  401: 'credentials',
  403: 'permission',
  404: 'no_bucket',
  429: 'busy',
  503: 'busy',
};

const RETRYABLE: ReadonlySet<Kind> = new Set(['busy', 'unreachable', 'timeout']);
const RETRYABLE_STATUS: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
const MAX_QUOTED = 300;
// An answer is as long as its sender likes; what is looked for stands at its beginning.
const MAX_READ = 2000;

export function describeStoreError(error: unknown, wording: Wording): StoreProblem {
  if (error instanceof StoreSettingsError) return { kind: 'settings', ...openError(error.summary), retryable: false };
  const identity = errorIn(error, IdentityError);
  if (identity !== undefined) return describeIdentityError(identity, wording);
  const status = statusOf(error);
  if (status === undefined) return describeTransportError(error, wording);
  const answer = { status, code: codeOf(error), text: textOf(error).slice(0, MAX_READ) };
  const kind = kindOf(answer);
  return {
    kind,
    ...describe(kind, answer, wording),
    statusCode: status,
    retryable: RETRYABLE.has(kind) || RETRYABLE_STATUS.has(status),
  };
}

/** The provider's words may name things of the operator, so none of them is shown: only its code. */
function describeIdentityError({ cause }: IdentityError, { service }: Wording): StoreProblem {
  const code = codeOf(cause) ?? (cause instanceof Error ? cause.name : 'unknown');
  const known = /^[A-Za-z0-9.]{1,60}$/.test(code) ? code : 'unknown';
  const summary = ownWords`The service identity has no credentials for ${named(service)} (${named(known)}); contact the operator and, if the destination has a role, check that the role trusts the service identity`;
  return { kind: 'credentials', ...openError(summary), retryable: true };
}

/** A deadline that passed; the caller's own, so no provider is asked. */
export function describeTimeout(timeoutMs: number, { service }: Pick<Wording, 'service'>): StoreProblem {
  const summary = ownWords`${named(service)} did not respond within ${timeoutMs} ms`;
  return { kind: 'timeout', ...openError(summary), retryable: true };
}

type Answer = { status: number; code: string | undefined; text: string };

function kindOf({ status, code, text }: Answer): Kind {
  // Azure has one code for a wrong key and a wrong clock; Google says it in words.
  if (/request date header too old|not within.*(time|date)|iat.*exp|token used too early/i.test(text)) return 'clock';
  if (code === 'notFound' || (code === undefined && status === 404)) return 'no_bucket';
  return (
    (code === undefined ? undefined : KINDS[code]) ??
    (code === undefined ? KINDS_BY_STATUS[status] : undefined) ??
    'other'
  );
}

function describe(kind: Kind, answer: Answer, wording: Wording): DescribedError {
  const own = sentence(kind, answer, wording);
  const words = kind === 'other' || (kind === 'region' && wording.region !== null) ? quoted(answer) : '';
  return words === '' ? openError(own) : { summary: ownWords`${own}; see the details in the API`, detail: own + words };
}

function sentence(kind: Kind, { status }: Answer, wording: Wording): ErrorSummary {
  const [service, bucket, credentials] = [named(wording.service), named(wording.bucket), named(wording.credentials)];
  switch (kind) {
    case 'credentials':
      return ownWords`${service} rejected the credentials; check ${credentials}`;
    case 'permission':
      return ownWords`${service} denied access to ${bucket}; check ${credentials}: the credentials need ${named(wording.permission)}`;
    case 'no_bucket':
      return ownWords`The ${bucket} does not exist; create it, or correct its name`;
    case 'region':
      return wording.region === null
        ? ownWords`${service} redirected the request (HTTP status ${status}); check ${named(wording.address)}`
        : ownWords`The ${bucket} is not in region "${named(wording.region)}"`;
    case 'clock':
      return ownWords`${service} rejected the time of the request; correct the clock of the machine that runs Hookyard`;
    case 'busy':
      return ownWords`${service} is throttling requests (HTTP status ${status}); try again later`;
    default:
      return ownWords`${service} returned HTTP status ${status}`;
  }
}

function quoted({ code, text }: Answer): string {
  // The AWS SDK's stand-in for answers without a body.
  const words = text === 'UnknownError' ? '' : onOneLine(text);
  const parts = [code, words === code ? '' : words].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? '' : ` (${parts.join(': ')})`;
}

const onOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, MAX_QUOTED);

/** No answer came: the guard, the network, or an error of the SDK itself. */
function describeTransportError(error: unknown, wording: Wording): StoreProblem {
  const [service, address] = [named(wording.service), named(wording.address)];
  const transport = errorIn(error, TransportError);
  if (transport === undefined) {
    const words = onOneLine(error instanceof Error ? error.message : String(error));
    const summary = ownWords`${service} could not be used; see the details in the API`;
    return { kind: 'other', summary, detail: `${service}: ${words}`, retryable: true };
  }
  const { code, retryable } = transport;
  const { summary, detail } = transport.described;
  if (code === 'ADDRESS_REFUSED') return { kind: 'refused', summary, detail, retryable };
  return {
    kind: 'unreachable',
    summary: ownWords`${service} cannot be reached: ${summary}; check ${address}`,
    detail: `${service} cannot be reached: ${detail}; check ${address}`,
    retryable,
  };
}

function errorIn<Wanted extends Error>(
  error: unknown,
  Class: abstract new (...args: never[]) => Wanted,
): Wanted | undefined {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    if (current instanceof Class) return current;
    current = current.cause;
  }
  return undefined;
}

function statusOf(error: unknown): number | undefined {
  const { $metadata, statusCode, response } = fieldsOf(error);
  const status = fieldsOf($metadata).httpStatusCode ?? statusCode ?? fieldsOf(response).statusCode;
  return typeof status === 'number' ? status : undefined;
}

function codeOf(error: unknown): string | undefined {
  const { $metadata, name, code, errors, response } = fieldsOf(error);
  if ($metadata !== undefined) return isUseful(name) ? name : undefined;
  if (Array.isArray(errors)) return text(fieldsOf(errors[0]).reason);
  return text(code) ?? headerOf(response);
}

/** Names the AWS SDK gives to answers that have no body. */
const isUseful = (name: unknown): name is string =>
  typeof name === 'string' &&
  !/^(\d+|Unknown|UnknownError|Error|Forbidden|NotFound|S3ServiceException|Moved Permanently)$/.test(name);

/** Azure's code in answers to HEAD. */
function headerOf(response: unknown): string | undefined {
  const headers = fieldsOf(fieldsOf(response).headers);
  return typeof headers.get === 'function' ? text(headers.get('x-ms-error-code')) : undefined;
}

function textOf(error: unknown): string {
  const { message, details } = fieldsOf(error);
  return [text(fieldsOf(details).authenticationErrorDetail), text(message)].filter(Boolean).join(' ');
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
