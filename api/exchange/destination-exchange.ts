// Export and import of destinations.
// Rules: EXP-01, EXP-03, EXP-04, EXP-14 to EXP-17, AUTH-16.
import { z } from 'zod';
import { nextFreeSlug, slugify } from '../../core/slugs.ts';
import { Destination } from '../../db/entities.ts';
import { type EntityManager, type KnownDestination, slugsOfDestinations } from '../../db/orm.ts';
import { type ApiDeps, type Context, callerOf, entityManager, organizationId } from '../context.ts';
import { noteDryRun, noteRecords } from '../audit-trail.ts';
import { invalid } from '../errors.ts';
import { requireRecordRoom } from '../limits.ts';
import { count, flag, idOf, text } from '../members/values.ts';
import type { Operation } from '../operation.ts';
import { booleanParam } from '../query.ts';
import { changedDestination, lacksCredentials, newDestination, slugRules } from '../resources/destination-record.ts';
import { isWarehouse } from '../resources/destination-warehouse.ts';
import { requireScope } from '../scopes.ts';
import { parseQuery } from '../validation.ts';
import {
  type DestinationItem,
  destinationFileItem,
  exportDestination,
  type HttpItem,
  importedDestination,
  readDestinationItem,
} from './destination-item.ts';
import {
  answerExport,
  ChangedMeanwhileError,
  type CheckedItem,
  type ConflictStrategy,
  checkItems,
  envelope,
  exampleOptions,
  GROUP,
  type ImportRequest,
  idsParam,
  importOf,
  inImport,
  inSlices,
  messages,
  noteImported,
  problemsOf,
  readImport,
  restsBetween,
} from './exchange.ts';
import { changedByItem, newFromItem, type WarehouseItem } from './warehouse-item.ts';

const exportSchema = z.object({ ids: idsParam, includeSensitive: booleanParam });

const names = (example: string[]) => z.array(z.string()).meta({ examples: [example] });

const destinationResult = z
  .object({
    success: flag(true),
    summary: z.object({ imported: count, skipped: count, overwritten: count, failed: count }),
    details: z.object({ imported: names(['CRM']), skipped: names([]), overwritten: names([]), failed: names([]) }),
    errors: messages,
    warnings: messages,
    destinations: z.array(
      z.object({
        id: idOf('dst', 'dst_wh').nullable().meta({ description: 'Null when it was not stored.' }),
        name: text('CRM'),
        slug: text('crm').nullable(),
        status: z.enum(['created', 'skipped', 'overwritten', 'failed']),
      }),
    ),
  })
  .meta({ id: 'DestinationImportResult' });

export const destinationExchangeOperations: Operation[] = [
  {
    tag: 'Destinations',
    method: 'get',
    path: '/api/destinations/export',
    operationId: 'exportDestinations',
    run: exportAll,
    summary: 'Export destinations',
    description: 'Credentials are left out unless `includeSensitive` is true, which needs the scope `secrets:read`.',
    query: exportSchema,
    answer: {
      status: 200,
      description: 'The file.',
      schema: z.object({ ...envelope, destinations: z.array(destinationFileItem) }),
      headers: {
        'Cache-Control': text('no-store', 'When there are credentials in it.').optional(),
      },
    },
  },
  {
    tag: 'Destinations',
    method: 'post',
    path: '/api/destinations/import',
    operationId: 'importDestinations',
    run: importAll,
    summary: 'Import destinations',
    description: 'Conflicts are detected by slug. What is wrong with an item is in the result.',
    body: {
      schema: importOf('destinations', importedDestination),
      examples: {
        'dry run': {
          ...exampleOptions,
          destinations: [{ name: 'CRM', slug: 'crm', url: 'https://example.com/hooks' }],
        },
      },
    },
    answer: { status: 200, description: 'What became of each item.', schema: destinationResult },
  },
];

