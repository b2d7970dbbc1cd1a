// Compiled schemas, shared by everything in a thread that validates. A version of a schema never changes.
import { LRUCache } from 'lru-cache';
import { type CompiledSchema, compileSchema, InvalidSchemaError, type JsonSchema } from './schema.ts';

/** A schema as it is stored. */
export interface StoredSchema {
  id: string;
  name: string;
  version: number;
  schema: JsonSchema;
}

type SchemaVersion = Omit<StoredSchema, 'name'>;

// Bytes of JSON of the schemas; compiled they take many times as much.
const MAX_BYTES = 8 * 1024 * 1024;
// A compiled schema has a validator of its own, however small it is.
const LEAST_BYTES = 8 * 1024;

export class SchemaCache {
  readonly #compiled = new LRUCache<string, CompiledSchema>({ maxSize: MAX_BYTES });

  /** The validator of this version, if it has been compiled. */
  find(schema: SchemaVersion): CompiledSchema | undefined {
    return this.#compiled.get(keyOf(schema));
  }

  compile(stored: SchemaVersion): CompiledSchema {
    const { schema } = stored;
    const compiled = compileOrExplain(schema);
    const bytes = JSON.stringify(schema).length;
    this.#compiled.set(keyOf(stored), compiled, { size: LEAST_BYTES + bytes });
    return compiled;
  }
}

const keyOf = ({ id, version }: SchemaVersion): string => `${id}:${version}`;

// Failure policy: stored schemas have been compiled before; should one fail now, its deliveries say so instead of
// refusing every webhook of the source.
function compileOrExplain(schema: JsonSchema): CompiledSchema {
  try {
    return compileSchema(schema);
  } catch (error) {
    if (!(error instanceof InvalidSchemaError)) throw error;
    return { cost: 1, validate: () => [{ path: '', message: `cannot be validated: the schema ${error.message}` }] };
  }
}
