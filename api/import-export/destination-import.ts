import { isSlugOf, nextFreeSlug, slugify } from '../../core/text/slugs.ts';
import { Destination } from '../../db/records/entities.ts';
import { type KnownDestination, knownDestinations, lockDestinations, takenSlugs } from '../../db/records/slugs.ts';
import type { EntityManager } from '../../db/records/orm.ts';
import { requireRecordRoom } from '../auth/request-and-record-limits.ts';
import { maySeeSecrets } from '../auth/scopes.ts';
import { type ApiDeps, callerOf, type Context, organizationId } from '../request/context.ts';
import { invalid } from '../request/errors.ts';
import { changedDestination, lacksCredentials, newDestination } from '../resources/destinations/destination-record.ts';
import { isWarehouse } from '../resources/destinations/destination-warehouse.ts';
import { slugConstraint } from '../resources/records.ts';
import {
  changedByItem,
  type DestinationItem,
  type HttpItem,
  newFromItem,
  readDestinationItem,
  type WarehouseItem,
} from './destination-items.ts';
import {
  ChangedMeanwhileError,
  type CheckedItem,
  checkItems,
  type ConflictStrategy,
  GROUP,
  type ImportRequest,
  inImport,
  inSlices,
  noteImported,
  problemsOf,
  restsBetween,
} from './files.ts';

