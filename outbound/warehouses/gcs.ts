// Google Cloud Storage by its JSON API. Its SDK connects by itself, uses proxies of the environment and follows redirects, so requests are
// made here.
import { createHash, randomUUID, sign } from 'node:crypto';
import { named, ownWords } from '../../core/text/error-summary.ts';
import type { WarehouseConfig } from '../../core/warehouse/config.ts';
import { readServiceAccountKey, type ServiceAccount, usesIdentity } from '../../core/warehouse/credentials.ts';
import { describeStoreError } from './errors.ts';
import type { GuardedHttp, GuardedRequest, GuardedResponse } from './guarded-http.ts';
import {
  asIdentity,
  type ObjectName,
  type OpenStore,
  type PartsUnderWay,
  type StoredObject,
  StoreSettingsError,
} from './store.ts';

const DEFAULT_ENDPOINT = 'https://storage.googleapis.com';
const SCOPE = 'https://www.googleapis.com/auth/devstorage.read_write';
const LIFETIME_S = 3600;
// A token is renewed well before it ends, so that none ends on its way.
const RENEW_S = 3000;
/** The status of a session that waits for more. */
const MORE = 308;

export const openGcs: OpenStore<WarehouseConfig<'gcs'>> = async (config, http) => {
  const endpoint = config.endpoint?.replace(/\/+$/, '') ?? DEFAULT_ENDPOINT;
  const objects = `storage/v1/b/${encodeURIComponent(config.bucket)}/o`;
  const isIdentity = usesIdentity(config);
  const authorize = isIdentity
    ? await identityTokens(config.projectId)
    : selfSignedTokens(readKey(config.serviceAccountKey ?? ''));

  const send = async (request: GuardedRequest): Promise<GuardedResponse> => {
    const headers = { 'user-agent': 'hookyard', ...request.headers, ...(await authorize(request.url)) };
    return http.send({ ...request, headers });
  };

  /** A request that uploads an object, or begins to. */
  const upload = (type: 'multipart' | 'resumable', key: string, request: Omit<GuardedRequest, 'method' | 'url'>) => {
    const query = new URLSearchParams({ uploadType: type, name: key });
    return send({ ...request, method: 'POST', url: new URL(`${endpoint}/upload/${objects}?${query}`) });
  };

  return {
    async put(object, signal) {
      readAnswer(await upload('multipart', object.key, { ...inTwoParts(object), signal }));
    },
    async begin(object, signal) {
      const { contentType } = object;
      const begun = await upload('resumable', object.key, {
        headers: { 'content-type': 'application/json', 'x-upload-content-type': contentType },
        body: JSON.stringify({ contentType }),
        signal,
      });
      readAnswer(begun);
      // Whoever has this address may upload: it takes no token, and gets none.
      const session = URL.parse(begun.headers.location ?? '');
      if (session === null) throw new Error('The answer to a new upload has no address');
      return resumableUpload(http, session, object);
    },
    async head(key, signal) {
      const url = new URL(`${endpoint}/${objects}/${encodeURIComponent(key)}`);
      const answer = await send({ method: 'GET', url, headers: {}, signal });
      if (answer.status === 404 && !/bucket does not exist/i.test(answer.body.toString())) return null;
      const { size, contentType = '', metadata = {} } = readAnswer(answer) as ObjectResource;
      return { size: Number(size), contentType, metadata };
    },
    describeError: (error) =>
      describeStoreError(error, {
        service: 'Google Cloud Storage',
        bucket: `bucket "${config.bucket}"`,
        credentials: isIdentity ? 'the identity of this service' : 'serviceAccountKey',
        address: config.endpoint === undefined ? 'the network' : 'endpoint',
        permission: 'the role Storage Object User',
        region: null,
      }),
    close: () => undefined,
  };
};

/** The members of an object's resource that are used here. */
interface ObjectResource {
  size: string;
  contentType?: string;
  metadata?: Record<string, string>;
  md5Hash?: string;
}

/** Headers and body of an upload: the metadata, whose hash the store compares before it keeps the object, and the content. */
function inTwoParts({ body, contentType, metadata }: StoredObject): Pick<GuardedRequest, 'headers' | 'body'> {
  const boundary = randomUUID();
  const resource = { contentType, md5Hash: createHash('md5').update(body).digest('base64'), metadata };
  const parts = [
    `--${boundary}\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(resource)}\r\n`,
    `--${boundary}\r\nContent-Type: ${contentType}\r\n\r\n`,
    body,
    `\r\n--${boundary}--\r\n`,
  ];
  return {
    headers: { 'content-type': `multipart/related; boundary=${boundary}` },
    body: Buffer.concat(parts.map((part) => Buffer.from(part))),
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
          readAnswer(answer);
          throw new Error('The upload was ended before its last part');
        }
        const kept = keptBytes(answer);
        if (kept <= sent || kept > end) throw new Error(`The store has ${kept} bytes of an upload of ${end}`);
        sent = kept;
      }
    },
    async complete(last, _metadata, signal) {
      digest.update(last);
      const answer = await put(last, sent + last.length, signal);
      if (answer.status === MORE) throw new Error('The store has not kept the last part of an upload');
      const { md5Hash } = readAnswer(answer) as ObjectResource;
      if (md5Hash !== digest.digest('base64')) throw new Error('The store has other bytes than were sent');
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

/** The JSON of an answer. @throws an error that errors.ts reads, for every status but 2xx */
function readAnswer({ status, body }: GuardedResponse): unknown {
  const text = body.toString();
  let answer: unknown = null;
  try {
    answer = JSON.parse(text);
  } catch {
    // Of whatever stands before the store.
  }
  if (status >= 200 && status <= 299) return answer ?? {};
  const { error } = (answer ?? {}) as { error?: { message?: string; errors?: { reason?: string }[] } };
  const failure = new Error(error?.message ?? (text || `HTTP status ${status}`));
  throw Object.assign(failure, { statusCode: status, errors: error?.errors ?? [] });
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

/** The headers that authenticate a request to an address. */
type Authorize = (url: URL) => Promise<Record<string, string>>;

/** A token opens every bucket its account may use, so it goes to Google alone; emulators need none. */
function isTrustedWithTokens({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' && (hostname === 'googleapis.com' || hostname.endsWith('.googleapis.com'));
}

/**
 * A service account signs its tokens itself (AIP-4111, "Self-signed JWT", with scopes instead of an audience): one request less for each
 * hour, and no other address to ask.
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
 * Tokens of the identity of this service, by Google's own library: it asks the metadata server, or what GOOGLE_APPLICATION_CREDENTIALS
 * names, by its own transport, and keeps a token until it ends.
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
