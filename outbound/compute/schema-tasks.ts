// Schemas of users in a thread: checked before they are stored, and payloads validated by them.
import { readPayload } from '../../core/forms/index.ts';
import { parseExact } from '../../core/text/exact-json.ts';
import type { StoredSchema } from '../../core/schemas/cached.ts';
import type { SchemaError } from '../../core/schemas/errors.ts';
import { checkSchema, compileSchema, InvalidSchemaError, type JsonSchema } from '../../core/schemas/schema.ts';
import { TimedBudget } from '../../core/fairness/budget.ts';
import { checkerInThread, compileFor } from './thread-schemas.ts';
import type { SchemaTask, SchemaTrial, SchemaTrialTask, ValidateTask } from './types.ts';

const EVENT_MS = 1000;

export function checkStoredSchema({ schema }: Pick<SchemaTask, 'schema'>): string | null {
  try {
    checkSchema(parseExact(schema) as JsonSchema);
    return null;
  } catch (error) {
    if (error instanceof InvalidSchemaError) return error.message;
    throw error;
  }
}

/** All schemas are compiled, however long it takes: nobody waits for the answer but the one who asked for it. */
export function validatePayload({ schemas: text, body, contentType }: ValidateTask): SchemaError[][] {
  const schemas = parseExact(text) as StoredSchema[];
  while (!compileFor(schemas));
  const payload = readPayload(Buffer.from(body.buffer, body.byteOffset, body.byteLength), contentType);
  const budget = new TimedBudget(EVENT_MS);
  const check = checkerInThread(budget);
  const request = { payload: () => payload, size: body.byteLength };
  return schemas.map((schema) => check(schema, request, budget));
}

/** In the time that one payload has for a schema (SCH-04). */
export function trySchema({ schema, body, contentType }: SchemaTrialTask): SchemaTrial {
  const problem = checkStoredSchema({ schema });
  if (problem !== null) return { ok: false, problem };
  const payload = readPayload(Buffer.from(body.buffer, body.byteOffset, body.byteLength), contentType);
  return { ok: true, errors: compileSchema(parseExact(schema) as JsonSchema).validate(payload, body.byteLength) };
}
