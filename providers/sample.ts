// A webhook as its provider sends it now: a sample or another body, signed with the secret of a source.
import { randomUUID } from 'node:crypto';
import { signAs } from '../core/verification/index.ts';
import type { Provider, Sample } from './provider.ts';

const JSON_TYPE = 'application/json';

/** The sample of an event, with its own ids and times; undefined when there is none of this name. */
export function sampleOf(
  { samples }: Pick<Provider, 'verification' | 'samples'>,
  event: string | undefined,
  now: Date,
): { event: string; headers: Record<string, string>; body: Buffer } | undefined {
  const sample = event === undefined ? samples[0] : samples.find((each) => each.event === event);
  return sample && { event: sample.event, ...filled(sample, now) };
}

/**
 * `{uuid}` and `{hex}` become an id, one in the whole webhook; `{time}` and `{seconds}` the time. A member whose whole
 * value is `{seconds:number}` or `{milliseconds:number}` becomes a number.
 */
function filled({ headers, body }: Sample, now: Date) {
  const typed = { 'Content-Type': JSON_TYPE, ...headers };
  const id = randomUUID();
  const seconds = String(Math.floor(now.getTime() / 1000));
  const fill = (text: string): string =>
    text
      .replaceAll('"{seconds:number}"', seconds)
      .replaceAll('"{milliseconds:number}"', String(now.getTime()))
      .replaceAll('{uuid}', id)
      .replaceAll('{hex}', id.replaceAll('-', ''))
      .replaceAll('{seconds}', seconds)
      .replaceAll('{time}', now.toISOString());
  return {
    headers: Object.fromEntries(Object.entries(typed).map(([name, value]) => [name, fill(value)])),
    body: Buffer.from(fill(typeof body === 'string' ? body : JSON.stringify(body))),
  };
}

interface Wanted {
  /** One of its samples; the first when none is named. */
  event?: string | undefined;
  /** Of the source, in the form that the provider has it (`secretProblem`). */
  secret: string;
  /** Instead of the body of the sample. */
  body?: Buffer | undefined;
  url: string;
}

/** @returns `no-sample` for an event that there is none of, `private-key` when nobody but the provider can sign */
export function signedWebhook(
  provider: Pick<Provider, 'verification' | 'samples'>,
  { event, secret, body, url }: Wanted,
) {
  const now = new Date();
  const sample = sampleOf(provider, event, now);
  if (sample === undefined) return 'no-sample' as const;
  const contentType = sample.headers['Content-Type'] ?? JSON_TYPE;
  const unsigned = { url, body: body ?? sample.body, contentType, nowMs: now.getTime(), id: `msg_${randomUUID()}` };
  const signed = signAs(provider.verification, secret, unsigned);
  if (signed === null) return 'private-key' as const;
  return {
    event: sample.event,
    headers: { ...sample.headers, ...signed.headers },
    body: signed.body,
    unsigned: unsigned.body,
    query: signed.query,
  };
}
