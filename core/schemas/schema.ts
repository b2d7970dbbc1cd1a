// JSON Schemas of users: checked when they are stored, compiled once for each version, evaluated within bounds.
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { LRUCache } from 'lru-cache';
import { TimeLimitError, withinTime } from '../fairness/time-limit.ts';
import { holdsExactNumbers } from '../text/exact-json.ts';
import { PatternError } from '../text/linear-regex.ts';
import { addExactKeywords, hasExactNumbers, roundSchema } from './exact-numbers.ts';
import { type Dialect, dialectOf, evaluationCost, metaSchemaProblem, newValidator } from './validator.ts';

export type JsonSchema = Record<string, unknown> | boolean;

const MAX_SCHEMA_BYTES = 256 * 1024;

// In a thread, where it holds up nobody but the organization's own tasks.
const COMPILE_LIMIT_MS = 5000;
const VALIDATE_LIMIT_MS = 250;
// Evaluations (keywords times bytes of payload) that are surely quick; above it, a deadline is worth its half
// millisecond.
const QUICK_EVALUATIONS = 1_000_000;
// Of larger payloads only the first error is collected: one wrong type can mean an error for every value.
const ALL_ERRORS_BYTES = 64 * 1024;
// Nor of larger schemas, which would have to be compiled once more for it.
const ALL_ERRORS_SCHEMA_BYTES = 16 * 1024;

export class InvalidSchemaError extends Error {
  override readonly name = 'InvalidSchemaError';
}

/** What a validation costs at most, in the steps of a budget. */
export const validationSteps = ({ cost }: Pick<CompiledSchema, 'cost'>, bytes: number): number =>
  100 + (cost * Math.max(bytes, 1)) / 2;

export interface CompiledSchema {
  readonly cost: number;
  /**
   * The first errors; none when it matches. It may take a quarter of a second: on the event loop `validationSteps` has
   * to be asked first.
   * @param limitMs when it has less time than usual
   */
  validate(payload: unknown, bytes: number, limitMs?: number): SchemaError[];
}

/** Of a schema that is to be stored: size, dialect, meta-schema, patterns, references. @throws InvalidSchemaError */
export function checkSchema(schema: JsonSchema): void {
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES)
    throw new InvalidSchemaError(`must be at most ${MAX_SCHEMA_BYTES} bytes of JSON`);
  const dialect = requireDialect(schema);
  try {
    withinTime(COMPILE_LIMIT_MS, () => {
      const rounded = roundSchema(schema, false) as JsonSchema;
      const problem = metaSchemaProblem(dialect, rounded);
      if (problem !== null) throw new InvalidSchemaError(`is not a JSON Schema (${dialect}): ${problem}`);
      compileWith(newValidator(dialect, false), rounded);
    });
  } catch (error) {
    if (error instanceof TimeLimitError)
      throw new InvalidSchemaError('is too complex: compiling it takes too much time');
    throw error;
  }
}

/** Compiles a schema that was checked when it was stored. @throws InvalidSchemaError */
export function compileSchema(schema: JsonSchema): CompiledSchema {
  const dialect = requireDialect(schema);
  const cost = evaluationCost(schema);
  const isExact = hasExactNumbers(schema);
  const doubles = isExact ? null : withDoubles(dialect, schema);
  let exact: Validation | undefined;

  return {
    cost,
    validate(payload, bytes, limitMs = VALIDATE_LIMIT_MS) {
      try {
        let validate = doubles;
        if (validate === null || holdsExactNumbers(payload)) validate = exact ??= withExactNumbers(dialect, schema);
        if (cost * Math.max(bytes, 1) <= QUICK_EVALUATIONS) return validate(payload, bytes);
        return withinTime(Math.max(1, Math.ceil(Math.min(limitMs, VALIDATE_LIMIT_MS))), () => validate(payload, bytes));
      } catch (error) {
        return [{ path: '', message: failureOf(error, limitMs) }];
      }
    },
  };
}

type Validation = (payload: unknown, bytes: number) => SchemaError[];

function withDoubles(dialect: Dialect, schema: JsonSchema): Validation {
  const firstError = compileWith(newValidator(dialect, false), schema);
  const isLarge = JSON.stringify(schema).length > ALL_ERRORS_SCHEMA_BYTES;
  let allErrors: ValidateFunction | undefined;
  return (payload, bytes) => {
    if (firstError(payload)) return [];
    if (isLarge || bytes > ALL_ERRORS_BYTES) return readErrors(firstError.errors ?? []);
    allErrors ??= compileWith(newValidator(dialect, true), schema);
    allErrors(payload);
    return readErrors(allErrors.errors ?? []);
  };
}

