// Export files are sent in parts. A part is read from PostgreSQL when the client has taken the previous one, so a file of any size needs
// the memory of one part, and a slow client holds no connection and no transaction. The file is no snapshot: it has each record once, as
// the record was when its part was read.
// Rules: EXP-06, EXP-24, EXP-25.
import { Readable } from 'node:stream';
import { causeOf } from '../../core/process/log-cause.ts';
import { actingFor } from '../../db/connections/pool-turns.ts';
import { isStillValid } from '../../db/management/api-keys.ts';
import { type ApiDeps, type Context, callerOf, logOf } from '../request/context.ts';
import { type Member, VERSION } from './exchange.ts';

/** Records in a part; fewer than these are the last. */
export const PART = 100;

/** Items of a file, and the record after which the next part starts. */
export interface Part<Row> {
  items: object[];
  last: Row | undefined;
}

/**
 * Answers with an export file; a record is a line.
 * @param first read already, so that a request that fails has an error for its answer
 * @param read the records after one, at most `PART`
 */
export function answerExport<Row>(
  ctx: Context,
  deps: Pick<ApiDeps, 'servicePool'>,
  member: Member,
  { first, read }: { first: Part<Row>; read: (after: Row) => Promise<Part<Row>> },
): void {
  const { organization, key } = callerOf(ctx);
  // The file is read when the handler has ended.
  const next = (after: Row) =>
    actingFor(organization.id, async () => {
      const part = await read(after);
      // Afterwards: what was read since the key was revoked is never shown.
      if (!(await isStillValid(deps.servicePool, organization.id, key.id))) throw new Error('the key is not valid now');
      return part;
    });
  ctx.type = 'application/json';
  ctx.body = Readable.from(fileOf(ctx, member, first, next), { objectMode: false });
}

/**
 * Failure policy: once a part was sent, an error cannot be answered. Koa destroys the connection when the body throws, so what has
 * arrived lacks its end, in HTTP as in JSON, and no client takes it for a file.
 */
async function* fileOf<Row>(
  ctx: Context,
  member: Member,
  first: Part<Row>,
  next: (after: Row) => Promise<Part<Row>>,
): AsyncGenerator<string> {
  const { slug: organizationSlug } = callerOf(ctx).organization;
  const head = JSON.stringify({ version: VERSION, exportedAt: new Date().toISOString(), organizationSlug });
  yield `${head.slice(0, -1)},${JSON.stringify(member)}:[\n`;
  let part = first;
  let separator = '';
  for (;;) {
    for (const item of part.items) {
      yield `${separator}${JSON.stringify(item)}`;
      separator = ',\n';
    }
    if (part.last === undefined || part.items.length < PART) break;
    try {
      part = await next(part.last);
    } catch (error) {
      logOf(ctx).warn({ cause: causeOf(error) }, 'an export was broken off: its next part could not be read');
      throw error;
    }
  }
  yield separator === '' ? ']}\n' : '\n]}\n';
}
