// The one way to the server: @hookyard/client, with the key of this tab.
import {
  type CallOptions,
  type Client,
  createClient,
  HookyardError,
  type ListName,
  type Operations,
} from '@hookyard/client';
import { exactJson } from '../exact-json.ts';
import { watchedFetch } from './connection.ts';
import { session } from './session.ts';
import { apiUrl } from './urls.ts';
import { noteVersion } from './versions.ts';

export { HookyardError };
export type Name = keyof Operations;
export type Input<N extends Name> = Parameters<Operations[N]>[0];
export type Output<N extends Name> = Awaited<ReturnType<Operations[N]>>;
export type Item<N extends ListName> = Output<N>['data'][number];

// A person waits: two short repeats, then the page says what is wrong and asks again when the API is back.
const PATIENCE = { maxRetries: 2, maxWaitMs: 3000 };
let made: { key: string; client: Client } | undefined;

/** The client of the key of this tab. @throws when nobody is signed in: pages that unmount may still ask something */
export function client(): Client {
  const { key } = session.get();
  if (key === null) throw new Error('You are signed out. Sign in again.');
  if (made?.key !== key) made = { key, client: clientWith(key, ownFetch(key)) };
  return made.client;
}

/** With the key of this tab: when it is refused, the session ends. */
const ownFetch =
  (key: string | null): typeof fetch =>
  async (...request) => {
    const response = await watchedFetch(...request);
    // A late answer to a key of before says nothing about the one of now.
    if (response.status === 401 && session.get().key === key) session.end('refused');
    return response;
  };

/** A client with another key: one that is being tried, or the operator's. */
export function clientWith(key: string | null, fetching = watchedFetch): Client {
  return createClient({
    url: apiUrl,
    ...(key !== null && { apiKey: key }),
    ...PATIENCE,
    fetch: fetching,
    parseJson: exactJson,
  });
}

/** The JSON of an operation as a file, as it came: it may be large, so it is neither parsed nor kept as text. */
export async function fileOf<N extends 'exportDestinations' | 'exportRoutes'>(name: N, input: Input<N>): Promise<Blob> {
  const { key } = session.get();
  const own = ownFetch(key);
  let file = new Blob();
  const fetching: typeof fetch = async (...request) => {
    const answer = await own(...request);
    if (!answer.ok) return answer;
    file = await answer.blob();
    return Response.json({});
  };
  await (clientWith(key, fetching)[name] as (input: Input<N>) => Promise<unknown>)(input);
  return file;
}

/** Calls an operation by its name. */
export async function call<N extends Name>(
  name: N,
  input: Input<N>,
  options: Pick<CallOptions, 'signal' | 'ifMatch'> = {},
): Promise<Output<N>> {
  let version: string | undefined;
  const onETag = (etag: string) => {
    version = etag;
  };
  const method = client()[name] as (input: Input<N>, options: CallOptions) => Promise<Output<N>>;
  const answer = await method(input, { ...options, onETag });
  if (version !== undefined) noteVersion(answer, version);
  return answer;
}
