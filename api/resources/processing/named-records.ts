// What filters, schemas and transforms share: a name, a slug, routes that refer to them, and the endpoints for that.
// The file of each kind adds its members and its test endpoint.
import type { EntityName, RequiredEntityData } from '@mikro-orm/core';
import { z } from 'zod';
import { type IdPrefix, newId } from '../../../core/text/ids.ts';
import { type Filter, Route, type Schema, type Transform } from '../../../db/records/entities.ts';
import { countRoutesOf } from '../../../db/records/routes.ts';
import type { SluggedKind } from '../../../db/records/slugs.ts';
import type { EntityManager } from '../../../db/records/orm.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { requireRecordRoom } from '../../auth/request-and-record-limits.ts';
import { type Context, entityManager, organizationId } from '../../request/context.ts';
import { ApiError } from '../../request/errors.ts';
import type { RequestBody } from '../../request/operation.ts';
import { parseBody } from '../../request/validation.ts';
import { crudOperations } from '../crud.ts';
import * as field from '../fields.ts';
import {
  changedMembers,
  changeRecord,
  finder,
  matching,
  orDuplicateSlug,
  putBySlug,
  searchParams,
  slugOf,
  storeWithSlug,
} from '../records.ts';
import * as table from '../table.ts';
import { component, count, idOf, timestamp, withExample } from '../values.ts';

export const namedRows = (prefix: string, example: string) => ({
  id: table.readOnly(idOf(prefix)),
  name: table.required(withExample(field.name, example)),
  // Derived from the name when none is sent.
  slug: table.converted(field.slug),
  description: table.optional(withExample(field.description, 'For the CRM'), null),
});

export const usedRows = {
  routeCount: table.computed(withExample(count, 1, 'The number of routes that use the record.')),
  createdAt: table.readOnly(timestamp),
  updatedAt: table.readOnly(timestamp),
};

/** Its names elsewhere follow: `/api/filters`, the limit `filters`, the member `filterId` of routes. */
type Kind = Exclude<SluggedKind, 'destination'>;
export type RouteReference = `${Kind}Id`;

type NamedInput = { name: string; slug?: string; description?: string | null };

type Named = Pick<Filter & Schema & Transform, keyof Filter & keyof Schema & keyof Transform>;

interface NamedKind<Own> {
  name: 'Filter' | 'Schema' | 'Transform';
  kind: Kind;
  entity: typeof Filter | typeof Schema | typeof Transform;
  prefix: IdPrefix;
  members: table.Table & typeof usedRows;
  /**
   * What is checked before it is stored, which may take a second; `of` are the members that are checked.
   * @throws ApiError 400 INVALID_FILTER, ...
   */
  check?: { of: readonly (keyof Own & string)[]; run: (ctx: Context, own: Own) => Promise<void> };
  examples: { create: RequestBody['examples']; update: RequestBody['examples'] };
  leadsTo: string;
}

