// The one way to the server: @hookyard/client, with the key of this tab.
import {
  createClient,
  HookyardError,
  type CallOptions,
  type Client,
  type ListName,
  type Operations,
} from '@hookyard/client';
import { onlineManager, replaceEqualDeep } from '@tanstack/react-query';
import { exactJson } from '../json.ts';
import { session } from './session.ts';

// Versions of records: the ETag of the answer that a record came in. A change is sent with it, so that what somebody
// else has changed meanwhile is not overwritten.

const versions = new WeakMap<object, string>();

function noteVersion(record: unknown, etag: string): void {
  if (typeof record === 'object' && record !== null) versions.set(record, etag);
}

/** For a change of a record: only if it is still as it was answered. A refusal is a 412. */
export function ifUnchanged(record: object | undefined): { ifMatch?: string } {
  const etag = record && versions.get(record);
  return etag === undefined ? {} : { ifMatch: etag };
}

/** What is equal stays the same object, as queries have it; it is of the version that was answered last. */
export function shareEqual(before: unknown, next: unknown): unknown {
  const shared: unknown = replaceEqualDeep(before, next);
  const { ifMatch } = typeof next === 'object' && next !== null ? ifUnchanged(next) : {};
  if (ifMatch !== undefined) noteVersion(shared, ifMatch);
  return shared;
}

// The server sets the base of the page to where the console is (`https://host/some/path/console/`); the API is one step
// up.
const base = new URL('.', document.baseURI);

/** Where the console is. */
export const consoleUrl = base.href;
/** Where the console is, as a path without its last slash. */
export const consolePath = base.pathname.replace(/\/$/, '');
/** Where the API is, without its last slash. */
export const apiUrl = new URL('..', base).href.replace(/\/$/, '');

/** Whether the host is of this machine or of a private network. */
export function isPrivate(url: string): boolean {
  const { hostname } = new URL(url);
  return /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|\[(::1|f[cd]|fe80))/.test(hostname);
}

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

// What an error says to a person.

interface Told {
  title: string;
  message: string;
  /** Under which the service's log has the request. */
  requestId: string | null;
}

const TITLES: Record<number, string> = {
  403: 'Permission denied',
  404: 'Not found',
  410: 'No longer available',
  412: 'Changed by someone else',
  429: 'Limit reached',
};

export function told(error: unknown): Told {
  if (!(error instanceof HookyardError)) {
    const message = error instanceof Error ? error.message : String(error);
    return { title: 'Something went wrong', message, requestId: null };
  }
  const { code, requestId } = error;
  const status = error.status ?? 0;
  const isSilent = code === 'UNREACHABLE' || code === 'TIMEOUT';
  const byStatus = TITLES[status] ?? (status >= 500 ? 'Server error' : 'Request refused');
  return {
    title: isSilent ? 'The API is not responding' : byStatus,
    message: status === 412 ? 'Your change was not made. Review the current values, then try again.' : error.message,
    requestId,
  };
}

// Whether the API answers. Every request tells; while it does not answer, one small request asks again and again, and
// everything on the page is fetched again when it is back.

const ASK_AGAIN_MS = 1500;
const liveness = createClient({ url: apiUrl, maxRetries: 0, timeoutMs: 5000 });

// What the browser thinks of its network is not asked: the API may be on this machine.
onlineManager.setEventListener(() => undefined);

/** `fetch` that notices whether the API answers. */
async function watchedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init);
    if (response.status < 502 || response.status > 504) onlineManager.setOnline(true);
    return response;
  } catch (error) {
    if (!init?.signal?.aborted && onlineManager.isOnline()) {
      onlineManager.setOnline(false);
      setTimeout(askAgain, ASK_AGAIN_MS);
    }
    throw error;
  }
}

async function askAgain(): Promise<void> {
  if (onlineManager.isOnline()) return;
  const isAlive = await liveness.isAlive().then(
    () => true,
    () => false,
  );
  if (isAlive) onlineManager.setOnline(true);
  else setTimeout(askAgain, ASK_AGAIN_MS);
}
