// Parameters of hand-written statements. They are sanitized, so that PostgreSQL can store any text from a webhook, a
// destination, a store or a transform. The records of the management API refuse such text instead
// (api/request/validation.ts).
import type pg from 'pg';
import { cleanJson, cleanText } from '../../core/text/clean-text.ts';

/**
 * A value as a parameter of type json or jsonb. No other JSON may be given to a statement: in a text, an escape is just
 * text.
 */
export function jsonParameter(value: unknown): string {
  return cleanJson(JSON.stringify(value));
}

/**
 * Rows as a parameter for `json_to_recordset`: each member is the column of the same name, in snake case. Not for the
 * hot path: it renames the members of every row.
 */
export function rowsParameter(rows: readonly object[]): string {
  const renamed = (row: object) => Object.entries(row).map(([name, value]) => [snakeCase(name), value]);
  return jsonParameter(rows.map((row) => Object.fromEntries(renamed(row))));
}

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const BYTEA_OID = 17;

/**
 * Byte strings as a parameter of type bytea[], as PostgreSQL sends and receives arrays (array_recv in its source): the
 * client would write them as hexadecimal text, twice as long, which the server has to read again.
 */
export function bytesParameter(values: readonly Buffer[]): Buffer {
  // One dimension, no nulls, the type of the elements; as many elements, counted from 1.
  const parts: Buffer[] = [int32s(1, 0, BYTEA_OID, values.length, 1)];
  for (const value of values) parts.push(int32s(value.length), value);
  return Buffer.concat(parts);
}

function int32s(...numbers: number[]): Buffer {
  const bytes = Buffer.alloc(4 * numbers.length);
  for (const [index, number] of numbers.entries()) bytes.writeInt32BE(number, 4 * index);
  return bytes;
}

export function cleanParameters(client: pg.Client): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  client.query = ((...args: unknown[]) => query(...args.map(cleanArgument))) as typeof client.query;
}

function cleanArgument(argument: unknown): unknown {
  if (Array.isArray(argument)) return argument.map(cleanParameter);
  if (typeof argument !== 'object' || argument === null) return argument;
  const { values } = argument as { values?: unknown };
  // node-postgres's own queries, such as cursors, are objects with methods, and contain their parameters.
  if (!Array.isArray(values) || 'submit' in argument) return argument;
  return { ...argument, values: values.map(cleanParameter) };
}

function cleanParameter(value: unknown): unknown {
  if (typeof value === 'string') return hasNul(value) ? cleanText(value) : value;
  // An array of bytes or of texts: most need no cleaning and are not copied.
  if (Array.isArray(value)) return value.some(hasNul) ? value.map(cleanParameter) : value;
  return value;
}

// Lone surrogates need no handling: Node writes them as U+FFFD (WHATWG Encoding, section 4.1).
const hasNul = (value: unknown): boolean => typeof value === 'string' && value.includes('\0');

/** The ids with their least and greatest, in byte order as in collation "C". */
export function bounds(ids: string[]): { ids: string[]; low: string; high: string } {
  let low = ids[0] ?? '';
  let high = low;
  for (const id of ids) {
    if (id < low) low = id;
    if (id > high) high = id;
  }
  return { ids, low, high };
}
