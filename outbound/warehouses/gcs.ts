// Google Cloud Storage. The SDK makes and reads requests; they are sent by the guarded transport, because the SDK
// connects by itself, uses proxies of the environment and follows redirects.
import { createHash, randomUUID } from 'node:crypto';
import { stringify } from 'node:querystring';
import type { ApiError as ApiErrorClass, Storage as StorageClass } from '@google-cloud/storage';
import { named, ownWords } from '../../core/text/error-summary.ts';
import type { WarehouseConfig } from '../../core/warehouse/config.ts';
import { readServiceAccountKey, type ServiceAccount, usesIdentity } from '../../core/warehouse/credentials.ts';
import { describeStoreError } from './errors.ts';
import type { GuardedHttp, GuardedResponse } from './guarded-http.ts';
import { asIdentity, type ObjectName, type OpenStore, type PartsUnderWay, StoreSettingsError } from './store.ts';

const DEFAULT_ENDPOINT = 'https://storage.googleapis.com';
const SCOPE = 'https://www.googleapis.com/auth/devstorage.read_write';
// A token is renewed well before it ends, so that none ends on its way or by a clock that is a little slow.
const RENEW_BEFORE_MS = 600_000;
/** The status of a session that waits for more. */
const MORE = 308;

export const openGcs: OpenStore<WarehouseConfig<'gcs'>> = async (config, http) => {
  const { Storage, ApiError } = await import('@google-cloud/storage');
  const apiEndpoint = config.endpoint?.replace(/\/+$/, '') ?? DEFAULT_ENDPOINT;
  const isIdentity = usesIdentity(config);
  const authorize = isIdentity
    ? await identityTokens(config.projectId)
    : await selfSignedTokens(readKey(config.serviceAccountKey ?? ''));
  // Holds neither key nor connections: both are the transport's, which is made for each call.
  const fileFor = (name: string, signal: AbortSignal) => {
    const storage = new Storage({
      projectId: config.projectId,
      apiEndpoint,
      retryOptions: { autoRetry: false, maxRetries: 0 },
      userAgent: 'hookyard',
    });
    storage.makeAuthenticatedRequest = transport({ http, signal, authorize, ApiError, client: storage.authClient });
    return storage.bucket(config.bucket).file(name);
  };

  return {
    async put({ key, body, contentType, metadata }, signal) {
      const md5Hash = createHash('md5').update(body).digest('base64');
      await fileFor(key, signal).save(body, {
        resumable: false,
        // The store compares with `md5Hash` before it keeps the object; the SDK would do so afterwards.
        validation: false,
        metadata: { contentType, md5Hash, metadata: { ...metadata } },
      });
    },
    // The SDK sends resumable uploads by a transport of its own, so these requests are made here.
    async begin(object, signal) {
      const query = new URLSearchParams({ uploadType: 'resumable', name: object.key });
      const url = new URL(`${apiEndpoint}/upload/storage/v1/b/${encodeURIComponent(config.bucket)}/o?${query}`);
      const headers = { 'content-type': 'application/json', 'x-upload-content-type': object.contentType };
      const begun = await http.send({
        method: 'POST',
        url,
        body: JSON.stringify({ contentType: object.contentType }),
        signal,
        headers: { ...headers, ...(await authorize(url)) },
      });
      readAnswer(begun, ApiError);
      // Whoever has this address may upload: it takes no token, and gets none.
      const session = URL.parse(begun.headers.location ?? '');
      if (session === null) throw new Error('The response to a new upload has no URL');
      return resumableUpload(http, session, object, ApiError);
    },
    async head(key, signal) {
      try {
        const [head] = await fileFor(key, signal).getMetadata();
        const metadata = Object.entries(head.metadata ?? {}).map(([name, value]) => [name, String(value)]);
        return {
          size: Number(head.size ?? 0),
          contentType: head.contentType ?? '',
          metadata: Object.fromEntries(metadata),
        };
      } catch (error) {
        const isMissing = error instanceof ApiError && error.code === 404;
        if (isMissing && !/bucket does not exist/i.test(error.message)) return null;
        throw error;
      }
    },
    describeError: (error) =>
      describeStoreError(error, {
        service: 'Google Cloud Storage',
        bucket: `bucket "${config.bucket}"`,
        credentials: isIdentity ? 'the service identity' : 'serviceAccountKey',
        address: config.endpoint === undefined ? 'the network' : 'endpoint',
        permission: 'the Storage Object User role',
        region: null,
      }),
  };
};

