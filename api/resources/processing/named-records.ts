// What filters, schemas and transforms share: a name, a slug, routes that refer to them, and the endpoints for that. The file of each kind
// adds its members and its test endpoint.
import { type EntityName, LockMode, type RequiredEntityData } from '@mikro-orm/core';
import { z } from 'zod';
import { type IdPrefix, newId } from '../../../core/text/ids.ts';
import { type Filter, Route, type Schema, type Transform } from '../../../db/records/entities.ts';
import { countRoutesOf, type ReferringColumn } from '../../../db/records/routes.ts';
import type { LimitedRecords } from '../../../db/records/record-counts.ts';
import type { EntityManager } from '../../../db/records/orm.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { requireRecordRoom } from '../../auth/limits.ts';
import { type ApiDeps, type Context, entityManager, organizationId, param } from '../../request/context.ts';
import { ApiError, notFound } from '../../request/errors.ts';
import type { Operation, RequestBody, Tag } from '../../request/operation.ts';
import { containsPattern, listAnswer, newestFirst, pageParams, textParam } from '../../request/query.ts';
import { parseQuery } from '../../request/validation.ts';
import * as field from '../fields.ts';
import {
  changedMembers,
  putBySlug,
  requireId,
  requireWanted,
  slugOf,
  type SlugRules,
  storeWithSlug,
  tell,
  transactional,
  updateWithSlug,
} from '../records.ts';
import { computed, converted, optional, readOnly, required, type Table, toAnswer } from '../table.ts';
import { count, idOf, listOf, timestamp } from '../values.ts';

/** The rows at the top of their tables. */
export const namedRows = (prefix: string, example: string) => ({
  id: readOnly(idOf(prefix)),
  name: required(field.name.meta({ examples: [example] })),
  // Derived from the name when none is sent.
  slug: converted(field.slug),
  description: optional(field.description.meta({ examples: ['For the CRM'] }), null),
});

/** The rows at the end. */
export const usedRows = {
  routeCount: computed(count.meta({ description: 'Routes that use it.', examples: [1] })),
  createdAt: readOnly(timestamp),
  updatedAt: readOnly(timestamp),
};

/** The members of a route that refer to a record. */
export type RouteReference = 'filterId' | 'schemaId' | 'transformId';

type NamedInput = { name: string; slug?: string; description?: string | null };

const listSchema = z.object({
  ...pageParams,
  search: textParam.meta({ description: 'A part of the name or slug, whatever its case.' }),
});

/** The members that all three have. */
type Named = Pick<Filter & Schema & Transform, keyof Filter & keyof Schema & keyof Transform>;

/** What differs between the kinds. */
interface NamedKind extends SlugRules {
  entity: typeof Filter | typeof Schema | typeof Transform;
  prefix: IdPrefix;
  /** The limit of their number. */
  limit: LimitedRecords;
  /** The member of routes that refers to it. */
  usedAs: RouteReference;
  /** Its members. */
  members: Table & typeof usedRows;
  /** The schema of answers with one record. */
  answer: z.ZodType;
}

/** The API description of the paths of a kind. */
interface NamedPaths {
  tag: Tag;
  /** In operation ids and in sentences: `Filter`, `filter`. */
  name: string;
  base: string;
  create: OwnStep;
  put: Operation['run'];
  update: OwnStep;
  refusal: string;
  alsoLeadsTo: string;
}
interface OwnStep {
  body: RequestBody;
  run: Operation['run'];
}

/** The endpoints of one kind of record. */
export class NamedRecords<Own extends object> {
  readonly #kind: NamedKind;
  readonly #entity: EntityName<Named>;

  constructor(kind: NamedKind) {
    this.#kind = kind;
    // The kind's entity has these members, which MikroORM's types cannot express.
    this.#entity = kind.entity as unknown as EntityName<Named>;
  }