/** Slower, and only the first error. */
function withExactNumbers(dialect: Dialect, schema: JsonSchema): Validation {
  const ajv = newValidator(dialect, false);
  const run = addExactKeywords(ajv);
  const check = compileWith(ajv, roundSchema(schema, true) as JsonSchema);
  return (payload) => (run.validate(payload, check) ? [] : readErrors(check.errors ?? []));
}

// Failure policy: a payload that could not be validated does not match; its deliveries say why and can be replayed.
function failureOf(error: unknown, limitMs: number): string {
  if (error instanceof TimeLimitError)
    return limitMs < VALIDATE_LIMIT_MS
      ? "could not be validated within the time limit for all of a webhook's routes"
      : `could not be validated within ${VALIDATE_LIMIT_MS} ms`;
  if (error instanceof RangeError) return 'is nested too deeply to be validated';
  throw error;
}

function requireDialect(schema: JsonSchema) {
  const dialect = dialectOf(schema);
  if (dialect !== null) return dialect;
  throw new InvalidSchemaError(
    'must have no $schema, or a $schema of http://json-schema.org/draft-07/schema# or https://json-schema.org/draft/2020-12/schema',
  );
}

function compileWith(ajv: Ajv, schema: JsonSchema): ValidateFunction {
  try {
    const validate = ajv.compile(schema);
    // An extension of the library: such a validator would answer with a promise.
    if (!('$async' in validate)) return validate;
  } catch (error) {
    throw new InvalidSchemaError(compileProblem(error));
  }
  throw new InvalidSchemaError('must not contain $async');
}

function compileProblem(error: unknown): string {
  if (error instanceof TimeLimitError || !(error instanceof Error)) throw error;
  if (error instanceof PatternError) return `has an invalid pattern, which ${error.message}`;
  if (error instanceof RangeError) return 'is too complex: too many fields at one level, or nested too deeply';
  if ('missingRef' in error)
    return `refers to ${String(error.missingRef)}, which the schema does not contain; external schemas are not loaded`;
  return `cannot be compiled: ${error.message}`;
}

// What is wrong with a payload, in words.

/** One mismatch; `path` is a JSON pointer into the payload (RFC 6901), empty for the payload itself. */
export interface SchemaError {
  path: string;
  message: string;
}

const MAX_ERRORS = 10;
const MAX_ERROR_LENGTH = 300;
/** Longest text about all of them, in bytes. */
const MAX_TEXT_BYTES = 2048;

function readErrors(errors: readonly ErrorObject[]): SchemaError[] {
  return errors.slice(0, MAX_ERRORS).map(({ instancePath, message = 'is not valid', keyword, params }) => {
    const detail = DETAILS[keyword]?.(params);
    return { path: cut(instancePath), message: cut(detail === undefined ? message : `${message}: ${detail}`) };
  });
}

const DETAILS: Readonly<Record<string, (params: ErrorObject['params']) => string>> = {
  additionalProperties: ({ additionalProperty }) => String(additionalProperty),
  unevaluatedProperties: ({ unevaluatedProperty }) => String(unevaluatedProperty),
  enum: ({ allowedValues }) => JSON.stringify(allowedValues),
  const: ({ allowedValue }) => JSON.stringify(allowedValue),
};

/** One text for the delivery: which schema, and where the payload does not match it. At most 2 KiB of storable text. */
export function describeErrors(schema: { name: string; version: number }, errors: readonly SchemaError[]): string {
  const lines = errors.map(({ path, message }) => `${path === '' ? 'the payload' : path} ${message}`);
  const text = `The payload does not match the schema ${schema.name} (version ${schema.version}): ${lines.join('; ')}`;
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_TEXT_BYTES) return text;
  // A character that the cut went through reads as one replacement character or more.
  return `${bytes.toString('utf8', 0, MAX_TEXT_BYTES - 3).replace(/\ufffd{1,3}$/, '')}…`;
}

// Member names of a payload may hold what PostgreSQL's text cannot: NUL and halves of surrogate pairs.
function cut(text: string): string {
  const shown = text.length > MAX_ERROR_LENGTH ? `${text.slice(0, MAX_ERROR_LENGTH)}…` : text;
  return shown.replaceAll('\0', '\ufffd').toWellFormed();
}

// Compiled schemas, shared by everything in a thread that validates. A version of a schema never changes.

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
    return {
      cost: 1,
      validate: () => [{ path: '', message: `cannot be validated, because the schema ${error.message}` }],
    };
  }
}
