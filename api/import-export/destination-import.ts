import { isSlugOf, nextFreeSlug, slugify } from '../../core/text/slugs.ts';
import { Destination } from '../../db/records/entities.ts';
import { type KnownDestination, knownDestinations, lockDestinations, takenSlugs } from '../../db/records/slugs.ts';
import type { EntityManager } from '../../db/records/orm.ts';
import { requireRecordRoom } from '../auth/request-and-record-limits.ts';
import { maySeeSecrets } from '../auth/scopes.ts';
import { type ApiDeps, callerOf, type Context, organizationId } from '../request/context.ts';
import { invalid } from '../request/errors.ts';
import { slugConstraint } from '../resources/records.ts';
import { changedByItem, type DestinationItem, newFromItem, readDestinationItem } from './destination-items.ts';
import * as exchange from './files.ts';

/** Imports the items of a file. @returns what became of each */
export async function importDestinations(ctx: Context, file: exchange.ImportRequest) {
  const { items, conflictStrategy: strategy, validateOnly } = file;
  const { plan } = callerOf(ctx).organization;
  const checked = await exchange.checkItems('destinations', items, (item) => readDestinationItem(plan, item));
  let rest = exchange.restsBetween();
  const result = await exchange.inImport(ctx, slugConstraint('destination'), async (em) => {
    const slugs = await Slugs.load(em, organizationId(ctx), checked, strategy);
    const importing = {
      deps: ctx.deps,
      organization: organizationId(ctx),
      maySeeSecrets: maySeeSecrets(ctx),
      strategy,
      slugs,
    };
    const steps: Step[] = [];
    rest = exchange.restsBetween();
    for (let from = 0; from < checked.length; from += exchange.GROUP) {
      const group = checked.slice(from, from + exchange.GROUP);
      const ids = strategy === 'overwrite' ? slugs.storedIds(group) : [];
      const stored = ids.length > 0 ? await em.find(Destination, { id: { $in: ids } }) : [];
      for (const entry of group) steps.push(stepOf(importing, entry, stored));
      em.clear();
      await rest();
    }
    // From here on rows are locked, and statements that are about all organizations may wait for them: no rest before
    // the end.
    rest = exchange.restsBetween();
    if (!validateOnly) await lock(em, organizationId(ctx), steps, slugs.known);
    await requireRecordRoom(em, ctx, 'destinations', steps.filter(({ status }) => status === 'created').length);
    if (!validateOnly) await write(em, steps);
    const done = report(steps, validateOnly);
    exchange.noteImported(ctx, done.destinations);
    return done;
  });
  await rest();
  return result;
}

type Status = 'created' | 'skipped' | 'overwritten' | 'failed';

interface Step {
  status: Status;
  /** Null: it is not stored, or meets another one of the file. */
  id: string | null;
  name: string;
  slug: string | null;
  errors?: string[];
  warnings?: string[];
  /** @param stored what it overwrites, as it is now */
  apply?: (em: EntityManager, stored: Destination | undefined) => void;
}

interface Importing {
  deps: ApiDeps;
  organization: string;
  maySeeSecrets: boolean;
  strategy: exchange.ConflictStrategy;
  slugs: Slugs;
}

function stepOf(importing: Importing, entry: exchange.CheckedItem<DestinationItem>, stored: Destination[]): Step {
  const failed = (errors: string[]): Step => ({ status: 'failed', id: null, name: entry.name, slug: null, errors });
  if ('problems' in entry) return failed(entry.problems);
  const { label, item } = entry;
  const { strategy, slugs } = importing;
  const slug = slugs.of(item.input);
  const twin = slugs.takenBy.get(slug);
  try {
    if (!slugs.taken.has(slug)) return created(importing, label, item, slug);
    if (strategy === 'rename')
      return created(
        importing,
        label,
        item,
        nextFreeSlug(slug, (each) => slugs.taken.has(each)),
      );
    const known = slugs.known.find((each) => each.slug === slug);
    if (strategy === 'skip') {
      const warnings = twin === undefined ? [] : [`${label}: skipped because ${twin} has the same slug`];
      return { status: 'skipped', id: known?.id ?? null, name: item.input.name, slug, warnings };
    }
    const met = stored.find(({ id }) => id === known?.id);
    if (twin !== undefined || !met) throw invalid('slug', `must be unique in the file; ${twin} has the same slug`);
    return overwritten(importing, label, item, met);
  } catch (error) {
    return failed(exchange.problemsOf(error, label));
  }
}

function created({ deps, organization, slugs }: Importing, label: string, item: DestinationItem, slug: string): Step {
  const { record, incomplete } = newFromItem(deps, organization, item);
  const { id, name } = record;
  slugs.take(slug, name, label);
  return {
    ...{ status: 'created', id, name, slug },
    warnings: incomplete
      ? [
          `${label}: imported as disabled because the file does not contain the credentials; set them, then enable the destination`,
        ]
      : [],
    apply: (em) => em.create(Destination, { ...record, slug, ...(incomplete && { enabled: false }) }),
  };
}

