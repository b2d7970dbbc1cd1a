// A sample webhook of a provider, as it is sent now.
import { randomUUID } from 'node:crypto';
import type { Provider, Sample } from './provider.ts';

/** The sample of an event, with its own ids and times; undefined when there is none of this name. */
export function sampleOf(
  { samples }: Provider,
  event: string | undefined,
  now: Date,
): { event: string; headers: Record<string, string>; body: Buffer } | undefined {
  const sample = event === undefined ? samples[0] : samples.find((each) => each.event === event);
  return sample && { event: sample.event, ...filled(sample, now) };
}

/**
 * `{uuid}` and `{hex}` become an id, one in the whole webhook; `{time}` and `{seconds}` the time. A member whose whole value is
 * `{seconds:number}` or `{milliseconds:number}` becomes a number.
 */
function filled({ headers, body }: Sample, now: Date) {
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
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)])),
    body: Buffer.from(fill(typeof body === 'string' ? body : JSON.stringify(body))),
  };
}