type Send = StorageClass['makeAuthenticatedRequest'];
type SdkRequest = Parameters<Send>[0];
type Callback = (error: Error | null, body?: unknown, response?: unknown) => void;

function transport(options: {
  http: GuardedHttp;
  signal: AbortSignal;
  authorize: Authorize;
  ApiError: typeof ApiErrorClass;
  client: StorageClass['authClient'];
}): Send {
  const { http, signal, authorize, ApiError, client } = options;
  const send = async (request: SdkRequest): Promise<[unknown, unknown]> => {
    const { headers, body } = await encode(request);
    const query = stringify(request.qs as Record<string, string>);
    const url = new URL(`${request.uri}${query === '' ? '' : `?${query}`}`);
    const method = request.method ?? 'GET';
    const answer = await http.send({ method, url, headers: { ...headers, ...(await authorize(url)) }, body, signal });
    return [readAnswer(answer, ApiError), { statusCode: answer.status, headers: answer.headers }];
  };
  const makeRequest = (request: SdkRequest, callback?: unknown): void => {
    // Both calls that are used here, `save` and `getMetadata`, pass one.
    const done = callback as Callback;
    send(request).then(
      ([body, response]) => done(null, body, response),
      (error: Error) => done(error),
    );
  };
  // The SDK's type also has a form that gives a stream, for downloads.
  return Object.assign(makeRequest, {
    authClient: client,
    getCredentials: client.getCredentials.bind(client),
  }) as unknown as Send;
}

type Encoded = { headers: Record<string, string>; body: Uint8Array | string | null };

/** The body of a request: none, JSON, or (an upload) metadata and content in two parts. */
async function encode(request: SdkRequest): Promise<Encoded> {
  const headers = { ...(request.headers as Record<string, string>) };
  const parts = request.multipart as { 'Content-Type': string; body: string | AsyncIterable<Buffer> }[] | undefined;
  if (parts === undefined) return { headers, body: request.json === undefined ? null : JSON.stringify(request.json) };
  const boundary = randomUUID();
  const chunks: Buffer[] = [];
  for (const part of parts) {
    chunks.push(Buffer.from(`--${boundary}\r\nContent-Type: ${part['Content-Type']}\r\n\r\n`));
    if (typeof part.body === 'string') chunks.push(Buffer.from(part.body));
    else for await (const chunk of part.body) chunks.push(chunk);
    chunks.push(Buffer.from('\r\n'));
  }
  chunks.push(Buffer.from(`--${boundary}--\r\n`));
  headers['Content-Type'] = `multipart/related; boundary=${boundary}`;
  return { headers, body: Buffer.concat(chunks) };
}

/** Google's documentation, "Perform resumable uploads", chunks. A session that nobody ends is dropped after a week. */
function resumableUpload(
  http: GuardedHttp,
  session: URL,
  { contentType }: ObjectName,
  ApiError: typeof ApiErrorClass,
): PartsUnderWay {
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
          readAnswer(answer, ApiError);
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
      const { md5Hash } = readAnswer(answer, ApiError) as { md5Hash?: string };
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

/** The JSON of an answer. @throws ApiError for every status but 2xx */
function readAnswer({ status, body }: GuardedResponse, ApiError: typeof ApiErrorClass): unknown {
  const text = body.toString();
  let answer: unknown = null;
  try {
    answer = JSON.parse(text);
  } catch {
    // Of whatever stands before the store.
  }
  if (status >= 200 && status <= 299) return answer ?? {};
  const { error } = (answer ?? {}) as { error?: { message?: string; errors?: { reason?: string }[] } };
  const failure = new ApiError(error?.message ?? (text || `HTTP status ${status}`));
  throw Object.assign(failure, { code: status, errors: error?.errors ?? [], response: { statusCode: status } });
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
async function selfSignedTokens({ clientEmail, privateKey, privateKeyId }: ServiceAccount): Promise<Authorize> {
  const { JWTAccess } = await import('google-auth-library');
  const newSigner = () => new JWTAccess(clientEmail, privateKey, privateKeyId, RENEW_BEFORE_MS);
  let [signer, askedAt] = [newSigner(), 0];
  return async (url): Promise<Record<string, string>> => {
    if (!isTrustedWithTokens(url)) return {};
    // A clock that was set back makes the token that is kept one of the future, which is refused.
    if (Date.now() < askedAt) signer = newSigner();
    askedAt = Date.now();
    return Object.fromEntries(signer.getRequestHeaders('', undefined, SCOPE));
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