export function namedRecords<Own extends object>(named: NamedKind<Own>) {
  const { name, kind, prefix, members, check, examples, leadsTo } = named;
  type Stored = Named & Own;
  // The kind's entity and members are these, which MikroORM's types and those of tables cannot express.
  const entity = named.entity as unknown as EntityName<Stored>;
  const createSchema = z.object(table.createShape(members)) as unknown as z.ZodType<NamedInput & Own>;
  const updateSchema = z.object(table.updateShape(members)) as unknown as z.ZodType<Partial<NamedInput & Own>>;
  const find = finder(entity, kind, prefix);

  async function readInput(ctx: Context) {
    const { slug, ...sent } = await parseBody(ctx, createSchema);
    const input = { ...table.defaultsOf(members), ...sent };
    await check?.run(ctx, input as unknown as Own);
    return { slug, input };
  }

  function store(ctx: Context, given: string | undefined, input: { name: string }): Promise<Stored> {
    const id = newId(prefix);
    noteRecords(ctx, [id]);
    return storeWithSlug(ctx, kind, { name: input.name, slug: given }, async (em, slug) => {
      await requireRecordRoom(em, ctx, `${kind}s`);
      const record = { ...input, id, organizationId: organizationId(ctx), slug };
      return em.create(entity, record as unknown as RequiredEntityData<Stored>);
    });
  }

  /** @param changed the members that change in the record as it is under its lock @throws ApiError 404, 412 */
  function change(ctx: Context, changed: (stored: Stored) => object, id?: string): Promise<Stored> {
    // A JSON member is replaced as a whole.
    const assign = (stored: Stored, em: EntityManager) =>
      em.assign<Named>(stored, changed(stored), { mergeObjectProperties: false });
    return changeRecord(ctx, find, assign, id);
  }

  async function put(ctx: Context): Promise<Stored> {
    const { slug: sent, input } = await readInput(ctx);
    const slug = slugOf(ctx, sent);
    return putBySlug(ctx, slug, {
      kind,
      entity,
      create: () => store(ctx, slug, input),
      replace: (id) => change(ctx, (stored) => changedMembers(stored, input), id),
    });
  }

  /** The code of a record is checked before it is locked; it is checked again until nobody has changed it meanwhile. */
  async function update(ctx: Context): Promise<Stored> {
    const patch = field.sent(await parseBody(ctx, updateSchema)) as Partial<NamedInput & Own>;
    const { of: checked, run } = check ?? { of: [] };
    const isChecked = checked.some((member) => member in patch);
    for (;;) {
      const found = isChecked ? await find.ofPath(ctx) : null;
      if (found) await run?.(ctx, { ...found, ...patch });
      let isSame = true;
      const record = await orDuplicateSlug(kind, patch.slug, () =>
        change(ctx, (stored) => {
          isSame = found === null || checked.every((member) => member in patch || stored[member] === found[member]);
          return isSame ? patch : {};
        }),
      );
      if (isSame) return record;
    }
  }

  async function show(ctx: Context, records: Named[]): Promise<object[]> {
    const ids = records.map(({ id }) => id);
    const counts = await countRoutesOf(entityManager(ctx), organizationId(ctx), `${kind}_id`, ids);
    return records.map((record) => table.toAnswer(members, record, { routeCount: counts.get(record.id) ?? 0 }));
  }

  const errors = { 400: [`INVALID_${kind.toUpperCase()}`, 'INVALID_SLUG'], 409: ['DUPLICATE_SLUG'] };
  const body = { schema: createSchema, examples: examples.create };
  const operations = crudOperations({
    ...{ tag: `${name}s`, base: `/api/${kind}s`, name, noun: kind, entity, find, show },
    answer: component(name, table.answerShape(members)),
    list: { query: z.object(searchParams('name or slug')), where: (query) => matching(query, 'name', 'slug') },
    create: {
      async run(ctx) {
        const { slug, input } = await readInput(ctx);
        return store(ctx, slug, input);
      },
      body,
      errors,
      leadsTo: [leadsTo],
    },
    update: { run: update, body: { schema: updateSchema, examples: examples.update }, errors },
    put: { run: put, body, errors: { 400: errors[400] } },
    remove: {
      run: (ctx) =>
        changeRecord(ctx, find, async (stored, em) => {
          await requireUnused(em, `${kind}Id`, stored);
          em.remove(stored);
        }),
      errors: { 409: ['IN_USE'] },
    },
  });
  return { find, operations };
}

const SHOWN_ROUTES = 10;

/**
 * Refuses to delete a record that routes use. Call it with the record's row locked for update, in the transaction that
 * deletes it: a route that is being stored holds a shared lock on its references (`requireReferences`), so either it is
 * seen here, or it finds that the record is gone.
 * @throws ApiError 409 IN_USE naming the routes
 */
async function requireUnused(
  em: EntityManager,
  member: RouteReference,
  record: { id: string; name: string },
): Promise<void> {
  const [routes, total] = await em.findAndCount(
    Route,
    { [member]: record.id },
    { fields: ['id', 'name'], limit: SHOWN_ROUTES, orderBy: { id: 'asc' } },
  );
  if (total === 0) return;
  const named = routes.map((route) => `${route.name} (${route.id})`).join(', ');
  const others = total > routes.length ? ` and ${total - routes.length} more` : '';
  const what = total === 1 ? 'the route' : `${total} routes:`;
  throw new ApiError(
    409,
    'IN_USE',
    `The ${member.replace(/Id$/, '')} ${record.name} is used by ${what} ${named}${others}; remove it from ${total === 1 ? 'this route' : 'all routes'} first`,
  );
}