  /** List, create, get, update and delete; each kind has its own create and update. */
  operations({ tag, name, base, create, put, update, refusal, alsoLeadsTo }: NamedPaths): Operation[] {
    const { answer, prefix } = this.#kind;
    const common = { tag, idOf: [prefix] };
    const what = `a ${name.toLowerCase()}`;
    const is = `The ${name.toLowerCase()}`;
    return [
      {
        ...common,
        method: 'get',
        path: base,
        operationId: `list${name}s`,
        run: (ctx, deps) => this.#list(ctx, deps),
        summary: `List ${name.toLowerCase()}s`,
        query: listSchema,
        answer: { status: 200, description: 'One page, newest first.', schema: listOf(answer) },
      },
      {
        ...common,
        method: 'post',
        path: base,
        operationId: `create${name}`,
        versioned: true,
        summary: `Create ${what}`,
        body: create.body,
        run: create.run,
        answer: {
          status: 201,
          description: `${is}.`,
          schema: answer,
          leadsTo: [`get${name}`, `update${name}`, alsoLeadsTo, `delete${name}`],
        },
        errors: { 400: [refusal, 'INVALID_SLUG'], 409: ['DUPLICATE_SLUG'] },
      },
      {
        ...common,
        method: 'get',
        path: `${base}/{id}`,
        operationId: `get${name}`,
        versioned: true,
        run: async (ctx, deps) => this.#answer(ctx, deps, await this.find(ctx, deps)),
        summary: `Get ${what}`,
        answer: { status: 200, description: `${is}.`, schema: answer },
      },
      {
        ...common,
        method: 'patch',
        path: `${base}/{id}`,
        operationId: `update${name}`,
        versioned: true,
        summary: `Update ${what}`,
        description: 'Members that are not sent stay as they are.',
        body: update.body,
        run: update.run,
        answer: { status: 200, description: `${is} as it is now.`, schema: answer },
        errors: { 400: [refusal, 'INVALID_SLUG'], 409: ['DUPLICATE_SLUG'] },
      },
      {
        ...common,
        method: 'put',
        path: `${base}/by-slug/{slug}`,
        operationId: `put${name}`,
        versioned: true,
        summary: `Create or replace the ${name.toLowerCase()} of a slug`,
        description: 'It becomes what a create would make of the body: what is left out goes back to its default.',
        body: create.body,
        run: put,
        answer: { status: 200, description: `${is} as it is now.`, ofNew: `${is}, which is new.`, schema: answer },
        errors: { 400: [refusal, 'INVALID_SLUG'] },
      },
      {
        ...common,
        method: 'delete',
        path: `${base}/{id}`,
        operationId: `delete${name}`,
        versioned: true,
        run: (ctx, deps) => this.#remove(ctx, deps),
        summary: `Delete ${what}`,
        answer: { status: 204, description: 'It is deleted.' },
        errors: { 409: ['IN_USE'] },
      },
    ];
  }

  /** The record of the path. @throws ApiError 404 */
  find(ctx: Context, deps: ApiDeps): Promise<Named & Own> {
    return this.#findIn(entityManager(ctx, deps), param(ctx, 'id'));
  }

  async #findIn(em: EntityManager, id: string, lock?: 'lock'): Promise<Named & Own> {
    const { kind, prefix } = this.#kind;
    requireId(kind, prefix, id);
    const record = await em.findOne(this.#entity, { id }, lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {});
    if (!record) throw notFound(kind, id);
    return record as Named & Own;
  }

  /** Stores a new record and answers with it. @throws ApiError 409 DUPLICATE_SLUG */
  async create(ctx: Context, deps: ApiDeps, input: NamedInput, own: Own): Promise<void> {
    const record = await this.#store(ctx, deps, input, own);
    ctx.status = 201;
    await this.#answer(ctx, deps, record);
  }

