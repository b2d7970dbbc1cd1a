// JSON Schemas that the payloads of a route must match.
import { z } from 'zod';
import { sampleContent } from '../../../core/forms/forms.ts';
import type { JsonSchema } from '../../../core/schemas/schema.ts';
import { Schema } from '../../../db/records/entities.ts';
import { inThreads } from '../../request/threads.ts';
import { type Context, organizationId } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import { type Operation, operation } from '../../request/operation.ts';
import * as table from '../table.ts';
import { component, flag, text, version, withExample } from '../values.ts';
import { namedRecords, namedRows, usedRows } from './named-records.ts';

// Whether it can be used is checked in a thread (resources/schemas.ts).
// Kept as sent: copying by members would lose one called __proto__.
const isJsonSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));

const jsonSchema = z.custom<JsonSchema>(isJsonSchema, 'must be a JSON Schema (an object, true or false)').meta({
  description: 'A JSON Schema, draft-07 or 2020-12 (set with `$schema`; defaults to 2020-12).',
  override: { type: ['object', 'boolean'] },
  examples: [{ type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }],
});
const shownSchema = withExample(
  z.union([z.record(z.string(), z.unknown()), z.boolean()]),
  { type: 'object', required: ['id'] },
  'A JSON Schema.',
);

const schemaMembers = table.membersOf<Schema>()({
  ...namedRows('sch', 'Order'),
  schema: table.required(jsonSchema, { answer: shownSchema }),
  version: table.readOnly(version),
  ...usedRows,
});

const validateSchema = z.object({
  payload: z.unknown().refine((payload) => payload !== undefined, 'is required'),
  headers: z.record(z.string(), z.string()).optional(),
});
const testSchema = validateSchema.extend({ schema: jsonSchema });

const exampleSchema = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };

const schemas = namedRecords<Pick<Schema, 'schema'>>({
  name: 'Schema',
  kind: 'schema',
  entity: Schema,
  prefix: 'sch',
  members: schemaMembers,
  check: { of: ['schema'], run: requireGoodSchema },
  examples: {
    create: { plain: { name: 'Order', schema: exampleSchema } },
    update: { schema: { schema: { ...exampleSchema, required: [] } } },
  },
  leadsTo: 'validatePayload',
});
const schemaResult = component('SchemaResult', {
  valid: flag(false),
  errors: z.array(
    z.object({
      path: text('/id', 'A JSON Pointer into the payload. Empty for the whole payload.'),
      message: text('must be integer'),
    }),
  ),
});

export const schemaOperations: Operation[] = [
  ...schemas.operations,
  operation('testSchema', 'post', '/api/schemas/test', {
    tag: 'Schemas',
    changesNothing: true,
    summary: 'Test a schema without saving it',
    body: {
      schema: testSchema,
      examples: { wrong: { schema: exampleSchema, payload: { id: 'not a number' } } },
    },
    answer: {
      description: 'Whether the payload is valid, and the first ten errors.',
      schema: schemaResult,
    },
    errors: { 400: ['INVALID_SCHEMA'] },
    async run(ctx, { body: { schema, payload, headers } }) {
      const content = sampleContent(payload, headers);
      const trial = await inThreads(() => ctx.deps.threads.trySchema(organizationId(ctx), schema, content));
      if (!trial.ok) throw invalid('schema', trial.problem, 'INVALID_SCHEMA');
      return { valid: trial.errors.length === 0, errors: trial.errors };
    },
  }),
  operation('validatePayload', 'post', '/api/schemas/{id}/validate', {
    tag: 'Schemas',
    of: schemas.find,
    changesNothing: true,
    summary: 'Test a schema',
    body: { schema: validateSchema, examples: { wrong: { payload: { id: 'not a number' } } } },
    answer: {
      description: 'Whether the payload is valid, and the first ten errors.',
      schema: schemaResult,
    },
    async run(ctx, { body: { payload, headers }, record: { id, name, version, schema } }) {
      const stored = { id, name, version, schema };
      // Evaluated like an event with this body.
      const content = sampleContent(payload, headers);
      const [errors = []] = await inThreads(() => ctx.deps.threads.validate(organizationId(ctx), [stored], content));
      return { valid: errors.length === 0, errors };
    },
  }),
];

/** @throws ApiError 400 INVALID_SCHEMA */
async function requireGoodSchema(ctx: Context, { schema }: Pick<Schema, 'schema'>): Promise<void> {
  const problem = await inThreads(() => ctx.deps.threads.schemaProblem(organizationId(ctx), schema));
  if (problem !== null) throw invalid('schema', problem, 'INVALID_SCHEMA');
}
