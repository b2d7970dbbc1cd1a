// Makes the source, the destination and the route of a first webhook. What was made before a step was refused is changed by the next
// try, not made again.
import type { Destination, Route, Source } from 'hookyard/client';
import { call } from '../../api/client.ts';
import { slugOf } from './slug.ts';

export interface FirstValues {
  name: string;
  url: string;
  /** Of listProviders; empty: a sender of one's own, whose webhooks are not verified. */
  provider: string;
  secret: string;
  verifyToken: string;
}

export interface Made {
  destination?: Destination;
  source?: Source;
  route?: Route;
}

/** @param made is filled as it goes */
export async function makeAll(values: FirstValues, made: Made): Promise<Source> {
  const { name, url } = values;
  // The destination first: its address is what may be refused.
  const receiver = { name: `${name} receiver`, url };
  made.destination = made.destination
    ? await call('updateDestination', { id: made.destination.id, body: receiver })
    : await call('createDestination', { body: receiver });
  const sender = { name, ...verification(values) };
  made.source = made.source
    ? await call('updateSource', { id: made.source.id, body: sender as never })
    : await call('createSource', { body: { ...sender, slug: slugOf(name) } as never });
  const way = { name, destinationIds: [made.destination.id] };
  made.route = made.route
    ? await call('updateRoute', { id: made.route.id, body: way })
    : await call('createRoute', { body: { ...way, sourceId: made.source.id } });
  return made.source;
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
    // The provider brings the secret when it is connected: until then only who knows the address may.
    ...(secret === '' && { ingestToken: 'required' }),
  };
}
