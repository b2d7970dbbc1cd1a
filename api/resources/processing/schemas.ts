// JSON Schemas that the payloads of a route must match.
// Rules: SCH-02, SCH-05, SCH-06, SCH-09, ERR-14.
import { z } from 'zod';
import { sampleContent } from '../../../core/forms/index.ts';
import type { JsonSchema } from '../../../core/schemas/schema.ts';
import { Schema } from '../../../db/entities.ts';
import { type ApiDeps, type Context, organizationId } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import { createSchemaSchema, jsonSchema, schemaAnswer, schemaMembers, updateSchemaSchema } from './schema-members.ts';
import { flag, text } from '../values.ts';
import type { Operation } from '../../request/operation.ts';
import { inThreads } from '../../request/threads.ts';
import { parseBody } from '../../request/validation.ts';
import { NamedRecords } from './named-records.ts';

const validateSchema = z.object({
  payload: z.unknown().refine((payload) => payload !== undefined, 'is required'),
  headers: z.record(z.string(), z.string()).optional(),
});
const testSchema = validateSchema.extend({ schema: jsonSchema });

const schemas = new NamedRecords<Pick<Schema, 'schema'>>({
  kind: 'schema',
  entity: Schema,
  prefix: 'sch',
  limit: 'schemas',
  constraint: 'schemas_slug_unique',
  usedAs: 'schemaId',
  members: schemaMembers,
  answer: schemaAnswer,
});

const exampleSchema = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };
const schemaResult = z
  .object({
    valid: flag(false),
    errors: z.array(
      z.object({
        path: text('/id', 'A JSON pointer into the payload; empty for the payload itself.'),
        message: text('must be integer'),
      }),
    ),
  })
  .meta({ id: 'SchemaResult' });

export const schemaOperations: Operation[] = [
  ...schemas.operations({
    tag: 'Schemas',
    name: 'Schema',
    base: '/api/schemas',
    create: {
      body: { schema: createSchemaSchema, examples: { plain: { name: 'Order', schema: exampleSchema } } },
      run: create,
    },
    put,
    update: {
      body: { schema: updateSchemaSchema, examples: { schema: { schema: { ...exampleSchema, required: [] } } } },
      run: update,
    },
    refusal: 'INVALID_SCHEMA',
    alsoLeadsTo: 'validatePayload',
  }),
  {
    tag: 'Schemas',
    method: 'post',
    path: '/api/schemas/test',
    operationId: 'testSchema',
    changesNothing: true,
    run: test,
    summary: 'Try a schema that is not stored',
    body: {
      schema: testSchema,
      examples: { wrong: { schema: exampleSchema, payload: { id: 'not a number' } } },
    },
    answer: {
      status: 200,
      description: 'Whether the payload matches, and the first ten mismatches.',
      schema: schemaResult,
    },
    errors: { 400: ['INVALID_SCHEMA'] },
  },
  {
    tag: 'Schemas',
    idOf: ['sch'],
    method: 'post',
    path: '/api/schemas/{id}/validate',
    operationId: 'validatePayload',
    changesNothing: true,
    run: validate,
    summary: 'Try a schema on a payload',
    body: { schema: validateSchema, examples: { wrong: { payload: { id: 'not a number' } } } },
    answer: {
      status: 200,
      description: 'Whether the payload matches, and the first ten mismatches.',
      schema: schemaResult,
    },
  },
];

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, createSchemaSchema);
  await requireGoodSchema(ctx, deps, body.schema);
  await schemas.create(ctx, deps, body, { schema: body.schema });
}

async function put(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, createSchemaSchema);
  await requireGoodSchema(ctx, deps, body.schema);
  await schemas.put(ctx, deps, body, { schema: body.schema });
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const patch = await parseBody(ctx, updateSchemaSchema);
  if (patch.schema !== undefined) await requireGoodSchema(ctx, deps, patch.schema);
  await schemas.update(ctx, deps, patch);
}

/** @throws ApiError 400 INVALID_SCHEMA */
async function requireGoodSchema(ctx: Context, deps: ApiDeps, schema: JsonSchema): Promise<void> {
  const problem = await inThreads(() => deps.compute.schemaProblem(organizationId(ctx), schema));
  if (problem !== null) throw invalid('schema', problem, 'INVALID_SCHEMA');
}

/** Tests the schema on a payload. */
async function validate(ctx: Context, deps: ApiDeps): Promise<void> {
  const schema = await schemas.find(ctx, deps);
  const { payload, headers } = await parseBody(ctx, validateSchema);
  const { id, name, version } = schema;
  const stored = { id, name, version, schema: schema.schema };
  // Evaluated like an event with this body.
  const content = sampleContent(payload, headers);
  const [errors = []] = await inThreads(() => deps.compute.validate(organizationId(ctx), [stored], content));
  ctx.body = { valid: errors.length === 0, errors };
}

/** Tests a schema that is not stored. */
async function test(ctx: Context, deps: ApiDeps): Promise<void> {
  const { schema, payload, headers } = await parseBody(ctx, testSchema);
  const content = sampleContent(payload, headers);
  const trial = await inThreads(() => deps.compute.trySchema(organizationId(ctx), schema, content));
  if (!trial.ok) throw invalid('schema', trial.problem, 'INVALID_SCHEMA');
  ctx.body = { valid: trial.errors.length === 0, errors: trial.errors };
}
