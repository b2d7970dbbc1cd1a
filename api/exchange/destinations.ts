// Export and import of destinations.
// Rules: EXP-01, EXP-03, EXP-04, EXP-14 to EXP-17, AUTH-16.
import { LockMode } from '@mikro-orm/core';
import { z } from 'zod';
import { nextFreeSlug, slugify } from '../../core/slugs.ts';
import { Destination } from '../../db/entities.ts';
import type { EntityManager } from '../../db/orm.ts';
import { type ApiDeps, type ApiRouter, callerOf, type Context, entityManager, organizationId } from '../context.ts';
import { ApiError, invalid } from '../errors.ts';
import { booleanParam } from '../query.ts';
import { changedDestination, newDestination, slugRules } from '../resources/destination-record.ts';
import { isWarehouse } from '../resources/destination-warehouse.ts';
import { parseQuery } from '../validation.ts';
import { type DestinationItem, exportDestination, type HttpItem, readDestinationItem } from './destination-item.ts';
import {
  answerExport,
  type CheckedItem,
  checkItems,
  type ConflictStrategy,
  idsParam,
  inImport,
  inSlices,
  problemsOf,
  readImport,
} from './exchange.ts';
import { changedByItem, newFromItem, type WarehouseItem } from './warehouse-item.ts';

export const exportSchema = z.object({ ids: idsParam, includeSensitive: booleanParam });

export function mountDestinationExchange(router: ApiRouter, deps: ApiDeps): void {
  router.get('/api/destinations/export', (ctx) => exportAll(ctx, deps));
  router.post('/api/destinations/import', (ctx) => importAll(ctx, deps));
}

async function exportAll(ctx: Context, deps: ApiDeps): Promise<void> {
  const { ids, includeSensitive = false } = parseQuery(ctx, exportSchema);
  // A key that may only look is shown secrets nowhere else.
  if (includeSensitive && !callerOf(ctx).key.scopes.includes('write')) {
    throw new ApiError(403, 'FORBIDDEN', 'This API key lacks the scope "write" that includeSensitive=true needs');
  }
  // Oldest first, so that an import makes them in the same order.
  const destinations = await entityManager(ctx, deps).find(Destination, ids ? { id: { $in: ids } } : {}, {
    orderBy: { createdAt: 'asc', id: 'asc' },
  });
  if (includeSensitive) {
    ctx.set('Cache-Control', 'no-store');
    ctx.state.log.info({ key: callerOf(ctx).key.id, count: destinations.length }, 'credentials were exported');
  }
  answerExport(
    ctx,
    'destinations',
    destinations.map((destination) => exportDestination(deps, destination, includeSensitive)),
  );
}

async function importAll(ctx: Context, deps: ApiDeps): Promise<void> {
  const { items, conflictStrategy, validateOnly } = await readImport(ctx, 'destinations');
  const { plan } = callerOf(ctx).organization;
  const checked = await checkItems('destinations', items, (item) => readDestinationItem(plan, item));
  ctx.body = await inImport(ctx, deps, slugRules.constraint, async (em) => {
    const importer = new Importer(deps, em, organizationId(ctx), conflictStrategy);
    await importer.load(checked);
    await inSlices(checked, (entry) => importer.add(entry));
    // What was put together is not written when the transaction ends.
    if (validateOnly) em.clear();
    return importer.result(validateOnly);
  });
}

type Status = 'created' | 'skipped' | 'overwritten' | 'failed';

interface Outcome {
  id: string | null;
  name: string;
  slug: string | null;
  status: Status;
}

/** Decides, item by item, what becomes of a file, and puts the records together; the transaction's end writes them. */
class Importer {
  readonly #deps: ApiDeps;
  readonly #em: EntityManager;
  readonly #organizationId: string;
  readonly #strategy: ConflictStrategy;
  /** Slugs that are in use: before the import, and by what it has put together so far. */
  readonly #taken = new Set<string>();
  readonly #stored = new Map<string, Destination>();
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