async function exportAll(ctx: Context, deps: ApiDeps): Promise<void> {
  const { ids, includeSensitive = false } = parseQuery(ctx, exportSchema);
  if (includeSensitive) requireScope(ctx, 'secrets:read', 'includeSensitive=true');
  // Oldest first, so that an import creates them in the same order.
  const destinations = await entityManager(ctx, deps).find(Destination, ids ? { id: { $in: ids } } : {}, {
    orderBy: { createdAt: 'asc', id: 'asc' },
  });
  if (includeSensitive) {
    ctx.set('Cache-Control', 'no-store');
    noteRecords(
      ctx,
      destinations.map(({ id }) => id),
    );
  }
  answerExport(
    ctx,
    'destinations',
    destinations.map((destination) => exportDestination(deps, destination, includeSensitive)),
  );
}

async function importAll(ctx: Context, deps: ApiDeps): Promise<void> {
  // One that is refused is not read: its file takes as long as many requests.
  ctx.body = await deps.requests.run(callerOf(ctx).organization, 'runningImports', async () => {
    const file = await readImport(ctx, 'destinations');
    if (file.validateOnly) noteDryRun(ctx);
    return importDestinations(ctx, deps, file);
  });
}

async function importDestinations(ctx: Context, deps: ApiDeps, file: ImportRequest) {
  const { items, conflictStrategy, validateOnly } = file;
  const { plan } = callerOf(ctx).organization;
  const checked = await checkItems('destinations', items, (item) => readDestinationItem(plan, item));
  let rest = restsBetween();
  const result = await inImport(ctx, deps, slugRules.constraint, async (em) => {
    const importer = new Importer(deps, em, organizationId(ctx), conflictStrategy);
    await importer.load(checked);
    rest = restsBetween();
    for (let from = 0; from < checked.length; from += GROUP) {
      await importer.add(checked.slice(from, from + GROUP));
      em.clear();
      await rest();
    }
    // From here on rows are locked, and statements that are about all organizations may wait for them: no rest before the end.
    rest = restsBetween();
    if (!validateOnly) await importer.lock();
    await requireRecordRoom(em, ctx, 'destinations', importer.created);
    if (!validateOnly) await importer.write();
    const done = importer.result(validateOnly);
    noteImported(ctx, done.destinations);
    return done;
  });
  await rest();
  return result;
}

type Status = 'created' | 'skipped' | 'overwritten' | 'failed';

interface Outcome {
  id: string | null;
  name: string;
  slug: string | null;
  status: Status;
}

/** A record that is to be written. */
interface Write {
  /** What it overwrites; null: it is new. */
  id: string | null;
  /** @param stored what it overwrites, as it is now */
  apply(em: EntityManager, stored: Destination | undefined): void;
}

/** Decides for each item of a file whether to create, overwrite or skip, and builds the records; `write` writes them. */
class Importer {
  readonly #deps: ApiDeps;
  readonly #em: EntityManager;
  readonly #organizationId: string;
  readonly #strategy: ConflictStrategy;
  /** Slugs in use: those from before the import, and those of the records built so far. */
  readonly #taken = new Set<string>();
  /** Ids of the records that items may conflict with, by slug. */
  readonly #storedIds = new Map<string, string>();
  /** Which of them may be overwritten, as they were read. */
  #toOverwrite: { slugs: string[]; known: KnownDestination[] } | null = null;
  readonly #writes: Write[] = [];
  /** Which item of the file took a slug. */
  readonly #takenBy = new Map<string, string>();
  readonly #outcomes: Outcome[] = [];
  readonly #errors: string[] = [];
  readonly #warnings: string[] = [];

  constructor(deps: ApiDeps, em: EntityManager, organization: string, strategy: ConflictStrategy) {
    this.#deps = deps;
    this.#em = em;
    this.#organizationId = organization;
    this.#strategy = strategy;
  }

