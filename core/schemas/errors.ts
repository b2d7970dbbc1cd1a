// What is wrong with a payload, in words.
import type { ErrorObject } from 'ajv';

/** One mismatch; `path` is a JSON pointer into the payload (RFC 6901), empty for the payload itself. */
export interface SchemaError {
  path: string;
  message: string;
}

/** Maximum number of reported errors, and of characters per error. */
const MAX_ERRORS = 10;
const MAX_ERROR_LENGTH = 300;
/** Longest text about all of them, in bytes. */
const MAX_TEXT_BYTES = 2048;

/** The first ten errors of a validator. */
export function readErrors(errors: readonly ErrorObject[]): SchemaError[] {
  return errors.slice(0, MAX_ERRORS).map((error) => ({
    path: cut(error.instancePath),
    message: cut(`${error.message ?? 'is not valid'}${detailOf(error)}`),
  }));
}

function detailOf({ keyword, params }: ErrorObject): string {
  switch (keyword) {
    case 'additionalProperties':
      return `: ${String(params.additionalProperty)}`;
    case 'unevaluatedProperties':
      return `: ${String(params.unevaluatedProperty)}`;
    case 'enum':
      return `: ${JSON.stringify(params.allowedValues)}`;
    case 'const':
      return `: ${JSON.stringify(params.allowedValue)}`;
    default:
      return '';
  }
}

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
