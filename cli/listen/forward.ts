// Passing a delivery on to the program that is being developed, and its answer back.
import { deliveryUrl } from '../../core/delivery-url.ts';
import type { Received, Reply } from './receiver.ts';

const DEADLINE_MS = 60_000;
/** RFC 9110, section 7.6.1, and what fetch sets by itself. */
const OWN_OF_A_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'content-length',
  'content-encoding',
  'expect',
]);

/** Where a webhook is passed on to: the path below its source and its query follow. */
export function forwardUrl(url: string, { path, query }: Pick<Received, 'path' | 'query'>): string {
  return deliveryUrl({ url, forwardPath: true, forwardQuery: true }, { path, query });
}

/** Forwards a request; an address that does not answer gives 502, so that the delivery is tried again. */
export async function forward(url: string, { method, headers, body }: Received): Promise<Reply> {
  try {
    const response = await fetch(url, {
      method,
      headers: withoutConnection(headers),
      body: new Uint8Array(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    return {
      status: response.status,
      headers: withoutConnection(Object.fromEntries(response.headers)),
      body: Buffer.from(await response.arrayBuffer()),
    };
  } catch (error) {
    const { cause, message } = error as Error;
    const reason = cause instanceof Error && cause.message ? cause.message : message;
    return {
      status: 502,
      headers: { 'Content-Type': 'text/plain' },
      body: Buffer.from(`${url} did not answer: ${reason}`),
    };
  }
}

function withoutConnection(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_OF_A_CONNECTION.has(name)));
}
