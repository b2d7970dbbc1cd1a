// Passing a delivery on to the program that is being developed, and its answer back, both byte by byte.
import { deliveryAddress } from '../../core/delivery/delivery-url.ts';
import { CONNECTION_HEADERS } from '../../core/http/headers.ts';
import { requestOf } from '../node-fetch.ts';
import type { Received, Reply } from './receiver.ts';

const DEADLINE_MS = 60_000;
/** Of an answer (RFC 9110, section 7.6.1), and the length, which is computed. */
const CONNECTION_HEADERS_OF_ANSWERS: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'keep-alive', 'proxy-connection', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/** Where a webhook is passed on to: the path below its source and its query follow. */
export function forwardAddress(url: string, { path, query }: Pick<Received, 'path' | 'query'>) {
  return deliveryAddress({ url, forwardPath: true, forwardQuery: true }, { path, query });
}

/** Forwards a request; an address that does not answer gives 502, so that the delivery is tried again. */
export async function forward(
  { url, target }: ReturnType<typeof forwardAddress>,
  { method, headers, body }: Received,
): Promise<Reply> {
  try {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const options = { method, headers: ofTheRequest(headers, body), signal, ...(target !== null && { path: target }) };
    const answer = await requestOf(new URL(url), options, body);
    const parts: Buffer[] = [];
    for await (const part of answer as AsyncIterable<Buffer>) parts.push(part);
    return {
      status: answer.statusCode ?? 502,
      headers: ofTheAnswer(answer.rawHeaders),
      body: Buffer.concat(parts),
    };
  } catch (error) {
    return {
      status: 502,
      headers: ['Content-Type', 'text/plain'],
      body: Buffer.from(`${url} did not answer: ${reasonOf(error as Error)}`),
    };
  }
}

/** Of several addresses of a name each has its reason. */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError) return error.errors.map((each: Error) => each.message).join('; ');
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function ofTheRequest(headers: Record<string, string>, body: Buffer): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.has(name) && name !== 'proxy-connection');
  return { ...Object.fromEntries(kept), 'content-length': String(body.length) };
}

/** Names and values in turn, as they came. */
function ofTheAnswer(raw: readonly string[]): string[] {
  return raw.filter((_text, at) => !CONNECTION_HEADERS_OF_ANSWERS.has((raw[at - (at % 2)] ?? '').toLowerCase()));
}
