// Statements with their values in place: sql(db).rows<Row>`select ... where id = ${id}`. Each value becomes a parameter
// ($1, $2): only what is marked as a fragment is a part of the statement, so nothing that a caller says is. Statements
// with a name, which a connection prepares once, those of the hot path, and those whose text is shared or put together
// number their parameters themselves.
import { bounds } from './parameters.ts';
import type { Queryable } from './pool.ts';

/** A part of a statement, with the values in it. */
export class Fragment {
  readonly texts: readonly string[];
  readonly values: readonly unknown[];

  /** @param texts around the values: one more than these */
  constructor(texts: readonly string[], values: readonly unknown[] = []) {
    this.texts = texts;
    this.values = values;
  }
}

export const fragment = (texts: TemplateStringsArray, ...values: unknown[]): Fragment => new Fragment(texts, values);

/** A part that is made of constants only: never of what a caller says, nor with numbers of parameters. */
export const raw = (text: string | number): Fragment => new Fragment([String(text)]);

export const joined = (fragments: readonly Fragment[], between: string): Fragment =>
  new Fragment(['', ...fragments.slice(1).map(() => between), ''], fragments);

export const allOf = (conditions: readonly Fragment[]): Fragment => joined(conditions, ' and ');

/** Condition of rows with these ids; by the bounds PostgreSQL opens only the partitions of their days. */
export function among(column: string, ids: string[]): Fragment {
  const { low, high } = bounds(ids);
  return fragment`${raw(column)} = any(${ids}::text[]) and ${raw(column)} between ${low} and ${high}`;
}

export function toStatement(
  { texts, values }: Fragment,
  parameters: unknown[] = [],
): { text: string; values: unknown[] } {
  const placed = values.map((value) =>
    value instanceof Fragment ? toStatement(value, parameters).text : `$${parameters.push(value)}`,
  );
  return { text: texts.map((text, index) => text + (placed[index] ?? '')).join(''), values: parameters };
}

/** Runs statements on a pool, or on one connection inside a transaction. */
export function sql(db: Queryable) {
  const run = <Row extends object>(texts: TemplateStringsArray, values: unknown[]) => {
    const statement = toStatement(new Fragment(texts, values));
    return db.query<Row>(statement.text, statement.values);
  };
  return {
    async rows<Row extends object>(texts: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> {
      return (await run<Row>(texts, values)).rows;
    },
    async first<Row extends object>(texts: TemplateStringsArray, ...values: unknown[]): Promise<Row | undefined> {
      return (await run<Row>(texts, values)).rows[0];
    },
    async find<Row extends object>(texts: TemplateStringsArray, ...values: unknown[]): Promise<Row | null> {
      return (await run<Row>(texts, values)).rows[0] ?? null;
    },
    async ids(texts: TemplateStringsArray, ...values: unknown[]): Promise<string[]> {
      return (await run<{ id: string }>(texts, values)).rows.map(({ id }) => id);
    },
    /** @returns how many rows it has written, or found */
    async run(texts: TemplateStringsArray, ...values: unknown[]): Promise<number> {
      return (await run(texts, values)).rowCount ?? 0;
    },
    /** @returns whether it has written, or found, a row */
    async any(texts: TemplateStringsArray, ...values: unknown[]): Promise<boolean> {
      return (await run(texts, values)).rowCount !== 0;
    },
  };
}