  /** Finds the records that items may conflict with. Nothing is locked yet. */
  async load(checked: CheckedItem<DestinationItem>[]): Promise<void> {
    if (this.#strategy === 'rename') {
      // A new slug must be free, given or generated.
      const all = await slugsOfDestinations(this.#em, this.#organizationId, { slugs: null, isLocked: false });
      for (const { slug } of all) this.#taken.add(slug);
      return;
    }
    const slugs = slugsOf(checked);
    const known = await slugsOfDestinations(this.#em, this.#organizationId, { slugs, isLocked: false });
    for (const { id, slug } of known) {
      this.#taken.add(slug);
      this.#storedIds.set(slug, id);
    }
    if (this.#strategy === 'overwrite') this.#toOverwrite = { slugs, known };
  }

  /**
   * Locks what is overwritten, in the order of ids. @throws ChangedMeanwhileError when it has changed since it was read; a unique
   * constraint finds other slugs that were taken meanwhile
   */
  async lock(): Promise<void> {
    if (this.#toOverwrite === null) return;
    const { slugs, known } = this.#toOverwrite;
    const now = await slugsOfDestinations(this.#em, this.#organizationId, { slugs, isLocked: true });
    if (JSON.stringify(now) === JSON.stringify(known)) return;
    throw new ChangedMeanwhileError('a destination was changed while it was to be overwritten');
  }

  /** Writes what was built, in groups and without a rest; each waits for PostgreSQL, so others have turns in between. */
  async write(): Promise<void> {
    const em = this.#em;
    for (let from = 0; from < this.#writes.length; from += GROUP) {
      const group = this.#writes.slice(from, from + GROUP);
      const ids = group.flatMap(({ id }) => id ?? []);
      const found = ids.length > 0 ? await em.find(Destination, { id: { $in: ids } }) : [];
      const stored = new Map(found.map((destination) => [destination.id, destination]));
      for (const { id, apply } of group) apply(em, id === null ? undefined : stored.get(id));
      await em.flush();
      em.clear();
    }
  }

  /** Builds the records of some items. */
  async add(group: CheckedItem<DestinationItem>[]): Promise<void> {
    const overwritten =
      this.#strategy === 'overwrite' ? slugsOf(group).filter((slug) => this.#storedIds.has(slug)) : [];
    const found = overwritten.length > 0 ? await this.#em.find(Destination, { slug: { $in: overwritten } }) : [];
    const stored = new Map(found.map((destination) => [destination.slug, destination]));
    await inSlices(group, (entry) => {
      if ('problems' in entry) {
        this.#fail(entry, entry.problems);
        return;
      }
      try {
        this.#addItem(entry.label, entry.item, stored);
      } catch (error) {
        this.#fail(entry, problemsOf(error, entry.label));
      }
    });
  }

  #addItem(label: string, item: DestinationItem, stored: Map<string, Destination>): void {
    const { name } = item.input;
    const slug = slugOf(item);
    if (!this.#taken.has(slug)) {
      this.#create(label, item, slug);
    } else if (this.#strategy === 'rename') {
      this.#create(label, item, nextFreeSlug(slug, this.#taken));
    } else if (this.#strategy === 'skip') {
      const twin = this.#takenBy.get(slug);
      if (twin !== undefined) this.#warnings.push(`${label}: was skipped, because its slug is also that of ${twin}`);
      this.#outcomes.push({ id: this.#storedIds.get(slug) ?? null, name, slug, status: 'skipped' });
    } else {
      this.#overwrite(label, item, slug, stored.get(slug));
    }
  }

  #create(label: string, item: DestinationItem, slug: string): void {
    const { record, incomplete } =
      item.type === 'http'
        ? newHttp(this.#deps, this.#organizationId, item)
        : newFromItem(this.#deps, this.#organizationId, item);
    this.#writes.push({
      id: null,
      apply: (em) => em.create(Destination, { ...record, slug, ...(incomplete && { enabled: false }) }),
    });
    if (incomplete) {
      this.#warnings.push(
        `${label}: was imported disabled, because the file does not hold its credentials; set them, then enable it`,
      );
    }
    this.#taken.add(slug);
    this.#takenBy.set(slug, label);
    this.#outcomes.push({ id: record.id, name: record.name, slug, status: 'created' });
  }

  #overwrite(label: string, item: DestinationItem, slug: string, stored: Destination | undefined): void {
    const twin = this.#takenBy.get(slug);
    if (twin !== undefined || !stored) throw invalid('slug', `must not be that of ${twin}, which is in the same file`);
    if (item.type !== stored.type) throw invalid('type', `must be ${stored.type}, the type of what it overwrites`);
    const { changed, incomplete } = isWarehouse(stored)
      ? changedByItem(this.#deps, stored, item as WarehouseItem)
      : changedHttp(this.#deps, stored, item as HttpItem);
    if (incomplete) this.#warnings.push(`${label}: was left disabled, because it still has no credentials`);
    if (item.type === 'http' && item.redacted.signingSecret && !stored.signingSecret) {
      this.#warnings.push(`${label}: is not signed, because the file does not hold its signing secret`);
    }
    this.#writes.push({
      id: stored.id,
      apply: (em, current) => current && em.assign(current, { ...changed, ...(incomplete && { enabled: false }) }),
    });
    this.#takenBy.set(slug, label);
    this.#outcomes.push({ id: stored.id, name: item.input.name, slug, status: 'overwritten' });
  }

  #fail({ name }: { name: string }, problems: string[]): void {
    this.#errors.push(...problems);
    this.#outcomes.push({ id: null, name, slug: null, status: 'failed' });
  }

