// The dialects of JSON Schema that are understood, and how the validator is set up for schemas of strangers.
import { Ajv, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
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
 * @param allErrors collect every error instead of the first
 */
export function newValidator(dialect: Dialect, allErrors: boolean): Ajv {
  const options = { ...OPTIONS, allErrors };
  const ajv = dialect === 'draft-07' ? new Ajv(options) : new Ajv2020(options);
  addFormats.default(ajv);
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
