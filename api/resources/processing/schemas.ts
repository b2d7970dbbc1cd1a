// JSON Schemas that the payloads of a route must match.
import { z } from 'zod';
import { sampleContent } from '../../../core/forms/forms.ts';
import type { JsonSchema } from '../../../core/schemas/schema.ts';
import { Schema } from '../../../db/records/entities.ts';
import { inThreads } from '../../request/threads.ts';
import { type ApiDeps, type Context, organizationId } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import type { Operation } from '../../request/operation.ts';
import { parseBody } from '../../request/validation.ts';
import { answerShape, createShape, membersOf, readOnly, required, updateShape } from '../table.ts';
import { flag, text, version } from '../values.ts';
import { NamedRecords, namedRows, usedRows } from './named-records.ts';

// Whether it can be used is checked in a thread (resources/schemas.ts).
// Kept as sent: copying by members would lose one called __proto__.
const isJsonSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));

const jsonSchema = z.custom<JsonSchema>(isJsonSchema, 'must be a JSON Schema: an object, or true or false').meta({
  description: 'A JSON Schema, draft-07 or 2020-12 (named by `$schema`; without it 2020-12).',
  override: { type: ['object', 'boolean'] },
  examples: [{ type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }],
});
const shownSchema = z
  .union([z.record(z.string(), z.unknown()), z.boolean()])
  .meta({ description: 'A JSON Schema.', examples: [{ type: 'object', required: ['id'] }] });

/** Clients may send what is `required` or `optional`, with its default, and a slug; the others are read-only. */
const schemaMembers = membersOf<Schema>()({
  ...namedRows('sch', 'Order'),
  schema: required(jsonSchema, { answer: shownSchema }),
  version: readOnly(version),
  ...usedRows,
});

const createSchemaSchema = z.object(createShape(schemaMembers));
const updateSchemaSchema = z.object(updateShape(schemaMembers));
const schemaAnswer = z.object(answerShape(schemaMembers)).meta({ id: 'Schema' });

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
  const problem = await inThreads(() => deps.threads.schemaProblem(organizationId(ctx), schema));
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
  const [errors = []] = await inThreads(() => deps.threads.validate(organizationId(ctx), [stored], content));
  ctx.body = { valid: errors.length === 0, errors };
}

/** Tests a schema that is not stored. */
async function test(ctx: Context, deps: ApiDeps): Promise<void> {
  const { schema, payload, headers } = await parseBody(ctx, testSchema);
  const content = sampleContent(payload, headers);
  const trial = await inThreads(() => deps.threads.trySchema(organizationId(ctx), schema, content));
  if (!trial.ok) throw invalid('schema', trial.problem, 'INVALID_SCHEMA');
  ctx.body = { valid: trial.errors.length === 0, errors: trial.errors };
}
