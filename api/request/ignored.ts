// Reports the ignored parts of a request to its sender: unknown query parameters and body members, each with the
// nearest known name. One response header, `X-Ignored`, a list of RFC 9651:
//   "destnationId";in=query;nearest="destinationId", "retryPolicy.maxRetry";in=body;nearest="retryPolicy.maxRetries"
// Every check by a zod schema reports its unknown names here; there is no list to maintain.
import { AsyncLocalStorage } from 'node:async_hooks';
import { nearestName } from '../../core/text/words.ts';
import type { UnknownMember } from '../../core/text/unknown-members.ts';
import type { AppContext, Next } from './context.ts';
import { ApiError } from './errors.ts';

export const IGNORED_HEADER = 'X-Ignored';
// The sender chooses how many names there are and how long they are: the header stays below 3 KiB.
const MAX_NAMED = 8;
const MAX_NAME_LENGTH = 100;

export type Place = 'query' | 'body';

interface Noted {
  items: string[];
  /** Names beyond the limit, only counted. */
  more: number;
  hasReadQuery: boolean;
  at: UnknownMember['path'];
}

// Links checks deep inside a handler to the running request.
const requests = new AsyncLocalStorage<Noted>();

export async function nameIgnored(ctx: AppContext, next: Next): Promise<void> {
  const noted: Noted = { items: [], more: 0, hasReadQuery: false, at: [] };
  try {
    await requests.run(noted, next);
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) tell(ctx, noted);
    throw error;
  }
  // A handler that reads no query ignores all of it.
  if (!noted.hasReadQuery) {
    const parameters = Object.keys(ctx.query).map((name) => ({ path: [name], known: [], isRefused: false }));
    noteIn(noted, 'query', parameters);
  }
  tell(ctx, noted);
}

function tell(ctx: AppContext, { items, more }: Noted): void {
  if (items.length === 0) return;
  ctx.set(IGNORED_HEADER, [...items, ...(more > 0 ? [`more;count=${more}`] : [])].join(', '));
}

/** Records the names that a schema does not know. Does nothing outside of a request. */
export function noteIgnored(place: Place, members: readonly UnknownMember[]): void {
  const noted = requests.getStore();
  if (!noted) return;
  if (place === 'query') noted.hasReadQuery = true;
  noteIn(noted, place, members);
}

/** Runs a check of a nested value, so that its members are named by their path in the body. */
export function within<T>(at: UnknownMember['path'], run: () => T): T {
  const noted = requests.getStore();
  if (!noted) return run();
  noted.at = at;
  try {
    return run();
  } finally {
    noted.at = [];
  }
}

function noteIn(noted: Noted, place: Place, members: readonly UnknownMember[]): void {
  for (const member of members) {
    if (noted.items.length >= MAX_NAMED) noted.more += 1;
    else noted.items.push(itemOf(place, { ...member, path: [...noted.at, ...member.path] }));
  }
}

function itemOf(place: Place, member: UnknownMember): string {
  const nearest = nearestOf(member);
  const hint = nearest === null ? '' : `;nearest="${encodedName(nearest)}"`;
  return `"${encodedName(member.path.join('.'))}";in=${place}${hint}`;
}

export function nearestOf({ path, known }: UnknownMember): string | null {
  const nearest = nearestName(String(path.at(-1)), known);
  return nearest === null ? null : [...path.slice(0, -1), nearest].join('.');
}

/**
 * A name that may stand between quotes in a header: everything but visible ASCII is percent-encoded, and a long name is
 * cut and ends with dots.
 */
function encodedName(name: string): string {
  let encoded = '';
  for (const character of name.slice(0, MAX_NAME_LENGTH + 1).toWellFormed()) {
    const next = /^[\x21\x23-\x24\x26-\x5b\x5d-\x7e]$/.test(character) ? character : percentEncoded(character);
    if (encoded.length + next.length > MAX_NAME_LENGTH) return `${encoded}...`;
    encoded += next;
  }
  return encoded;
}

function percentEncoded(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}
