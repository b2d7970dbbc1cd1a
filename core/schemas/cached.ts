// Compiled schemas, shared by everything in the process that validates. A version of a schema never changes.
import { LRUCache } from 'lru-cache';
import { type CompiledSchema, compileSchema, InvalidSchemaError, type JsonSchema } from './schema.ts';

/** A schema as it is stored. */
export interface StoredSchema {
  id: string;
  name: string;
  version: number;
  schema: JsonSchema;
}

const MAX_COMPILED = 500;
const compiled = new LRUCache<string, CompiledSchema>({ max: MAX_COMPILED });

/** The validator of this version, compiled at its first use. */
export function validatorOf({ id, version, schema }: Omit<StoredSchema, 'name'>): CompiledSchema {
  const key = `${id}:${version}`;
  const known = compiled.get(key) ?? compileOrExplain(schema);
  compiled.set(key, known);
  return known;
}

// Failure policy: stored schemas have been compiled before; should one fail now, its deliveries say so instead of
// refusing every webhook of the source.
function compileOrExplain(schema: JsonSchema): CompiledSchema {
  try {
    return compileSchema(schema);
  } catch (error) {
    if (!(error instanceof InvalidSchemaError)) throw error;
    return { validate: () => [{ path: '', message: `cannot be validated: the schema ${error.message}` }] };
  }
}
