// What exports and imports have in common: the envelope of a file, how an import is read and checked, and its
// transaction.
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { DeadlockException } from '@mikro-orm/core';
import { z } from 'zod';
import { causeOf } from '../../core/process/log-cause.ts';
import { actingFor } from '../../db/connections/by-organization.ts';
import { isStillValid } from '../../db/organizations/keys.ts';
import { type EntityManager, lockImports } from '../../db/records/orm.ts';
import { noteDryRun, noteRecords } from '../auth/audit-trail.ts';
import { callerOf, type Context, entityManager, logOf, organizationId } from '../request/context.ts';
import { ApiError, invalid, unavailable } from '../request/errors.ts';
import { within } from '../request/ignored.ts';
import { check, MAX_IMPORT_BYTES, readJson } from '../request/validation.ts';
import { violates } from '../resources/records.ts';
import { text, timestamp, withExample } from '../resources/values.ts';

const VERSION = '1.0';
const MAJOR_VERSION = 1;
const MAX_ITEMS = 1000;
/** Work between two rests, ms. */
const SLICE_MS = 5;
/** How many times as long as the work a rest is. */
const REST_TIMES = 3;
/**
 * Records that an import reads, builds and writes together: those of a whole file would hold the event loop too long.
 */
export const GROUP = 10;
const MAX_TRIES = 8;
// Wait before the second try, ms; grows by the same amount for each later one, so that a burst of other requests
// passes.
const PAUSE_MS = 50;

/** Ids separated by commas; none, or an empty string, means all. */
export const idsParam = z
  .string({ error: 'must be set only once' })
  .transform((text) => text.split(',').flatMap((id) => id.trim() || []))
  .refine((ids) => ids.length <= MAX_ITEMS, `must contain at most ${MAX_ITEMS} IDs`)
  .transform((ids) => (ids.length === 0 ? undefined : ids))
  .describe(`Comma-separated IDs of the records to export, up to ${MAX_ITEMS}. Defaults to all records.`)
  .optional();

type Member = 'destinations' | 'routes';

export type ConflictStrategy = 'skip' | 'rename' | 'overwrite';

/** An import as it was asked for; its items are not checked yet. */
export interface ImportRequest {
  items: unknown[];
  conflictStrategy: ConflictStrategy;
  validateOnly: boolean;
}

const optionsSchema = z.object({
  conflictStrategy: z.enum(['skip', 'rename', 'overwrite']).describe('How to handle items that already exist.'),
  validateOnly: z
    .boolean()
    .default(false)
    .describe('Whether to check the file and report the result without changing anything.'),
  version: withExample(z.unknown().optional(), '1.0', 'The file format version. Newer major versions are refused.'),
});

export const envelope = {
  version: text('1.0'),
  exportedAt: timestamp,
  organizationSlug: text('default'),
};

// Items are checked one by one, so that the result names an invalid one; the API description shows the schema.
export const importOf = (member: string, item: z.ZodType) =>
  optionsSchema.extend({ [member]: z.array(item).max(MAX_ITEMS) });

export const messages = withExample(z.array(z.string()), []);
export const exampleOptions = { conflictStrategy: 'skip', validateOnly: true };

const itemCount = z.array(z.null()).max(MAX_ITEMS);
const ofFile = { exportedAt: z.unknown().optional(), organizationSlug: z.unknown().optional() };
const envelopes = {
  destinations: z.object({ destinations: itemCount, ...optionsSchema.shape, ...ofFile }),
  routes: z.object({ routes: itemCount, ...optionsSchema.shape, ...ofFile }),
};

/**
 * The members of an export file's envelope are allowed in it and ignored.
 * @throws ApiError 400 (a newer major version, too), 413, 415
 */
async function readImport(ctx: Context, member: Member): Promise<ImportRequest> {
  const body = await readJson(ctx, MAX_IMPORT_BYTES);
  const items = isObject(body) ? body[member] : undefined;
  // The items are checked one by one afterwards, so that the result names an invalid one.
  const envelope = isObject(body) && Array.isArray(items) ? { ...body, [member]: items.map(() => null) } : body;
  const { conflictStrategy, validateOnly, version } = check(envelopes[member], envelope);
  if (Number(/^\s*(\d+)/.exec(String(version))?.[1] ?? 0) > MAJOR_VERSION)
    throw invalid('version', `must be ${MAJOR_VERSION}.x: this version of Hookyard cannot read newer files`);
  return { items: Array.isArray(items) ? items : [], conflictStrategy, validateOnly };
}

/**
 * Answers an import with what becomes of its items. One that is refused is not read: its file takes as long as many
 * requests.
 */
