// `ETag` and `If-Match`, so that two who change a record at the same time do not overwrite each other (RFC 9110, sections 8.8.3
// and 13.1.1). The tag is the version of the record, which each change of its members raises.
// Rules: HTTP-39 to HTTP-41, ERR-40.
import type { Context } from './context.ts';
import { ApiError } from './errors.ts';

interface Versioned {
  id: string;
  version: number;
}

// A proxy that compresses answers makes tags weak (`W/"3"`). The tag is of the record and not of its bytes, so these count too.
const TAG = /^(?:W\/)?"(\d+)"$/;

/** Tells the caller which version of the record the answer shows. */
export function tell(ctx: Context, { version }: Pick<Versioned, 'version'>): void {
  ctx.set('ETag', `"${version}"`);
}

/** Call it when there is no record. @throws ApiError 412 when `If-Match` names a version of it */
export function requireNoVersion(ctx: Context, kind: string, name: string): void {
  if (ctx.req.headers['if-match'] === undefined) return;
  const message = `There is no ${kind} ${name}, so it is at no version that If-Match could name, and nothing was changed: leave the header out to create it`;
  throw new ApiError(412, 'PRECONDITION_FAILED', message);
}

/**
 * Call it with the record as it is under its lock.
 * @throws ApiError 412 when `If-Match` names other versions only
 */
export function requireWanted(ctx: Context, kind: string, { id, version }: Versioned): void {
  const header = ctx.req.headers['if-match'];
  if (header === undefined || header.trim() === '*') return;
  const wanted = header.split(',').map((tag) => TAG.exec(tag.trim())?.[1]);
  if (wanted.includes(String(version))) return;
  throw new ApiError(
    412,
    'PRECONDITION_FAILED',
    `The ${kind} ${id} is not at the version that If-Match names, and nothing was changed: get it again, apply the change to what ` +
      'it is now, and send the ETag of that answer, quotes included',
  );
}