  /** Reads what the items may be in conflict with; what may be overwritten is locked in the order of ids. */
  async load(checked: CheckedItem<DestinationItem>[]): Promise<void> {
    if (this.#strategy === 'rename') {
      // A new slug must be free, whichever it is.
      for (const { slug } of await this.#em.find(Destination, {}, { fields: ['slug'], disableIdentityMap: true })) {
        this.#taken.add(slug);
      }
      return;
    }
    const slugs = checked.flatMap((entry) => ('item' in entry ? slugOf(entry.item) : []));
    const lock = this.#strategy === 'overwrite' ? ({ lockMode: LockMode.PESSIMISTIC_WRITE } as const) : {};
    const found = await this.#em.find(Destination, { slug: { $in: slugs } }, { orderBy: { id: 'asc' }, ...lock });
    for (const destination of found) {
      this.#taken.add(destination.slug);
      this.#stored.set(destination.slug, destination);
    }
  }

  add(entry: CheckedItem<DestinationItem>): void {
    if ('problems' in entry) {
      this.#fail(entry, entry.problems);
      return;
    }
    try {
      this.#addItem(entry.label, entry.item);
    } catch (error) {
      this.#fail(entry, problemsOf(error, entry.label));
    }
  }

  #addItem(label: string, item: DestinationItem): void {
    const { name } = item.input;
    const slug = slugOf(item);
    if (!this.#taken.has(slug)) {
      this.#create(label, item, slug);
    } else if (this.#strategy === 'rename') {
      this.#create(label, item, nextFreeSlug(slug, this.#taken));
    } else if (this.#strategy === 'skip') {
      const twin = this.#takenBy.get(slug);
      if (twin !== undefined) this.#warnings.push(`${label}: was skipped, because its slug is also that of ${twin}`);
      this.#outcomes.push({ id: this.#stored.get(slug)?.id ?? null, name, slug, status: 'skipped' });
    } else {
      this.#overwrite(label, item, slug);
    }
  }

  #create(label: string, item: DestinationItem, slug: string): void {
    const { record, incomplete } =
      item.type === 'http'
        ? newHttp(this.#deps, this.#organizationId, item)
        : newFromItem(this.#deps, this.#organizationId, item);
    this.#em.create(Destination, { ...record, slug, ...(incomplete && { enabled: false }) });
    if (incomplete) {
      this.#warnings.push(
        `${label}: was imported disabled, because the file does not hold its credentials; set them, then enable it`,
      );
    }
    this.#taken.add(slug);
    this.#takenBy.set(slug, label);
    this.#outcomes.push({ id: record.id, name: record.name, slug, status: 'created' });
  }

  #overwrite(label: string, item: DestinationItem, slug: string): void {
    const twin = this.#takenBy.get(slug);
    const stored = this.#stored.get(slug);
    if (twin !== undefined || !stored) throw invalid('slug', `must not be that of ${twin}, which is in the same file`);
    if (item.type !== stored.type) throw invalid('type', `must be ${stored.type}, the type of what it overwrites`);
    const { changed, incomplete } = isWarehouse(stored)
      ? changedByItem(this.#deps, stored, item as WarehouseItem)
      : changedHttp(this.#deps, stored, item as HttpItem);
    if (incomplete) this.#warnings.push(`${label}: was left disabled, because it still has no credentials`);
    if (item.type === 'http' && item.redacted.signingSecret && !stored.signingSecret) {
      this.#warnings.push(`${label}: is not signed, because the file does not hold its signing secret`);
    }
    this.#em.assign(stored, { ...changed, ...(incomplete && { enabled: false }) });
    this.#takenBy.set(slug, label);
    this.#outcomes.push({ id: stored.id, name: item.input.name, slug, status: 'overwritten' });
  }

  #fail({ name }: { name: string }, problems: string[]): void {
    this.#errors.push(...problems);
    this.#outcomes.push({ id: null, name, slug: null, status: 'failed' });
  }

  /** The answer; records that were only tried have no id. */
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

// A file that was written by hand may leave the slug out; the name's own makes a second import meet the first.
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

/** What an item makes of a stored destination, which is `incomplete` when it has no credentials yet. @throws ApiError 400 */
function changedHttp(deps: ApiDeps, stored: Destination, { input, redacted }: HttpItem) {
  const { slug: _same, authType, ...patch } = input;
  if (redacted.authConfig && authType !== undefined && authType !== stored.authType) {
    throw invalid('authConfig', `must be sent whole: what it overwrites has no credentials of the type ${authType}`);
  }
  return {
    changed: changedDestination(deps, stored, redacted.authConfig ? patch : { ...patch, authType }),
    incomplete: redacted.authConfig && stored.authType !== 'none' && !stored.authConfig,
  };
}
