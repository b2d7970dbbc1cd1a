// What exports and imports have in common: the envelope of a file, how an import is read and checked, and its transaction.
// Rules: ERR-07, EXP-06 to EXP-09.
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { DeadlockException } from '@mikro-orm/core';
import { z } from 'zod';
import { type EntityManager, lockImports } from '../../db/orm.ts';
import { MAX_IMPORT_BYTES, readJson } from '../body.ts';
import { type ApiDeps, callerOf, type Context, entityManager, organizationId } from '../context.ts';
import { ApiError, invalid, unavailable } from '../errors.ts';
import { within } from '../ignored.ts';
import { violates } from '../records.ts';
import { check } from '../validation.ts';

/** Stands for credentials that a file does not hold (EXP-11). */
export const REDACTED = '***REDACTED***';

const VERSION = '1.0';
const MAJOR_VERSION = 1;
/** Most items of one import, and most ids that an export is asked for. */
export const MAX_ITEMS = 1000;
const SLICE_MS = 20;
const MAX_TRIES = 8;
// Before the second try; before each later one as much more, so that a burst of other requests passes.
const PAUSE_MS = 50;

/** Ids separated by commas; none, or an empty text, means all. */
export const idsParam = z
  .string({ error: 'must be given once' })
  .transform((text) => text.split(',').flatMap((id) => id.trim() || []))
  .refine((ids) => ids.length <= MAX_ITEMS, `must be at most ${MAX_ITEMS} ids`)
  .transform((ids) => (ids.length === 0 ? undefined : ids))
  .meta({ description: `At most ${MAX_ITEMS} ids separated by commas; all when it is left out.` })
  .optional();

type Member = 'destinations' | 'routes';

/** Answers with an export file. */
export function answerExport(ctx: Context, member: Member, items: object[]): void {
  ctx.body = {
    version: VERSION,
    exportedAt: new Date().toISOString(),
    organizationSlug: callerOf(ctx).organization.slug,
    [member]: items,
  };
}

export type ConflictStrategy = 'skip' | 'rename' | 'overwrite';

/** An import as it was asked for; its items are not checked yet. */
export interface ImportRequest {
  items: unknown[];
  conflictStrategy: ConflictStrategy;
  validateOnly: boolean;
}

/** What an import says beside its items. */
export const optionsSchema = z.object({
  conflictStrategy: z
    .enum(['skip', 'rename', 'overwrite'])
    .meta({ description: 'What happens to an item that is there already.' }),
  validateOnly: z.boolean().default(false).meta({ description: 'Says what would happen, and changes nothing.' }),
  version: z
    .unknown()
    .optional()
    .meta({ description: "The file's own; a newer major version is refused.", examples: ['1.0'] }),
});

const itemCount = z.array(z.null()).max(MAX_ITEMS);
const ofFile = { exportedAt: z.unknown().optional(), organizationSlug: z.unknown().optional() };
const envelopes = {
  destinations: z.object({ destinations: itemCount, ...optionsSchema.shape, ...ofFile }),
  routes: z.object({ routes: itemCount, ...optionsSchema.shape, ...ofFile }),
};

/**
 * Reads the body of an import. The members of an export file's envelope are allowed in it and ignored.
 * @throws ApiError 400, 413, 415; 400 also for a file of a newer major version
 */
export async function readImport(ctx: Context, member: Member): Promise<ImportRequest> {
  const body = await readJson(ctx, MAX_IMPORT_BYTES);
  const items = isObject(body) ? body[member] : undefined;
  // The items are checked one by one afterwards, so that a bad one is told by its name.
  const envelope = isObject(body) && Array.isArray(items) ? { ...body, [member]: items.map(() => null) } : body;
  const { conflictStrategy, validateOnly, version } = check(envelopes[member], envelope, 'The body');
  if (Number(/^\s*(\d+)/.exec(String(version))?.[1] ?? 0) > MAJOR_VERSION) {
    throw invalid('version', `must be ${MAJOR_VERSION}.x: this Hookyard cannot read newer files`);
  }
  return { items: Array.isArray(items) ? items : [], conflictStrategy, validateOnly };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One item of an import: what was read from it, or what is wrong with it. */
export type CheckedItem<T> = {
  /** How messages call it: its place in the file and its name. */
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
  let index = 0;
  await inSlices(items, (item) => {
    const place = `${member}[${index}]`;
    const name = isObject(item) && typeof item.name === 'string' ? item.name : place;
    const label = name === place ? place : `${place} ${JSON.stringify(name.slice(0, 255))}`;
    try {
      checked.push({ label, name, item: within([member, index], () => read(item)) });
    } catch (error) {
      checked.push({ label, name, problems: problemsOf(error, label) });
    }
    index += 1;
  });
  return checked;
}

/**
 * Does something with each item in turn. 1,000 of them take long enough for webhooks, which the same process receives, to
 * wait; so it lets them through in between.
 */
export async function inSlices<T>(items: T[], each: (item: T) => void): Promise<void> {
  let pauseAt = performance.now() + SLICE_MS;
  for (const item of items) {
    each(item);
    if (performance.now() < pauseAt) continue;
    await setImmediate();
    pauseAt = performance.now() + SLICE_MS;
  }
}

/** What an ApiError says about an item, as sentences that begin with its label. Any other error is thrown on. */
export function problemsOf(error: unknown, label: string): string[] {
  if (!(error instanceof ApiError)) throw error;
  const problems = error.details?.map(({ path, message }) => (path === '' ? message : `${path} ${message}`));
  return (problems ?? [error.message]).map((problem) => `${label}: ${problem}`);
}

/** Thrown by the work of an import when something it had read is no longer so: it is done again from the start. */
export class ChangedMeanwhileError extends Error {}

/**
 * Runs an import in one transaction. Imports of one organization take turns, so that each sees what the one before
 * stored; other changes at the same moment make it start again.
 * @param constraint the unique constraint that another request may violate at the same moment
 * @param work must not keep anything from an earlier try
 * @throws ApiError 503 when others change the same records again and again
 */
export async function inImport<T>(
  ctx: Context,
  deps: ApiDeps,
  constraint: string | null,
  work: (em: EntityManager) => Promise<T>,
): Promise<T> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    try {
      return await entityManager(ctx, deps).transactional(async (em) => {
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
  throw unavailable('Other requests kept changing the records that this import is about');
}
