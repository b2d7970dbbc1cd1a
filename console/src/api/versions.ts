// Versions of records: the ETag of the answer that a record came in. A change is sent with it, so that what somebody
// else has changed meanwhile is not overwritten.
import { replaceEqualDeep } from '@tanstack/react-query';

const versions = new WeakMap<object, string>();

export function noteVersion(record: unknown, etag: string): void {
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
