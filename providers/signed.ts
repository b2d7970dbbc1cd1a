// A webhook as its provider sends it: a sample or another body, signed with the secret of a source.
import { randomUUID } from 'node:crypto';
import { signAs } from '../core/verification/sign.ts';
import type { Provider } from './provider.ts';
import { sampleOf } from './sample.ts';

interface SignedWebhook {
  event: string;
  headers: Record<string, string>;
  /** With what the provider adds to it. */
  body: Buffer;
  /** The same before that. */
  unsigned: Buffer;
  /** What the address has in its query. */
  query: Record<string, string>;
}

interface Wanted {
  /** One of its samples; the first when none is named. */
  event?: string | undefined;
  /** Of the source, in the form that the provider has it (`secretProblem`). */
  secret: string;
  /** Instead of the body of the sample. */
  body?: Buffer | undefined;
  /** The address as the provider has it, which some sign. */
  url: string;
}

/** @returns `no-sample` for an event that there is none of, `private-key` when nobody but the provider can sign */
export function signedWebhook(
  provider: Provider,
  { event, secret, body, url }: Wanted,
): SignedWebhook | 'no-sample' | 'private-key' {
  const now = new Date();
  const sample = sampleOf(provider, event, now);
  if (sample === undefined) return 'no-sample';
  const contentType = sample.headers['Content-Type'] ?? 'application/json';
  const unsigned = { url, body: body ?? sample.body, contentType, nowMs: now.getTime(), id: `msg_${randomUUID()}` };
  const signed = signAs(provider.verification, secret, unsigned);
  if (signed === null) return 'private-key';
  return {
    event: sample.event,
    headers: { ...sample.headers, ...signed.headers },
    body: signed.body,
    unsigned: unsigned.body,
    query: signed.query,
  };
}