export async function answerImport(
  ctx: Context,
  member: Member,
  work: (file: ImportRequest) => Promise<object>,
): Promise<void> {
  ctx.body = await ctx.deps.requests.run(callerOf(ctx).organization, 'runningImports', async () => {
    const file = await readImport(ctx, member);
    if (file.validateOnly) noteDryRun(ctx);
    return work(file);
  });
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export type CheckedItem<T> = {
  label: string;
  name: string;
} & ({ item: T } | { problems: string[] });

/** Checks the items of an import one by one. @param read throws ApiError for an item that cannot be used */
export async function checkItems<T>(
  member: Member,
  items: unknown[],
  read: (item: unknown) => T,
): Promise<CheckedItem<T>[]> {
  const checked: CheckedItem<T>[] = [];
  const rest = restsBetween();
  for (const [index, item] of items.entries()) {
    const place = `${member}[${index}]`;
    const name = isObject(item) && typeof item.name === 'string' ? item.name : place;
    const label = name === place ? place : `${place} ${JSON.stringify(name.slice(0, 255))}`;
    try {
      checked.push({ label, name, item: within([member, index], () => read(item)) });
    } catch (error) {
      checked.push({ label, name, problems: problemsOf(error, label) });
    }
    await rest();
  }
  return checked;
}

/** When all imports of this process have rested for what they did, ms of the clock. */
let restedAt = 0;

/**
 * 1,000 items take long enough to delay webhooks, which the same process receives, so a quarter of the time is theirs.
 * @returns what to call after each piece of work: once that was long enough to matter, it waits three times as long as
 * the work took, and as long as the other imports of this process have to rest. So together they take a quarter of the
 * time
 */
export function restsBetween(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    const now = performance.now();
    const tookMs = now - since;
    if (tookMs < SLICE_MS) return undefined;
    // Others may have rested while it worked.
    restedAt = Math.max(restedAt, since) + (1 + REST_TIMES) * tookMs;
    return delay(restedAt - now).then(() => {
      since = performance.now();
    });
  };
}

/** The messages of an ApiError about an item, prefixed with its label. Other errors are rethrown. */
export function problemsOf(error: unknown, label: string): string[] {
  if (!(error instanceof ApiError)) throw error;
  const problems = error.details?.map(({ path, message }) => (path === '' ? message : `${path} ${message}`));
  return (problems ?? [error.message]).map((problem) => `${label}: ${problem}`);
}

export function noteImported(ctx: Context, items: { id: string | null; status: string }[]): void {
  noteRecords(
    ctx,
    items.flatMap(({ id, status }) => (status === 'created' || status === 'overwritten' ? id : [])),
  );
}

export const overwrittenBy = (steps: { id: string | null; status: string }[]): string[] =>
  steps.flatMap(({ status, id }) => (status === 'overwritten' && id !== null ? id : []));

export class ChangedMeanwhileError extends Error {}

/**
 * Runs an import in one transaction. Imports of one organization take turns, so that each sees what the one before
 * stored; other concurrent changes make it start over.
 * @param constraint the unique constraint that a concurrent request may violate
 * @param work must not keep anything from an earlier try. It locks and writes rows at its end, and does not rest from
 * then on
 * @throws ApiError 503 when concurrent changes conflict in every try
 */
export async function inImport<T>(
  ctx: Context,
  constraint: string | null,
  work: (em: EntityManager) => Promise<T>,
): Promise<T> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    try {
      return await entityManager(ctx).transactional(async (em) => {
        // Failure policy: one that waits longer than a statement may (STATEMENT_TIMEOUT_MS) is answered 503.
        await lockImports(em, organizationId(ctx));
        return work(em);
      });
    } catch (error) {
      const again =
        error instanceof ChangedMeanwhileError ||
        error instanceof DeadlockException ||
        (constraint !== null && violates(error, constraint));
      if (!again) throw error;
      await delay(tries * PAUSE_MS);
    }
  }
  throw unavailable('Other requests kept changing the records in this import');
}

// Export files are sent in parts. A part is read from PostgreSQL when the client has taken the previous one, so a file
// of any size needs the memory of one part, and a slow client holds no connection and no transaction. The file is no
// snapshot: it has each record once, as the record was when its part was read.

/** Records in a part; fewer than these are the last. */
export const PART = 100;

/** Items of a file, and the record after which the next part starts. */
export interface Part<Row> {
  items: object[];
  last: Row | undefined;
}

/**
 * @param first read already, so that a request that fails has an error for its answer
 * @param read the records after one, at most `PART`
 */
export function answerExport<Row>(
  ctx: Context,
  member: Member,
  { first, read }: { first: Part<Row>; read: (after: Row) => Promise<Part<Row>> },
): void {
  const { organization, key } = callerOf(ctx);
  // The file is read when the handler has ended.
  const next = (after: Row) =>
    actingFor(organization.id, async () => {
      const part = await read(after);
      // Afterwards: what was read since the key was revoked is never shown.
      if (!(await isStillValid(ctx.deps.servicePool, organization.id, key.id)))
        throw new Error('the API key is no longer valid');
      return part;
    });
  ctx.type = 'application/json';
  ctx.body = Readable.from(fileOf(ctx, member, first, next), { objectMode: false });
}

/**
 * Failure policy: once a part was sent, an error cannot be answered. Koa destroys the connection when the body throws,
 * so what has arrived lacks its end, in HTTP as in JSON, and no client takes it for a file.
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
      logOf(ctx).warn({ cause: causeOf(error) }, 'export aborted: failed to read the next part');
      throw error;
    }
  }
  yield separator === '' ? ']}\n' : '\n]}\n';
}