  /** How many records are new. */
  get created(): number {
    return this.#outcomes.filter(({ status }) => status === 'created').length;
  }

  /** The answer; in a dry run records have no id. */
  result(validateOnly: boolean) {
    const names = (status: Status) =>
      this.#outcomes.flatMap((outcome) => (outcome.status === status ? outcome.name : []));
    const details = {
      imported: names('created'),
      skipped: names('skipped'),
      overwritten: names('overwritten'),
      failed: names('failed'),
    };
    return {
      success: details.failed.length === 0,
      summary: {
        imported: details.imported.length,
        skipped: details.skipped.length,
        overwritten: details.overwritten.length,
        failed: details.failed.length,
      },
      details,
      errors: this.#errors,
      warnings: this.#warnings,
      destinations: this.#outcomes.map((outcome) =>
        validateOnly && outcome.status === 'created' ? { ...outcome, id: null } : outcome,
      ),
    };
  }
}

function slugsOf(checked: CheckedItem<DestinationItem>[]): string[] {
  return checked.flatMap((entry) => ('item' in entry ? slugOf(entry.item) : []));
}

// A hand-written file may omit the slug. The slug derived from the name lets a second import find the first one's record.
function slugOf({ input }: DestinationItem): string {
  return input.slug ?? slugify(input.name, slugRules.kind);
}

/** The record of an item; `incomplete` when the file holds not all of its credentials. @throws ApiError 400 */
function newHttp(deps: ApiDeps, organization: string, { input, redacted }: HttpItem) {
  const { authType = 'none' } = input;
  const withoutAuth = redacted.authConfig && authType !== 'none';
  const record = newDestination(deps, organization, withoutAuth ? { ...input, authType: 'none' } : input);
  return { record: { ...record, authType }, incomplete: withoutAuth || redacted.signingSecret };
}

/** The stored destination with the item applied; `incomplete` when it has no credentials yet. @throws ApiError 400 */
function changedHttp(deps: ApiDeps, stored: Destination, { input, redacted }: HttpItem) {
  const { slug: _same, authType, ...patch } = input;
  if (redacted.authConfig && authType !== undefined && authType !== stored.authType) {
    throw invalid('authConfig', `must be sent whole: what it overwrites has no credentials of the type ${authType}`);
  }
  const incomplete = redacted.authConfig && lacksCredentials(stored);
  const change = redacted.authConfig ? patch : { ...patch, authType };
  return { changed: changedDestination(deps, stored, change, incomplete), incomplete };
}