/** Imports the items of a file. @returns what became of each */
export async function importDestinations(ctx: Context, deps: ApiDeps, file: ImportRequest) {
  const { items, conflictStrategy, validateOnly } = file;
  const { plan } = callerOf(ctx).organization;
  const checked = await checkItems('destinations', items, (item) => readDestinationItem(plan, item));
  let rest = restsBetween();
  const result = await inImport(ctx, deps, slugConstraint('destination'), async (em) => {
    const importer = new Importer(ctx, deps, em, conflictStrategy);
    await importer.load(checked);
    rest = restsBetween();
    for (let from = 0; from < checked.length; from += GROUP) {
      await importer.add(checked.slice(from, from + GROUP));
      em.clear();
      await rest();
    }
    // From here on rows are locked, and statements that are about all organizations may wait for them: no rest before
    // the end.
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

interface Write {
  /** What it overwrites; null: it is new. */
  id: string | null;
  /** @param stored what it overwrites, as it is now */
  apply(em: EntityManager, stored: Destination | undefined): void;
}

/**
 * Decides for each item of a file whether to create, overwrite or skip, and builds the records; `write` writes them.
 */
class Importer {
  readonly #deps: ApiDeps;
  readonly #em: EntityManager;
  readonly #organizationId: string;
  readonly #maySeeSecrets: boolean;
  readonly #strategy: ConflictStrategy;
  /** Slugs in use: those from before the import that matter to it, and those of the records built so far. */
  readonly #taken = new Set<string>();
  readonly #given = new Set<string>();
  readonly #storedIds = new Map<string, string>();
  /** By name, the slug that was made of it: what an item without a slug conflicts with. */
  readonly #madeOf = new Map<string, string>();
  #known: KnownDestination[] = [];
  readonly #writes: Write[] = [];
  readonly #takenBy = new Map<string, string>();
  readonly #outcomes: Outcome[] = [];
  readonly #errors: string[] = [];
  readonly #warnings: string[] = [];

  constructor(ctx: Context, deps: ApiDeps, em: EntityManager, strategy: ConflictStrategy) {
    this.#deps = deps;
    this.#em = em;
    this.#organizationId = organizationId(ctx);
    this.#maySeeSecrets = maySeeSecrets(ctx);
    this.#strategy = strategy;
  }

  async load(checked: CheckedItem<DestinationItem>[]): Promise<void> {
    const inputs = checked.flatMap((entry) => ('item' in entry ? entry.item.input : []));
    for (const { slug } of inputs) if (slug !== undefined) this.#given.add(slug);
    const unnamed = inputs.filter(({ slug }) => slug === undefined);
    const bases = unnamed.map(baseOf);
    const slugs = [...this.#given, ...bases];
    const names = unnamed.map(({ name }) => name);
    this.#known = await knownDestinations(this.#em, this.#organizationId, { slugs, names });
    for (const { id, slug, name } of this.#known) {
      this.#taken.add(slug);
      this.#storedIds.set(slug, id);
      this.#noteMade(name, slug);
    }
    // New slugs must be free, too.
    const numbered = this.#strategy === 'rename' ? slugs : bases;
    for (const slug of await takenSlugs(this.#em, 'destination', this.#organizationId, numbered)) this.#taken.add(slug);
  }

  /** Of several records of a name the oldest slug counts, which has no number or the lowest. */
  #noteMade(name: string, slug: string): void {
    if (!isSlugOf(slug, baseOf({ name }))) return;
    const before = this.#madeOf.get(name);
    if (before === undefined || isBefore(slug, before)) this.#madeOf.set(name, slug);
  }

  /**
   * The slug of an item. Without one it is that of the record of the same name, if that was made of the name; a slug
   * that was made of another name is a coincidence (`Café`, `Cafe`), so the item gets the next free one.
   */
  #slugOf({ name, slug }: { name: string; slug?: string }): string {
    const isTaken = (candidate: string) => this.#taken.has(candidate) || this.#given.has(candidate);
    return slug ?? this.#madeOf.get(name) ?? nextFreeSlug(baseOf({ name }), isTaken);
  }

  /**
   * Locks what is overwritten, in the order of ids. @throws ChangedMeanwhileError when it has changed since it was
   * read; a unique constraint finds other slugs that were taken meanwhile
   */
  async lock(): Promise<void> {
    const ids = new Set(this.#writes.flatMap(({ id }) => id ?? []));
    if (ids.size === 0) return;
    const now = await lockDestinations(this.#em, this.#organizationId, [...ids]);
    const before = this.#known.filter(({ id }) => ids.has(id));
    if (JSON.stringify(now) === JSON.stringify(before)) return;
    throw new ChangedMeanwhileError('a destination was changed while the import was overwriting it');
  }

  /**
   * Writes what was built, in groups and without a rest; each waits for PostgreSQL, so others have turns in between.
   */
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

  async add(group: CheckedItem<DestinationItem>[]): Promise<void> {
    const inputs = group.flatMap((entry) => ('item' in entry ? entry.item.input : []));
    const ids =
      this.#strategy === 'overwrite'
        ? inputs.flatMap(({ name, slug }) => this.#storedIds.get(slug ?? this.#madeOf.get(name) ?? '') ?? [])
        : [];
    const found = ids.length > 0 ? await this.#em.find(Destination, { id: { $in: ids } }) : [];
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
    const slug = this.#slugOf(item.input);
    if (!this.#taken.has(slug)) {
      this.#create(label, item, slug);
    } else if (this.#strategy === 'rename') {
      this.#create(
        label,
        item,
        nextFreeSlug(slug, (candidate) => this.#taken.has(candidate)),
      );
    } else if (this.#strategy === 'skip') {
      const twin = this.#takenBy.get(slug);
      if (twin !== undefined) this.#warnings.push(`${label}: was skipped, because ${twin} has the same slug`);
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
        `${label}: was imported disabled, because the file does not contain its credentials; set them, then enable it`,
      );
    }
    this.#taken.add(slug);
    this.#takenBy.set(slug, label);
    this.#noteMade(record.name, slug);
    this.#outcomes.push({ id: record.id, name: record.name, slug, status: 'created' });
  }

  #overwrite(label: string, item: DestinationItem, slug: string, stored: Destination | undefined): void {
    const twin = this.#takenBy.get(slug);
    if (twin !== undefined || !stored)
      throw invalid('slug', `must differ from the slug of ${twin}, which is in the same file`);
    if (item.type !== stored.type) throw invalid('type', `must be ${stored.type}, the type of the stored destination`);
    const { changed, incomplete } = isWarehouse(stored)
      ? changedByItem(this.#deps, stored, item as WarehouseItem, this.#maySeeSecrets)
      : changedHttp(this.#deps, stored, item as HttpItem, this.#maySeeSecrets);
    if (incomplete) this.#warnings.push(`${label}: was left disabled, because it still has no credentials`);
    if (item.type === 'http' && item.redacted.signingSecret && !stored.signingSecret) {
      this.#warnings.push(`${label}: is not signed, because the file does not contain its signing secret`);
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

const baseOf = ({ name }: { name: string }): string => slugify(name, 'destination');

const isBefore = (slug: string, other: string): boolean =>
  slug.length < other.length || (slug.length === other.length && slug < other);

/** The record of an item; `incomplete` when the file holds not all of its credentials. @throws ApiError 400 */
function newHttp(deps: ApiDeps, organization: string, { input, redacted }: HttpItem) {
  const { authType = 'none' } = input;
  const withoutAuth = redacted.authConfig && authType !== 'none';
  const record = newDestination(deps, organization, withoutAuth ? { ...input, authType: 'none' } : input);
  return { record: { ...record, authType }, incomplete: withoutAuth || redacted.signingSecret };
}

/**
 * The stored destination with the item applied; `incomplete` when it has no credentials yet.
 * @throws ApiError 400, 403
 */
function changedHttp(deps: ApiDeps, stored: Destination, { input, redacted }: HttpItem, maySeeSecrets: boolean) {
  const { slug: _same, authType, ...patch } = input;
  if (redacted.authConfig && authType !== undefined && authType !== stored.authType)
    throw invalid('authConfig', `must be complete: the stored destination has no credentials of the type ${authType}`);
  const incomplete = redacted.authConfig && lacksCredentials(stored);
  const change = redacted.authConfig ? patch : { ...patch, authType };
  return { changed: changedDestination(deps, stored, change, { maySeeSecrets, incomplete }), incomplete };
}
