// What the guide does: creates source, destination and route, sends a sample, breaks the route and repairs it.
import type { Destination, Route, Source } from '@hookyard/client';
import { call, apiUrl } from '../../api/client.ts';

/**
 * A slug that is proposed for a name: small letters, digits and hyphens. The API writes all scripts in Latin letters
 * where it makes a slug; its table is too large for a page, so a name without Latin letters gets a hash here. Empty for
 * an empty name.
 */
export function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 63)
    .replace(/-$/, '');
  return slug === '' && name.trim() !== '' ? `source-${hash(name.trim())}` : slug;
}

/** FNV-1a: the same name gets the same slug, other names another one. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value.toString(36);
}

export interface FirstValues {
  name: string;
  url: string;
  /** Of listProviders; empty: a custom sender, whose webhooks are not verified. */
  provider: string;
  secret: string;
  verifyToken: string;
}

export interface Made {
  destination?: Destination;
  source?: Source;
  route?: Route;
}

/**
 * What was created before a step was refused is changed by the next try, not created again.
 * @param made is filled as it goes
 */
export async function createAll(values: FirstValues, made: Made): Promise<Required<Made>> {
  const { name, url } = values;
  // The destination first: its URL is what may be refused.
  const receiver = { name: `${name} receiver`, url };
  const destination = made.destination
    ? await call('updateDestination', { id: made.destination.id, body: receiver })
    : await call('createDestination', { body: receiver });
  made.destination = destination;
  const sender = { name, ...verification(values) };
  const source = made.source
    ? await call('updateSource', { id: made.source.id, body: sender as never })
    : await call('createSource', { body: { ...sender, slug: slugOf(name) } as never });
  made.source = source;
  const body = { name, destinationIds: [destination.id] };
  const route = made.route
    ? await call('updateRoute', { id: made.route.id, body })
    : await call('createRoute', { body: { ...body, sourceId: source.id } });
  made.route = route;
  return { destination, source, route };
}

function verification({ provider, secret, verifyToken }: FirstValues) {
  if (provider === '') return {};
  return {
    provider,
    verificationConfig: {
      type: 'provider',
      ...(secret !== '' && { secret }),
      ...(verifyToken !== '' && { verifyToken }),
    },
    // The provider brings the secret when it is connected: until then only who knows the URL may send.
    ...(secret === '' && { ingestToken: 'required' }),
  };
}

/** No receiver answers with this code, so that every response counts as a failure. */
const NEVER_ANSWERED = 299;

export const setBroken = (route: Route, isBroken: boolean): Promise<Route> =>
  call('updateRoute', {
    id: route.id,
    body: { expectedResponse: isBroken ? { statusCodes: [NEVER_ANSWERED] } : null },
  });

export interface ToSend {
  payload: string;
  headers: Record<string, string>;
  /** Empty: none. */
  query: string;
}

/**
 * Sends a sample as its sender would: to the ingest URL, without a key. It is the one request that @hookyard/client
 * does not make, because no API key belongs to it.
 * @returns the id of the event; undefined where the source has a response of its own
 * @throws Error with what the service said
 */
export async function sendTo(webhookUrl: string, { payload, headers, query }: ToSend): Promise<string | undefined> {
  // By the address of this page, which the browser may reach; the public one may lead elsewhere.
  const { pathname } = new URL(webhookUrl);
  const path = pathname.slice(pathname.indexOf('/ingest/'));
  const address = `${apiUrl}${path}${query === '' ? '' : `?${query}`}`;
  const response = await fetch(address, { method: 'POST', headers, body: payload });
  const answer = (await response.json().catch(() => ({}))) as { message?: string; eventId?: string };
  if (response.ok) return answer.eventId;
  throw new Error(answer.message ?? `HTTP ${response.status}`);
}
