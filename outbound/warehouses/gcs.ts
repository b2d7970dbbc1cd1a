// Google Cloud Storage, by its JSON API: an upload whole or in parts, and what is known of an object.
import { createHash, randomUUID, sign } from 'node:crypto';
import { named, ownWords } from '../../core/text/error-summary.ts';
import type { WarehouseConfig } from '../../core/warehouse/config.ts';
import { readServiceAccountKey, type ServiceAccount, usesIdentity } from '../../core/warehouse/credentials.ts';
import type { GuardedHttp, GuardedRequest, GuardedResponse } from './guarded-http.ts';
import { asIdentity, type ObjectName, type OpenStore, type PartsUnderWay, StoreSettingsError } from './store.ts';

const DEFAULT_ENDPOINT = 'https://storage.googleapis.com';
const SCOPE = 'https://www.googleapis.com/auth/devstorage.read_write';
const LIFETIME_S = 3600;
// A token is renewed well before it ends, so that none ends on its way.
const RENEW_S = 3000;
/** The status of a session that waits for more. */
const MORE = 308;

export const openGcs: OpenStore<WarehouseConfig<'gcs'>> = async (config, http) => {
  const isIdentity = usesIdentity(config);
  const authorize = isIdentity
    ? await identityTokens(config.projectId)
    : selfSignedTokens(readKey(config.serviceAccountKey ?? ''));
  const endpoint = config.endpoint?.replace(/\/+$/, '') ?? DEFAULT_ENDPOINT;
  const objects = `storage/v1/b/${encodeURIComponent(config.bucket)}/o`;

  /** @throws AnswerError */
  async function send(path: string, request: Omit<GuardedRequest, 'url'>): Promise<GuardedResponse> {
    const url = new URL(`${endpoint}/${path}`);
    const headers = { 'user-agent': 'hookyard', ...request.headers, ...(await authorize(url)) };
    return accepted(await http.send({ ...request, url, headers }));
  }

  const upload = (query: { uploadType: string; name: string }, request: Omit<GuardedRequest, 'url' | 'method'>) =>
    send(`upload/${objects}?${new URLSearchParams(query)}`, { method: 'POST', ...request });

  return {
    async put({ key, body, contentType, metadata }, signal) {
      // The store compares with it before it keeps the object.
      const md5Hash = createHash('md5').update(body).digest('base64');
      const parts = inTwoParts({ contentType, md5Hash, metadata }, { contentType, body });
      await upload({ uploadType: 'multipart', name: key }, { ...parts, signal });
    },
    async begin(object, signal) {
      const { key: name, contentType } = object;
      const headers = { 'content-type': 'application/json', 'x-upload-content-type': contentType };
      const body = JSON.stringify({ contentType });
      const begun = await upload({ uploadType: 'resumable', name }, { headers, body, signal });
      // Whoever has this address may upload: it takes no token, and gets none.
      const session = URL.parse(begun.headers.location ?? '');
      if (session === null) throw new Error('The response to a new upload has no URL');
      return resumableUpload(http, session, object);
    },
    async head(key, signal) {
      const answer = await send(`${objects}/${encodeURIComponent(key)}`, { method: 'GET', headers: {}, signal });
      const { size = 0, contentType = '', metadata = {} } = (jsonOf(answer) ?? {}) as GcsObject;
      return { size: Number(size), contentType, metadata };
    },
    isMissing: (error) =>
      error instanceof AnswerError && error.statusCode === 404 && !/bucket does not exist/i.test(error.message),
    wording: {
      service: 'Google Cloud Storage',
      bucket: `bucket "${config.bucket}"`,
      credentials: isIdentity ? 'the service identity' : 'serviceAccountKey',
      address: config.endpoint === undefined ? 'the network' : 'endpoint',
      permission: 'the Storage Object User role',
      region: null,
    },
  };
};

interface GcsObject {
  /** Bytes, as digits. */
  size?: string;
  contentType?: string;
  metadata?: Record<string, string>;
  md5Hash?: string;
}

/** A refusal of the API (errors.ts). */
class AnswerError extends Error {
  override readonly name = 'AnswerError';
  readonly statusCode: number;
  readonly errors: { reason?: string }[];
  constructor(statusCode: number, message: string, errors: { reason?: string }[] = []) {
    super(message);
    this.statusCode = statusCode;
    this.errors = errors;
  }
}

/** @throws AnswerError for every status but 2xx */
function accepted(answer: GuardedResponse): GuardedResponse {
  const { status } = answer;
  if (status >= 200 && status <= 299) return answer;
  const { error } = (jsonOf(answer) ?? {}) as { error?: { message?: string; errors?: { reason?: string }[] } };
  throw new AnswerError(status, error?.message ?? (answer.body.toString() || `HTTP status ${status}`), error?.errors);
}

/** Null for the page of whatever stands before the store. */
function jsonOf({ body }: GuardedResponse): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}