/** @throws ApiError 400, 403 */
function overwritten(importing: Importing, label: string, item: DestinationItem, stored: Destination): Step {
  const { deps, slugs } = importing;
  const { id, slug } = stored;
  if (item.type !== stored.type) throw invalid('type', `must be ${stored.type}, the stored destination's type`);
  const { changed, incomplete } = changedByItem(deps, stored, item, importing.maySeeSecrets);
  const isUnsigned = item.type === 'http' && item.redacted.signingSecret && !stored.signingSecret;
  slugs.takenBy.set(slug, label);
  return {
    ...{ status: 'overwritten', id, name: item.input.name, slug },
    warnings: [
      ...(incomplete
        ? [`${label}: left disabled because it has no credentials; set them, then enable the destination`]
        : []),
      ...(isUnsigned
        ? [`${label}: deliveries are not signed because the file does not contain the signing secret`]
        : []),
    ],
    apply: (em, current) => current && em.assign(current, { ...changed, ...(incomplete && { enabled: false }) }),
  };
}

/** Slugs in use: those from before the import that matter to it, and those of the records built so far. */
class Slugs {
  readonly taken: Set<string>;
  /** The item that has taken it. */
  readonly takenBy = new Map<string, string>();
  readonly known: KnownDestination[];
  readonly #given: ReadonlySet<string>;
  /** By name, the slug that was made of it: what an item without a slug conflicts with. */
  readonly #madeOf = new Map<string, string>();

  constructor(known: KnownDestination[], taken: string[], given: string[]) {
    this.known = known;
    this.taken = new Set([...known.map(({ slug }) => slug), ...taken]);
    this.#given = new Set(given);
    for (const { name, slug } of known) this.#noteMade(name, slug);
  }

  static async load(
    em: EntityManager,
    organization: string,
    checked: exchange.CheckedItem<DestinationItem>[],
    strategy: exchange.ConflictStrategy,
  ): Promise<Slugs> {
    const inputs = checked.flatMap((entry) => ('item' in entry ? entry.item.input : []));
    const given = [...new Set(inputs.flatMap(({ slug }) => slug ?? []))];
    const unnamed = inputs.filter(({ slug }) => slug === undefined);
    const bases = unnamed.map(baseOf);
    const slugs = [...given, ...bases];
    const known = await knownDestinations(em, organization, { slugs, names: unnamed.map(({ name }) => name) });
    // New slugs must be free, too.
    const numbered = strategy === 'rename' ? slugs : bases;
    return new Slugs(known, await takenSlugs(em, 'destination', organization, numbered), given);
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
  of({ name, slug }: { name: string; slug?: string }): string {
    const isTaken = (candidate: string) => this.taken.has(candidate) || this.#given.has(candidate);
    return slug ?? this.#madeOf.get(name) ?? nextFreeSlug(baseOf({ name }), isTaken);
  }

  storedIds(group: exchange.CheckedItem<DestinationItem>[]): string[] {
    const slugs = group.flatMap((entry) => {
      if (!('item' in entry)) return [];
      const { name, slug } = entry.item.input;
      return slug ?? this.#madeOf.get(name) ?? [];
    });
    return this.known.flatMap(({ id, slug }) => (slugs.includes(slug) ? id : []));
  }

  take(slug: string, name: string, label: string): void {
    this.taken.add(slug);
    this.takenBy.set(slug, label);
    this.#noteMade(name, slug);
  }
}

/**
 * Locks what is overwritten, in the order of ids. @throws ChangedMeanwhileError when it has changed since it was read;
 * a unique constraint finds other slugs that were taken meanwhile
 */
async function lock(em: EntityManager, organization: string, steps: Step[], known: KnownDestination[]): Promise<void> {
  const ids = new Set(exchange.overwrittenBy(steps));
  if (ids.size === 0) return;
  const now = await lockDestinations(em, organization, [...ids]);
  const before = known.filter(({ id }) => ids.has(id));
  if (JSON.stringify(now) === JSON.stringify(before)) return;
  throw new exchange.ChangedMeanwhileError('a destination was changed while the import was overwriting it');
}

/** Writes what was built, in groups and without a rest; each waits for PostgreSQL, so others have turns in between. */
async function write(em: EntityManager, steps: Step[]): Promise<void> {
  for (let from = 0; from < steps.length; from += exchange.GROUP) {
    const group = steps.slice(from, from + exchange.GROUP);
    const ids = exchange.overwrittenBy(group);
    const found = ids.length > 0 ? await em.find(Destination, { id: { $in: ids } }) : [];
    const stored = new Map(found.map((destination) => [destination.id, destination]));
    for (const { id, apply } of group) apply?.(em, stored.get(id ?? ''));
    await em.flush();
    em.clear();
  }
}

/** The answer; in a dry run new records have no id. */
function report(steps: Step[], isDryRun: boolean) {
  const names = (wanted: Status) => steps.flatMap(({ status, name }) => (status === wanted ? name : []));
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
    errors: steps.flatMap(({ errors = [] }) => errors),
    warnings: steps.flatMap(({ warnings = [] }) => warnings),
    destinations: steps.map(({ id, name, slug, status }) => ({
      ...{ id: isDryRun && status === 'created' ? null : id, name, slug, status },
    })),
  };
}

const baseOf = ({ name }: { name: string }): string => slugify(name, 'destination');

const isBefore = (slug: string, other: string): boolean =>
  slug.length < other.length || (slug.length === other.length && slug < other);
