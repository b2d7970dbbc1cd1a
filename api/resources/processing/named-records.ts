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
import type { Operation, RequestBody } from '../../request/operation.ts';
import { parseBody } from '../../request/validation.ts';
import { crudOperations } from '../crud.ts';
import * as field from '../fields.ts';
import {
  changedMembers,
  changeRecord,
  type Find,
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
   * What is checked before it is stored, which may take a second, and of which members.
   * @throws ApiError 400 INVALID_FILTER, ...
   */
  check?: { of: readonly (keyof Own & string)[]; run: (ctx: Context, own: Own) => Promise<void> };
  examples: { create: RequestBody['examples']; update: RequestBody['examples'] };
  leadsTo: string;
}

export class NamedRecords<Own extends object> {
  readonly #kind: NamedKind<Own>;
  readonly #entity: EntityName<Named & Own>;
  readonly find: Find<Named & Own>;
  readonly #createSchema: z.ZodType<NamedInput & Own>;
  readonly #updateSchema: z.ZodType<Partial<NamedInput & Own>>;

  constructor(kind: NamedKind<Own>) {
    this.#kind = kind;
    // The kind's entity and members are these, which MikroORM's types and those of tables cannot express.
    this.#entity = kind.entity as unknown as EntityName<Named & Own>;
    this.#createSchema = z.object(table.createShape(kind.members)) as unknown as z.ZodType<NamedInput & Own>;
    this.#updateSchema = z.object(table.updateShape(kind.members)) as unknown as z.ZodType<Partial<NamedInput & Own>>;
    this.find = finder(this.#entity, kind.kind, kind.prefix);
  }

  operations(): Operation[] {
    const { members, name, kind, examples, leadsTo } = this.#kind;
    const errors = { 400: [`INVALID_${kind.toUpperCase()}`, 'INVALID_SLUG'], 409: ['DUPLICATE_SLUG'] };
    const body = { schema: this.#createSchema, examples: examples.create };
    return crudOperations({
      tag: `${name}s`,
      base: `/api/${kind}s`,
      name,
      noun: kind,
      answer: component(name, table.answerShape(members)),
      entity: this.#entity,
      find: this.find,
      show: (ctx, records) => this.#show(ctx, records),
      list: { query: z.object(searchParams('name or slug')), where: (query) => matching(query, 'name', 'slug') },
      create: {
        run: async (ctx) => this.#store(ctx, await this.#input(ctx)),
        body,
        errors,
        leadsTo: [leadsTo],
      },
      update: {
        run: (ctx) => this.#update(ctx),
        body: { schema: this.#updateSchema, examples: examples.update },
        errors,
      },
      put: { run: (ctx) => this.#put(ctx), body, errors: { 400: errors[400] } },
      remove: {
        run: (ctx) =>
          changeRecord(ctx, this.find, async (stored, em) => {
            await requireUnused(em, `${kind}Id`, stored);
            em.remove(stored);
          }),
        errors: { 409: ['IN_USE'] },
      },
    });
  }

  async #input(ctx: Context) {
    const { slug, ...sent } = await parseBody(ctx, this.#createSchema);
    const members = { ...table.defaultsOf(this.#kind.members), ...sent };
    await this.#kind.check?.run(ctx, members as unknown as Own);
    return { slug, members };
  }

  async #put(ctx: Context): Promise<Named & Own> {
    const input = await this.#input(ctx);
    const slug = slugOf(ctx, input.slug);
    return putBySlug(ctx, slug, {
      kind: this.#kind.kind,
      entity: this.#entity,
      create: () => this.#store(ctx, { slug, members: input.members }),
      replace: (id) => this.#change(ctx, (stored) => changedMembers(stored, input.members), id),
    });
  }

  #store(
    ctx: Context,
    { slug: given, members }: { slug: string | undefined; members: { name: string } },
  ): Promise<Named & Own> {
    const { kind, prefix } = this.#kind;
    const id = newId(prefix);
    noteRecords(ctx, [id]);
    return storeWithSlug(ctx, kind, { name: members.name, slug: given }, async (em, slug) => {
      await requireRecordRoom(em, ctx, `${kind}s`);
      const record = { ...members, id, organizationId: organizationId(ctx), slug };
      return em.create(this.#entity, record as unknown as RequiredEntityData<Named & Own>);
    });
  }

  /**
   * The code of a record is checked before it is locked; if another request changes it meanwhile, it is checked again.
   */
  async #update(ctx: Context): Promise<Named & Own> {
    const patch = field.sent(await parseBody(ctx, this.#updateSchema)) as Partial<NamedInput & Own>;
    const { of: checked, run } = this.#kind.check ?? { of: [] };
    const isChecked = checked.some((member) => member in patch);
    for (;;) {
      const found = isChecked ? await this.find.ofPath(ctx) : null;
      if (found) await run?.(ctx, { ...found, ...patch });
      let isSame = true;
      const record = await orDuplicateSlug(this.#kind.kind, patch.slug, () =>
        this.#change(ctx, (stored) => {
          isSame = found === null || checked.every((member) => member in patch || stored[member] === found[member]);
          return isSame ? patch : {};
        }),
      );
      if (isSame) return record;
    }
  }

  /** @param change of the record under its lock @throws ApiError 404, 412 */
  #change(ctx: Context, change: (stored: Named & Own) => object, id?: string): Promise<Named & Own> {
    // A JSON member is replaced as a whole.
    const assign = (stored: Named & Own, em: EntityManager) =>
      em.assign<Named>(stored, change(stored), { mergeObjectProperties: false });
    return changeRecord(ctx, this.find, assign, id);
  }

  async #show(ctx: Context, records: Named[]): Promise<object[]> {
    const { members, kind } = this.#kind;
    const ids = records.map(({ id }) => id);
    const counts = await countRoutesOf(entityManager(ctx), organizationId(ctx), `${kind}_id`, ids);
    return records.map((record) => table.toAnswer(members, record, { routeCount: counts.get(record.id) ?? 0 }));
  }
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
    `${record.name} is used by ${what} ${named}${others}; remove it from all routes first`,
  );
}