  /** Stores the record of the slug of the path, or replaces it, and answers with it. @throws ApiError 400, 412 */
  async put(ctx: Context, deps: ApiDeps, input: NamedInput, own: Own): Promise<void> {
    const slug = slugOf(ctx, input.slug);
    const { name, description = null } = input;
    const record = await putBySlug(ctx, deps, slug, {
      kind: this.#kind.kind,
      entity: this.#entity,
      create: () => this.#store(ctx, deps, { ...input, slug }, own),
      replace: (id) =>
        transactional(ctx, deps, async (em) => {
          const stored = await this.#findIn(em, id, 'lock');
          requireWanted(ctx, this.#kind.kind, stored);
          const changed = changedMembers(stored, { name, description, ...own });
          em.assign<Named>(stored, changed, { mergeObjectProperties: false });
          return stored;
        }),
    });
    await this.#answer(ctx, deps, record);
  }

  async #store(ctx: Context, deps: ApiDeps, input: NamedInput, own: Own): Promise<Named & Own> {
    const id = newId(this.#kind.prefix);
    noteRecords(ctx, [id]);
    const record = await storeWithSlug(
      this.#kind,
      { ...input, organizationId: organizationId(ctx) },
      () => entityManager(ctx, deps),
      (fork, slug) => {
        const { name, description = null } = input;
        const members: RequiredEntityData<Named> = {
          ...own,
          id,
          organizationId: organizationId(ctx),
          name,
          slug,
          description,
        };
        return fork.transactional(async (em) => {
          await requireRecordRoom(em, ctx, this.#kind.limit);
          return em.create(this.#entity, members);
        });
      },
    );
    return record as Named & Own;
  }

  /**
   * Applies the patch to the record of the path, under its lock, and answers with it.
   * @param still whether the patch may be applied to the current record
   * @returns false when it may not; nothing is changed or answered then
   * @throws ApiError 404, 409 DUPLICATE_SLUG
   */
  async update(
    ctx: Context,
    deps: ApiDeps,
    patch: { slug?: string },
    still: (stored: Own) => boolean = () => true,
  ): Promise<boolean> {
    const record = await updateWithSlug(this.#kind, patch.slug, () =>
      entityManager(ctx, deps).transactional(async (em) => {
        const stored = await this.#findIn(em, param(ctx, 'id'), 'lock');
        requireWanted(ctx, this.#kind.kind, stored);
        if (!still(stored)) return null;
        // A JSON member is replaced as a whole.
        em.assign<Named>(stored, field.sent(patch), { mergeObjectProperties: false });
        return stored;
      }),
    );
    if (record) await this.#answer(ctx, deps, record);
    return record !== null;
  }

  async #answer(ctx: Context, deps: ApiDeps, record: Named & Own): Promise<void> {
    tell(ctx, record);
    [ctx.body] = await this.#showAll(entityManager(ctx, deps), [record]);
  }

  async #list(ctx: Context, deps: ApiDeps): Promise<void> {
    const query = parseQuery(ctx, listSchema);
    const em = entityManager(ctx, deps);
    const [records, total] = await em.findAndCount(this.#entity, searched(query.search), newestFirst(query));
    ctx.body = listAnswer(await this.#showAll(em, records as (Named & Own)[]), total, query);
  }

  async #remove(ctx: Context, deps: ApiDeps): Promise<void> {
    await transactional(ctx, deps, async (em) => {
      const record = await this.#findIn(em, param(ctx, 'id'), 'lock');
      requireWanted(ctx, this.#kind.kind, record);
      await requireUnused(em, this.#kind.usedAs, record);
      em.remove(record);
    });
    ctx.status = 204;
  }

  async #showAll(em: EntityManager, records: (Named & Own)[]): Promise<object[]> {
    const counts = await routeCounts(em, this.#kind.usedAs, records);
    return records.map((record) => toAnswer(this.#kind.members, record, { routeCount: counts.get(record.id) }));
  }
}

/** Name or slug contains the text, whatever its case; everything when there is none. */
function searched(search: string | undefined) {
  if (search === undefined) return {};
  const pattern = containsPattern(search);
  return { $or: [{ name: { $ilike: pattern } }, { slug: { $ilike: pattern } }] };
}

const SHOWN_ROUTES = 10;

const COLUMNS: Record<RouteReference, ReferringColumn> = {
  filterId: 'filter_id',
  schemaId: 'schema_id',
  transformId: 'transform_id',
};

/** How many routes refer to each of the records of an organization, in one query; `get` of an unused id gives 0. */
async function routeCounts(
  em: EntityManager,
  member: RouteReference,
  records: readonly { id: string; organizationId: string }[],
): Promise<{ get(id: string): number }> {
  const [first] = records;
  if (first === undefined) return { get: () => 0 };
  const ids = records.map(({ id }) => id);
  const counts = await countRoutesOf(em.fork(), first.organizationId, COLUMNS[member], ids);
  return { get: (id) => counts.get(id) ?? 0 };
}

/**
 * Refuses to delete a record that routes use. Call it with the record's row locked for update, in the transaction that deletes
 * it: a route that is being stored holds a shared lock on its references (`requireReferences`), so either it is seen here, or it
 * finds that the record is gone.
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
  throw new ApiError(409, 'IN_USE', `${record.name} is used by ${what} ${named}${others}; take it out of there first`);
}
