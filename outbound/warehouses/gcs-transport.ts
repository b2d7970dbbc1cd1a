// Google's side of the guarded transport: stands in for the function with which the SDK authorizes and sends a request, since the
// SDK's own does not let us choose how it connects, uses proxies from the environment and follows redirects.
import { randomUUID } from 'node:crypto';
import { stringify } from 'node:querystring';
import type { ApiError as ApiErrorClass, Storage } from '@google-cloud/storage';
import type { GuardedHttp, GuardedResponse } from './guarded-http.ts';

type Send = Storage['makeAuthenticatedRequest'];
type SdkRequest = Parameters<Send>[0];
/** The headers that prove who asks, for a request to an address. */
export type Authorize = (url: URL) => Promise<Record<string, string>>;

type Callback = (error: Error | null, body?: unknown, response?: unknown) => void;

/**
 * Makes the function for the requests of one call.
 * @param options.authorize gives the headers that prove who asks
 */
export function gcsTransport(options: {
  http: GuardedHttp;
  signal: AbortSignal;
  authorize: Authorize;
  authClient: Storage['authClient'];
  ApiError: typeof ApiErrorClass;
}): Send {
  const send = async (request: SdkRequest): Promise<[unknown, unknown]> => {
    const { headers, body } = await encode(request);
    const query = stringify(request.qs as Record<string, string>);
    const url = new URL(`${request.uri}${query === '' ? '' : `?${query}`}`);
    const answer = await options.http.send({
      method: request.method ?? 'GET',
      url,
      headers: { ...headers, ...(await options.authorize(url)) },
      body,
      signal: options.signal,
    });
    return readAnswer(answer, options.ApiError);
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
  const { authClient } = options;
  return Object.assign(makeRequest, {
    authClient,
    getCredentials: authClient.getCredentials.bind(authClient),
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

/** Body and response as the SDK expects them. @throws ApiError for every status but 2xx */
export function readAnswer(answer: GuardedResponse, ApiError: typeof ApiErrorClass): [unknown, unknown] {
  const text = answer.body.toString();
  const body = parse(text);
  const response = { statusCode: answer.status, headers: answer.headers, body: text };
  if (answer.status >= 200 && answer.status <= 299) return [body, response];
  const { message, errors } = errorOf(body) ?? { message: text, errors: undefined };
  const error = new ApiError(message || `HTTP status ${answer.status}`);
  throw Object.assign(error, { code: answer.status, errors: errors ?? [], response });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function errorOf(body: unknown): { message: string; errors?: { reason?: string }[] } | undefined {
  if (typeof body !== 'object' || body === null || !('error' in body)) return undefined;
  const { error } = body;
  return typeof error === 'object' && error !== null && 'message' in error
    ? (error as { message: string; errors?: { reason?: string }[] })
    : undefined;
}
