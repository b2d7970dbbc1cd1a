// The dialects of JSON Schema that are understood, and how the validator is set up for schemas of strangers.
import { Ajv, _, type Options, str } from 'ajv';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isMultiple } from '../text/exact-json.ts';
import { compilePattern } from '../text/linear-regex.ts';

export type Dialect = 'draft-07' | '2020-12';

const DIALECTS: Record<string, Dialect> = {
  'json-schema.org/draft-07/schema': 'draft-07',
  'json-schema.org/draft/2020-12/schema': '2020-12',
};

/** The dialect a schema is written in: what `$schema` names, else 2020-12. Null when it names another one. */
export function dialectOf(schema: unknown): Dialect | null {
  if (typeof schema !== 'object' || schema === null || !('$schema' in schema)) return '2020-12';
  if (typeof schema.$schema !== 'string') return null;
  return DIALECTS[schema.$schema.replace(/^https?:\/\//, '').replace(/#$/, '')] ?? null;
}

// `pattern` and `patternProperties` in linear time. Ajv tells patterns apart by their text.
function linearPattern(pattern: string) {
  return { ...compilePattern(pattern), toString: () => `linear:${pattern}` };
}
// Ajv asks for it to write standalone code, which is not done here.
linearPattern.code = 'linearPattern';

const OPTIONS: Options = {
  // Unknown keywords and formats are ignored, as the specification wants (2020-12 core, section 4.3.1).
  strict: false,
  logger: false,
  // One compiled function for each reference; copies of a large one would multiply the code.
  inlineRefs: false,
  // The schema was checked against its meta-schema when it was stored.
  meta: false,
  validateSchema: false,
  code: { regExp: linearPattern },
};

// Formats are regular expressions of the engine, some with quadratic time; nothing that long has one of these forms.
const MAX_FORMATTED = 2048;

/**
 * A validator for one schema: its own, so that ids inside a schema never meet those of another one. It loads nothing:
 * a reference to anything outside the schema cannot be resolved.
 */
export function newValidator(dialect: Dialect, allErrors: boolean): Ajv {
  const options = { ...OPTIONS, allErrors };
  const ajv = dialect === 'draft-07' ? new Ajv(options) : new Ajv2020(options);
  addFormats.default(ajv);
  // Ajv divides doubles, and would say that 19.99 is not a multiple of 0.01.
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    ...{ keyword: 'multipleOf', type: 'number', schemaType: 'number', errors: false },
    validate: (factor: number, value: number) => isMultiple(String(value), String(factor)),
    error: {
      message: ({ schemaCode }) => str`must be a multiple of ${schemaCode}`,
      params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}`,
    },
  });
  for (const [name, format] of Object.entries(ajv.formats)) {
    const test = testOf(format);
    if (test) ajv.addFormat(name, { type: 'string', validate: (text) => text.length <= MAX_FORMATTED && test(text) });
  }
  return ajv;
}

function testOf(format: Ajv['formats'][string]): ((text: string) => boolean) | null {
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === 'function') return (text) => Boolean(format(text));
  return null;
}

const metaValidators = new Map<Dialect, Ajv>();

/** Checks a schema against the meta-schema of its dialect. @returns what is wrong, or null */
export function metaSchemaProblem(dialect: Dialect, schema: object | boolean): string | null {
  const ajv = metaValidators.get(dialect) ?? newMetaValidator(dialect);
  metaValidators.set(dialect, ajv);
  if (ajv.validateSchema(schema) === true) return null;
  return ajv.errorsText(ajv.errors, { dataVar: '', separator: '; ' });
}

function newMetaValidator(dialect: Dialect): Ajv {
  const options = { strict: false, logger: false } as const;
  const ajv = dialect === 'draft-07' ? new Ajv(options) : new Ajv2020(options);
  addFormats.default(ajv);
  return ajv;
}

// How much a JSON Schema may ask for: an upper bound of the keywords that are evaluated for one value of the payload.

// A regular expression, and a comparison of every element with every other one, count as many plain keywords.
const KEYWORD_COST: Record<string, number> = { format: 20, uniqueItems: 1000 };
// The program of a pattern has about one instruction a character; a repetition or a class of letters multiplies them,
// up to the limit of linear-regex.ts.
const LARGEST_PATTERN = 4000;
const GROWS = /\{|\\[pP]/;
const patternCost = (pattern: string): number =>
  GROWS.test(pattern) ? LARGEST_PATTERN : Math.min(LARGEST_PATTERN, Math.max(100, 2 * pattern.length));

/**
 * The bound, with every reference replaced by what it leads to.
 * @returns Infinity where there is none: a recursive schema, or references that are no plain pointers
 */
export function evaluationCost(schema: unknown): number {
  const known = new Map<object, number>();

  function costOf(node: unknown): number {
    if (typeof node !== 'object' || node === null) return 1;
    const before = known.get(node);
    if (before !== undefined) return before;
    // Met again while its own cost is being added up: it is part of itself.
    known.set(node, Infinity);
    let cost = 1;
    for (const [key, child] of Object.entries(node)) cost += costOfMember(key, child);
    known.set(node, cost);
    return cost;
  }

  function costOfMember(key: string, child: unknown): number {
    const isReference = typeof child === 'string' && (key === '$dynamicRef' || key === '$recursiveRef');
    const hasOwnBase = typeof child === 'string' && key === '$id' && child !== idOf(schema);
    if (isReference || hasOwnBase) return Infinity;
    if (key === '$ref' && typeof child === 'string') return costOf(resolve(schema, child) ?? UNKNOWN);
    if (key === 'pattern' && typeof child === 'string') return patternCost(child);
    if (key === 'patternProperties')
      return Object.keys(Object(child)).reduce((sum, pattern) => sum + patternCost(pattern), 100) + costOf(child);
    return (KEYWORD_COST[key] ?? 1) + costOf(child);
  }

  known.set(UNKNOWN, Infinity);
  try {
    return costOf(schema);
  } catch (error) {
    // A chain of references that overflows the stack.
    if (error instanceof RangeError) return Infinity;
    throw error;
  }
}

const UNKNOWN = {};

function idOf(schema: unknown): unknown {
  return typeof schema === 'object' && schema !== null && '$id' in schema ? schema.$id : undefined;
}

/** What a JSON pointer in a URI fragment (RFC 6901, section 6) leads to; null when it is anything else. */
function resolve(schema: unknown, reference: string): object | null {
  if (reference === '#') return typeof schema === 'object' ? schema : null;
  if (!reference.startsWith('#/')) return null;
  let node = schema;
  for (const part of reference.slice(2).split('/')) {
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return null;
    node = (node as Record<string, unknown>)[key];
  }
  return typeof node === 'object' ? node : null;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