/** Google's documentation, "Upload an object by using a multipart upload": its metadata, then its content. */
function inTwoParts(metadata: object, { contentType, body }: { contentType: string; body: Buffer }) {
  const boundary = randomUUID();
  const head = (type: string) => `--${boundary}\r\nContent-Type: ${type}\r\n\r\n`;
  const before = `${head('application/json')}${JSON.stringify(metadata)}\r\n${head(contentType)}`;
  return {
    headers: { 'content-type': `multipart/related; boundary=${boundary}` },
    body: Buffer.concat([Buffer.from(before), body, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}

/** Google's documentation, "Perform resumable uploads", chunks. A session that nobody ends is dropped after a week. */
function resumableUpload(http: GuardedHttp, session: URL, { contentType }: ObjectName): PartsUnderWay {
  const digest = createHash('md5');
  let sent = 0;

  const put = (part: Buffer, total: number | '*', signal: AbortSignal): Promise<GuardedResponse> => {
    const range = `bytes ${sent}-${sent + part.length - 1}/${total}`;
    const headers = { 'content-range': range, 'content-type': contentType };
    return http.send({ method: 'PUT', url: session, headers, body: part, signal });
  };

  return {
    async send(part, signal) {
      digest.update(part);
      const end = sent + part.length;
      // The store may keep less than it was sent.
      while (sent < end) {
        const answer = await put(part.subarray(part.length - (end - sent)), '*', signal);
        if (answer.status !== MORE) {
          accepted(answer);
          throw new Error('The upload ended before its last part');
        }
        const kept = keptBytes(answer);
        if (kept <= sent || kept > end) throw new Error(`${kept} of the upload's ${end} bytes were saved`);
        sent = kept;
      }
    },
    async complete(last, _metadata, signal) {
      digest.update(last);
      const answer = await put(last, sent + last.length, signal);
      if (answer.status === MORE) throw new Error('The last part of the upload was not saved');
      const { md5Hash } = (jsonOf(accepted(answer)) ?? {}) as GcsObject;
      if (md5Hash !== digest.digest('base64')) throw new Error('The saved bytes differ from the bytes that were sent');
    },
    async abort(signal) {
      await http.send({ method: 'DELETE', url: session, headers: { 'content-length': '0' }, signal });
    },
  };
}

/** From `bytes=0-524287`. */
function keptBytes({ headers }: GuardedResponse): number {
  const last = /-(\d+)$/.exec(headers.range ?? '')?.[1];
  return last === undefined ? 0 : Number(last) + 1;
}

function readKey(json: string): ServiceAccount {
  try {
    return readServiceAccountKey(json);
  } catch (error) {
    // Its own words: it never quotes the key.
    const reason = error instanceof Error ? error.message : 'cannot be read';
    throw new StoreSettingsError(ownWords`serviceAccountKey ${named(reason)}`);
  }
}

type Authorize = (url: URL) => Promise<Record<string, string>>;

/** A token opens every bucket its account may use, so it goes to Google alone; emulators need none. */
function isTrustedWithTokens({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' && (hostname === 'googleapis.com' || hostname.endsWith('.googleapis.com'));
}

/**
 * A service account signs its tokens itself (AIP-4111, "Self-signed JWT", with scopes instead of an audience): one
 * request less for each hour, and no other address to ask.
 */
function selfSignedTokens(account: ServiceAccount): Authorize {
  let token = '';
  let signedAt = Number.NEGATIVE_INFINITY;
  return async (url): Promise<Record<string, string>> => {
    if (!isTrustedWithTokens(url)) return {};
    const now = Math.floor(Date.now() / 1000);
    // A clock that was set back makes a token of the future, which is refused.
    if (now - signedAt >= RENEW_S || now < signedAt) {
      token = signToken(account, now);
      signedAt = now;
    }
    return { authorization: `Bearer ${token}` };
  };
}

/** @param now seconds since 1970 */
function signToken({ clientEmail, privateKey, privateKeyId }: ServiceAccount, now: number): string {
  const header = { alg: 'RS256', typ: 'JWT', kid: privateKeyId };
  const claims = { iss: clientEmail, sub: clientEmail, scope: SCOPE, iat: now, exp: now + LIFETIME_S };
  const unsigned = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${unsigned}.${sign('RSA-SHA256', Buffer.from(unsigned), privateKey).toString('base64url')}`;
}

/**
 * Tokens of the identity of this service, by Google's own library: it asks the metadata server, or what
 * GOOGLE_APPLICATION_CREDENTIALS names, by its own transport, and keeps a token until it ends.
 */
export async function identityTokens(projectId: string): Promise<Authorize> {
  const { GoogleAuth } = await import('google-auth-library');
  // With the project, so that the library does not look for it by running programs.
  const auth = new GoogleAuth({ scopes: [SCOPE], projectId });
  return async (url): Promise<Record<string, string>> => {
    if (!isTrustedWithTokens(url)) return {};
    return { authorization: `Bearer ${await asIdentity(() => auth.getAccessToken())}` };
  };
}
