// Lets housekeeping process tables of any size within the statement timeout: in pieces that shrink until they succeed.
import { isStatementTimeout, isRefusedValue } from '../connections/database-errors.ts';
import type { Queryable } from '../connections/pool.ts';
import { sql } from '../connections/statements.ts';

// A piece that takes less than this part of the timeout is followed by one of twice its size.
const QUICK = 1 / 4;

/** The size of the work of one statement: rows, pages, or ms. It is kept between calls. */
export class Stride {
  readonly #most: number;
  #size: number;
  #tooLongMs = Number.POSITIVE_INFINITY;

  /** @param most initial and largest size */
  constructor(most: number) {
    this.#most = most;
    this.#size = most;
  }

  /**
   * Does a piece of the work; on a timeout, a smaller piece.
   * @param work statements of a whole transaction, for a piece of this size at most
   * @throws what `work` throws; a timeout only for the smallest piece
   */
  async step<T>(work: (size: number) => Promise<T>): Promise<T> {
    for (;;) {
      const size = this.#size;
      const began = performance.now();
      try {
        const result = await work(size);
        if (performance.now() - began < this.#tooLongMs * QUICK) this.#size = Math.min(this.#most, size * 2);
        return result;
      } catch (error) {
        if (!isStatementTimeout(error) || size === 1) throw error;
        this.#tooLongMs = performance.now() - began;
        this.#size = Math.max(1, Math.floor(size / 4));
      }
    }
  }
}

/** Runs a statement for one piece; its last parameter limits the rows. @returns true when there may be more */
export function limitedStep(
  db: Queryable,
  stride: Stride,
  statement: string,
  values: readonly unknown[] = [],
): Promise<boolean> {
  return stride.step(async (size) => (await db.query(statement, [...values, size])).rowCount === size);
}

export interface Pages {
  from: string;
  to: string;
}

/**
 * Goes through a table by its pages, in storage order, for conditions without an index. A row that is updated meanwhile
 * may move and be missed.
 * @param look processes some pages, by a statement with `ctid >= $n::tid and ctid < $n::tid`
 * @param mayGoOn called after each piece with the result of `look`; false stops
 * @returns whether the end was reached
 */
export async function throughPages<T>(
  db: Queryable,
  table: string,
  stride: Stride,
  look: (pages: Pages) => Promise<T>,
  mayGoOn: (found: T) => boolean = () => true,
): Promise<boolean> {
  const rows = await sql(db).rows<{ pages: number }>`
    select ceil(pg_relation_size(${table}::regclass) / current_setting('block_size')::float8)::float8 as pages`;
  const end = rows[0]?.pages ?? 0;
  for (let page = 0; page < end; ) {
    const [found, next] = await stride.step(async (size) => {
      const to = Math.min(end, page + size);
      return [await look({ from: `(${page},0)`, to: `(${to},0)` }), to] as const;
    });
    page = next;
    if (!mayGoOn(found)) return page >= end;
  }
  return true;
}

/**
 * Deletes the rows of some pages ($1 and $2) that a condition finds, and returns them. Rows that another transaction
 * has locked stay for another time: pages have their rows in no order of keys, so waiting for one with others locked
 * may be a deadlock.
 */
export const takeUnlocked = (table: string, condition: string): string => `
delete from ${table} where ctid = any(array(
  select ctid from ${table} where ctid >= $1::tid and ctid < $2::tid and ${condition} for update skip locked))
returning *`;

const SWEEP = new Stride(20_000);

/** Deletes the rows of a table that a condition finds; its parameters begin at $3. @returns how many */
export async function sweep(db: Queryable, table: string, condition: string, values: unknown[]): Promise<number> {
  const statement = `delete from ${table} where ctid >= $1::tid and ctid < $2::tid and (${condition})`;
  let removed = 0;
  await throughPages(db, table, SWEEP, async ({ from, to }) => {
    const { rowCount } = await db.query(statement, [from, to, ...values]);
    removed += rowCount ?? 0;
  });
  return removed;
}

/** Deletes the rows of a table that ended before the days that are kept. @param days 0 keeps them for ever */
export async function forgetEnded(db: Queryable, table: string, days: number): Promise<void> {
  if (days === 0) return;
  await sweep(db, table, `finished_at < date_bin('1 day', now(), 'epoch') - make_interval(days => $3)`, [days]);
}

/**
 * Runs a statement for records; when PostgreSQL refuses a value, for each half of them, until only the record with that
 * value is left.
 * @param refused handles that record
 * @throws any other error of the statement, and what `refused` throws; what was done before stays done
 */
export async function bisectRefused<T>(
  records: T[],
  run: (some: T[]) => Promise<void>,
  refused: (record: T, error: unknown) => Promise<void>,
): Promise<void> {
  try {
    await run(records);
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    const [only] = records;
    if (records.length === 1 && only !== undefined) return refused(only, error);
    const half = Math.ceil(records.length / 2);
    for (const some of [records.slice(0, half), records.slice(half)]) await bisectRefused(some, run, refused);
  }
}
