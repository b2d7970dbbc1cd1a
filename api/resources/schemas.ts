// JSON Schemas that the payloads of a route must match.
// Rules: SCH-02, SCH-05, SCH-06, ERR-14.
import { z } from 'zod';
import { viewPayload } from '../../core/payload.ts';
import { validatorOf } from '../../core/schemas/cached.ts';
import { checkSchema, InvalidSchemaError, type JsonSchema } from '../../core/schemas/schema.ts';
import { Schema } from '../../db/entities.ts';
import type { ApiDeps, ApiRouter, Context } from '../context.ts';
import { parseBody, refuse } from '../validation.ts';
import { namedMembers, NamedRecords } from './named-records.ts';

// Taken as it was sent: a copy by members would lose one called __proto__.
const isJsonSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));

const jsonSchema = z
  .custom<JsonSchema>(isJsonSchema, 'must be a JSON Schema: an object, or true or false')
  .superRefine((given, context) => {
    if (!isJsonSchema(given)) return;
    try {
      checkSchema(given);
    } catch (error) {
      if (!(error instanceof InvalidSchemaError)) throw error;
      refuse(context, 'INVALID_SCHEMA', error.message);
    }
  })
  .meta({
    description: 'A JSON Schema, draft-07 or 2020-12 (named by `$schema`; without it 2020-12).',
    override: { type: ['object', 'boolean'] },
    examples: [{ type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }],
  });

export const createSchema = z.object({ ...namedMembers, schema: jsonSchema });
export const updateSchema = createSchema.partial();
export const validateSchema = z.object({
  payload: z.unknown().refine((payload) => payload !== undefined, 'is required'),
});

const schemas = new NamedRecords<Pick<Schema, 'schema'>>({
  kind: 'schema',
  entity: Schema,
  prefix: 'sch',
  constraint: 'schemas_slug_unique',
  usedAs: 'schemaId',
  show: ({ schema, version }) => ({ schema, version }),
});

export function mountSchemas(router: ApiRouter, deps: ApiDeps): void {
  const base = '/api/schemas';
  schemas.mount(router, deps, base, { create, update });
  router.post(`${base}/:id/validate`, (ctx) => validate(ctx, deps));
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, createSchema);
  await schemas.create(ctx, deps, body, { schema: body.schema });
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  await schemas.update(ctx, deps, await parseBody(ctx, updateSchema));
}

/** Tries the schema on a payload. */
async function validate(ctx: Context, deps: ApiDeps): Promise<void> {
  const schema = await schemas.find(ctx, deps);
  const { payload } = await parseBody(ctx, validateSchema);
  const json = Buffer.from(JSON.stringify(payload) ?? 'null');
  // Seen as an event with this body would be.
  const errors = validatorOf(schema).validate(viewPayload(json).payload, json.length);
  ctx.body = { valid: errors.length === 0, errors };
}
