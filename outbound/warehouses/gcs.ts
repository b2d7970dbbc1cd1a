// Google Cloud Storage by its JSON API: "Objects: insert", "Objects: get" and "Perform resumable uploads". Google's own
// library connects by itself, uses proxies of the environment and follows redirects.
import { createHash, randomUUID, sign } from 'node:crypto';
import { named, ownWords } from '../../core/text/error-summary.ts';
import type { WarehouseConfig } from '../../core/warehouse/config.ts';
import { readServiceAccountKey, type ServiceAccount, usesIdentity } from '../../core/warehouse/credentials.ts';
import { describeStoreError } from './errors.ts';
import type { GuardedHttp, GuardedRequest, GuardedResponse } from './guarded-http.ts';
import { asIdentity, type ObjectName, type OpenStore, type PartsUnderWay, StoreSettingsError } from './store.ts';

const DEFAULT_ENDPOINT = 'https://storage.googleapis.com';
const SCOPE = 'https://www.googleapis.com/auth/devstorage.read_write';
const LIFETIME_S = 3600;
/** The status of a session that waits for more. */
const MORE = 308;

export const openGcs: OpenStore<WarehouseConfig<'gcs'>> = async (config, http) => {
  const isIdentity = usesIdentity(config);
  const authorize = isIdentity
    ? await identityTokens(config.projectId)
    : selfSignedTokens(readKey(config.serviceAccountKey ?? ''));
  const api = config.endpoint?.replace(/\/+$/, '') ?? DEFAULT_ENDPOINT;
  const objects = `/storage/v1/b/${encodeURIComponent(config.bucket)}/o`;

  async function ask(path: string, request: Omit<GuardedRequest, 'url'>): Promise<GuardedResponse> {
    const url = new URL(api + path);
    const headers = { 'user-agent': 'hookyard', ...request.headers, ...(await authorize(url)) };
    return http.send({ ...request, url, headers });
  }

  const insert = (uploadType: string, name: string, request: Omit<GuardedRequest, 'url' | 'method'>) =>
    ask(`/upload${objects}?${new URLSearchParams({ uploadType, name })}`, { ...request, method: 'POST' });

  return {
    async put({ key, body, contentType, metadata }, signal) {
      // The store compares with it before it keeps the object.
      const md5Hash = createHash('md5').update(body).digest('base64');
      const boundary = randomUUID();
      const parts = [
        `--${boundary}\r\ncontent-type: application/json\r\n\r\n${JSON.stringify({ contentType, md5Hash, metadata })}\r\n`,
        `--${boundary}\r\ncontent-type: ${contentType}\r\n\r\n`,
        body,
        `\r\n--${boundary}--\r\n`,
      ];
      const headers = { 'content-type': `multipart/related; boundary=${boundary}` };
      const whole = Buffer.concat(parts.map((part) => Buffer.from(part)));
      readAnswer(await insert('multipart', key, { headers, body: whole, signal }));
    },
    async begin(object, signal) {
      const { key, contentType } = object;
      const headers = { 'content-type': 'application/json', 'x-upload-content-type': contentType };
      const begun = await insert('resumable', key, { headers, body: JSON.stringify({ contentType }), signal });
      readAnswer(begun);
      // Whoever has this address may upload: it takes no token, and gets none.
      const session = URL.parse(begun.headers.location ?? '');
      if (session === null) throw new Error('The response to a new upload has no URL');
      return resumableUpload(http, session, object);
    },
    async head(key, signal) {
      const answer = await ask(`${objects}/${encodeURIComponent(key)}`, { method: 'GET', headers: {}, signal });
      if (answer.status === 404 && !/bucket does not exist/i.test(answer.body.toString())) return null;
      const { size, contentType, metadata } = readAnswer(answer);
      return { size: Number(size ?? 0), contentType: contentType ?? '', metadata: metadata ?? {} };
    },
    describeError: (error) =>
      describeStoreError(error, {
        service: 'Google Cloud Storage',
        bucket: `bucket "${config.bucket}"`,
        credentials: isIdentity ? 'the service identity' : 'serviceAccountKey',
        address: config.endpoint === undefined ? 'the network' : 'endpoint',
        permission: 'the role Storage Object User',
        region: null,
      }),
  };
};

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
      const { md5Hash } = readAnswer(answer);
      if (md5Hash !== digest.digest('base64'))
        throw new Error('The bytes in the store differ from the bytes that were sent');
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

/** An answer with another status than 2xx. */
class GcsError extends Error {
  readonly statusCode: number;
  /** Google's name for the reason. */
  readonly code: string | undefined;
  constructor(message: string, statusCode: number, code: string | undefined) {
    super(message);
    this.statusCode = statusCode;
    this.code = code;
  }
}

/** An object as the store describes it, or what it says of an error. */
interface GcsAnswer {
  size?: string;
  contentType?: string;
  metadata?: Record<string, string>;
  md5Hash?: string;
  error?: { message?: string; errors?: { reason?: string }[] };
}

/** @throws GcsError for every status but 2xx */
function readAnswer({ status, body }: GuardedResponse): GcsAnswer {
  const text = body.toString();
  let answer: GcsAnswer | null = null;
  try {
    answer = JSON.parse(text);
  } catch {
    // Of whatever stands before the store.
  }
  if (status >= 200 && status <= 299) return answer ?? {};
  const { message, errors } = answer?.error ?? {};
  throw new GcsError(message ?? (text || `HTTP status ${status}`), status, errors?.[0]?.reason);
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
 * A service account signs its tokens itself (AIP-4111, "Self-signed JWT", with scopes instead of an audience): no other
 * address to ask.
 */
function selfSignedTokens({ clientEmail, privateKey, privateKeyId }: ServiceAccount): Authorize {
  return async (url): Promise<Record<string, string>> => {
    if (!isTrustedWithTokens(url)) return {};
    const now = Math.floor(Date.now() / 1000);
    const header = { alg: 'RS256', typ: 'JWT', kid: privateKeyId };
    const claims = { iss: clientEmail, sub: clientEmail, scope: SCOPE, iat: now, exp: now + LIFETIME_S };
    const unsigned = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const signature = sign('RSA-SHA256', Buffer.from(unsigned), privateKey).toString('base64url');
    return { authorization: `Bearer ${unsigned}.${signature}` };
  };
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
