// Statements with their values in place: sql(db).rows<Row>`select ... where id = ${id}`. Each value becomes a parameter
// ($1, $2): only what is marked as a fragment is a part of the statement, so nothing that a caller says is. Other
// statements are strings that number their parameters themselves: all with a name, which a connection prepares once,
// and some without. Fragments that both kinds share have no values (`toString`).
import type pg from 'pg';
import { cleanJson, cleanText } from '../../core/text/error-summary.ts';
import type { Queryable } from './pool.ts';

// Parameters of hand-written statements. They are sanitized, so that PostgreSQL can store any text from a webhook, a
// destination, a store or a transform. The records of the management API refuse such text instead
// (api/request/validation.ts).

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

/** A part of a statement, with the values in it. */
export class Fragment {
  readonly texts: readonly string[];
  readonly values: readonly unknown[];

  /** @param texts around the values: one more than these */
  constructor(texts: readonly string[], values: readonly unknown[] = []) {
    this.texts = texts;
    this.values = values;
  }

  /** For statements that number their parameters themselves. @throws Error when it has values */
  toString(): string {
    if (!this.values.every((value) => value instanceof Fragment))
      throw new Error('A fragment with values cannot be used as text');
    return String.raw({ raw: this.texts }, ...this.values);
  }
}

export const fragment = (texts: TemplateStringsArray, ...values: unknown[]): Fragment => new Fragment(texts, values);

/**
 * A part that is made of constants only, never of what a caller says. With numbers of parameters it is only for
 * statements that number theirs (`toString`): `toStatement` refuses it.
 */
export const raw = (text: string | number): Fragment => new Fragment([String(text)]);

/** A text of constants, or a fragment, as a fragment. */
export const part = (of: string | Fragment): Fragment => (typeof of === 'string' ? raw(of) : of);

export const joined = (fragments: readonly Fragment[], between: string): Fragment =>
  new Fragment(['', ...fragments.slice(1).map(() => between), ''], fragments);

export const allOf = (conditions: readonly Fragment[]): Fragment => joined(conditions, ' and ');

/** Condition of rows with these ids; by the bounds PostgreSQL opens only the partitions of their days. */
export function among(column: string, ids: string[]): Fragment {
  const { low, high } = bounds(ids);
  return fragment`${raw(column)} = any(${ids}::text[]) and ${raw(column)} between ${low} and ${high}`;
}

/** Looks for the sign first: for each statement that is all, and takes no time. */
const isNumbered = (text: string): boolean => text.includes('$') && /\$\d/.test(text);

/**
 * An array is sent once, however often it is used: each use of one has the same type.
 * @throws Error when a text has a number of a parameter, which would be that of some other value
 */
export function toStatement(
  { texts, values }: Fragment,
  parameters: unknown[] = [],
): { text: string; values: unknown[] } {
  if (texts.some(isNumbered))
    throw new Error('A statement with inline values must not contain numbered parameters such as $1');
  const place = (value: unknown): number => {
    const sent = Array.isArray(value) ? parameters.indexOf(value) : -1;
    return sent === -1 ? parameters.push(value) : sent + 1;
  };
  const placed = values.map((value) =>
    value instanceof Fragment ? toStatement(value, parameters).text : `$${place(value)}`,
  );
  return { text: String.raw({ raw: texts }, ...placed), values: parameters };
}

/** `created_at` as a member of a row: `createdAt`. */
const memberOf = (column: string): string =>
  column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function withMembers<Row extends object>(rows: Row[]): Row[] {
  const columns = Object.keys(rows[0] ?? {});
  if (!columns.some((column) => column.includes('_'))) return rows;
  const members = columns.map((column) => [column, memberOf(column)] as const);
  return rows.map((row) => {
    const values = row as Record<string, unknown>;
    const renamed: Record<string, unknown> = {};
    for (const [column, member] of members) renamed[member] = values[column];
    return renamed as Row;
  });
}

/**
 * Runs statements on a pool, or on one connection inside a transaction. The members of rows are named as their columns,
 * in camel case; a statement with very many rows names its columns so itself.
 */
export function sql(db: Queryable) {
  type Texts = TemplateStringsArray;
  async function run<Row extends object>(texts: Texts, values: unknown[]): Promise<{ rows: Row[]; count: number }> {
    const statement = toStatement(new Fragment(texts, values));
    // Of several statements at once there are several results.
    const { rows = [], rowCount = 0 } = await db.query<Row>(statement.text, statement.values);
    return { rows, count: rowCount ?? 0 };
  }
  const rowsOf = async <Row extends object>(texts: Texts, values: unknown[]): Promise<Row[]> =>
    withMembers((await run<Row>(texts, values)).rows);
  function theOne<Row>([row]: Row[]): Row {
    if (row === undefined) throw new Error('PostgreSQL returned no row');
    return row;
  }
  return {
    rows<Row extends object>(texts: Texts, ...values: unknown[]): Promise<Row[]> {
      return rowsOf(texts, values);
    },
    async first<Row extends object>(texts: Texts, ...values: unknown[]): Promise<Row | undefined> {
      return (await rowsOf<Row>(texts, values))[0];
    },
    async find<Row extends object>(texts: Texts, ...values: unknown[]): Promise<Row | null> {
      return (await rowsOf<Row>(texts, values))[0] ?? null;
    },
    /** The row of a statement that returns one in any case. */
    async only<Row extends object>(texts: Texts, ...values: unknown[]): Promise<Row> {
      return theOne(await rowsOf<Row>(texts, values));
    },
    /** Its first column. */
    async value<Value>(texts: Texts, ...values: unknown[]): Promise<Value> {
      return Object.values(theOne((await run(texts, values)).rows))[0];
    },
    /** The first column of all rows. */
    async column<Value = string>(texts: Texts, ...values: unknown[]): Promise<Value[]> {
      return (await run(texts, values)).rows.map((row) => Object.values(row)[0]);
    },
    /** @returns how many rows it has written, or found */
    async run(texts: Texts, ...values: unknown[]): Promise<number> {
      return (await run(texts, values)).count;
    },
    /** @returns whether it has written, or found, a row */
    async any(texts: Texts, ...values: unknown[]): Promise<boolean> {
      return (await run(texts, values)).count !== 0;
    },
  };
}
