// Lets housekeeping process tables of any size within the statement timeout: in pieces that shrink until they succeed.
import { isStatementTimeout, isRefusedValue } from '../connections/database-errors.ts';
import type { Queryable } from '../connections/pool.ts';
import { type Fragment, fragment, raw, sql } from '../connections/statements.ts';

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

/**
 * Deletes one step of the rows of a table. Those that others are using at this moment are skipped.
 * @param due the condition on them, and their order if there is one
 * @returns true when there may be more
 */
export function forgetStep(
  db: Queryable,
  stride: Stride,
  { table, key }: { table: string; key: string },
  due: Fragment,
): Promise<boolean> {
  return stride.step(async (size) => {
    const removed = await sql(db).run`
      delete from ${raw(table)} where (${raw(key)}) in (
        select ${raw(key)} from ${raw(table)} where ${due} limit ${size} for update skip locked)`;
    return removed === size;
  });
}

/**
 * Goes through a table by its pages, in storage order, for conditions without an index. A row that is updated meanwhile
 * may move and be missed.
 * @param look processes some pages: those of a condition
 * @param mayGoOn called after each piece with the result of `look`; false stops
 * @returns whether the end was reached
 */
export async function throughPages<T>(
  db: Queryable,
  table: string,
  stride: Stride,
  look: (pages: Fragment) => Promise<T>,
  mayGoOn: (found: T) => boolean = () => true,
): Promise<boolean> {
  const end = await sql(db).value<number>`
    select ceil(pg_relation_size(${table}::regclass) / current_setting('block_size')::float8)::float8`;
  for (let page = 0; page < end; ) {
    const [found, next] = await stride.step(async (size) => {
      const to = Math.min(end, page + size);
      return [await look(fragment`ctid >= ${`(${page},0)`}::tid and ctid < ${`(${to},0)`}::tid`), to] as const;
    });
    page = next;
    if (!mayGoOn(found)) return page >= end;
  }
  return true;
}

/**
 * Deletes the rows of some pages that a condition finds, and returns them. Rows that another transaction has locked
 * stay for another time: pages have their rows in no order of keys, so waiting for one with others locked may be a
 * deadlock.
 */
export const takeUnlocked = (table: string, pages: Fragment, condition: Fragment): Fragment => fragment`
  delete from ${raw(table)} where ctid = any(array(
    select ctid from ${raw(table)} where ${pages} and ${condition} for update skip locked))
  returning *`;

const SWEEP = new Stride(20_000);

/** Deletes the rows of a table that a condition finds. @returns how many */
export async function sweep(db: Queryable, table: string, condition: Fragment): Promise<number> {
  let removed = 0;
  await throughPages(db, table, SWEEP, async (pages) => {
    removed += await sql(db).run`delete from ${raw(table)} where ${pages} and (${condition})`;
  });
  return removed;
}

/** Deletes the records that ended before the days that are kept. @param days 0 keeps them for ever */
export async function forgetEnded(
  db: Queryable,
  table: 'event_replays' | 'warehouse_batches',
  days: number,
): Promise<void> {
  if (days === 0) return;
  const firstKept = fragment`date_bin('1 day', now(), 'epoch') - make_interval(days => ${days})`;
  await sweep(db, table, fragment`finished_at < ${firstKept}`);
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
