// Compiled schemas, shared by everything in the process that validates. A version of a schema never changes.
import { type CompiledSchema, compileSchema, InvalidSchemaError, type JsonSchema } from './schema.ts';

/** A schema as it is stored. */
export interface StoredSchema {
  id: string;
  name: string;
  version: number;
  schema: JsonSchema;
}

const MAX_COMPILED = 500;
const compiled = new Map<string, CompiledSchema>();

/** The validator of this version, compiled at its first use. */
export function validatorOf({ id, version, schema }: Omit<StoredSchema, 'name'>): CompiledSchema {
  const key = `${id}:${version}`;
  const known = compiled.get(key) ?? compileOrExplain(schema);
  // The one used last is the last to go.
  compiled.delete(key);
  compiled.set(key, known);
  if (compiled.size > MAX_COMPILED) compiled.delete(compiled.keys().next().value ?? '');
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
