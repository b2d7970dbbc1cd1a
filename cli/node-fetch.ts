// Requests of the command line. Not by fetch, whose rules protect pages in browsers: it refuses ports such as 6000 and
// 10080, takes headers out and adds its own, and decodes answers.
import { type IncomingMessage, type RequestOptions, request as overHttp } from 'node:http';
import { request as overTls } from 'node:https';
import { Readable } from 'node:stream';

/**
 * @returns the answer when its headers are here; the body is to be read. It may be a redirect, which is not followed
 */
export function requestOf(url: URL, options: RequestOptions, body?: Uint8Array | string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? overTls : overHttp)(url, options, resolve);
    request.on('error', reject);
    // Node writes the headers in the encoding of a body that is text.
    request.end(typeof body === 'string' ? Buffer.from(body) : body);
  });
}

// Answers that a `Response` may not have a body of (Fetch Standard, "null body status").
const WITHOUT_BODY = [204, 205, 304];

export const nodeFetch: typeof fetch = async (address, { method, headers, body, signal } = {}) => {
  const fields = Object.fromEntries(new Headers(headers));
  const options = { method: method ?? 'GET', headers: fields, ...(signal && { signal }) };
  const answer = await requestOf(new URL(String(address)), options, body as Uint8Array | string | undefined);
  const { statusCode: status = 0, rawHeaders } = answer;
  const received = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) received.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  if (WITHOUT_BODY.includes(status)) answer.resume();
  const content = WITHOUT_BODY.includes(status) ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>);
  return new Response(content, { status, headers: received });
};
