// Daily partitions of events, payloads, deliveries and attempts. A partition's bounds are ids: the smallest id of its
// day and of the next one, so that an id alone says where its row is (RFC 9562: UUIDv7 starts with its time).
//
// Webhooks are stored in these tables all the time, and a statement that waits for an exclusive lock also blocks every
// writer behind it. So partitions are created without such a lock, and dropped with a very short lock timeout.
// Functions of the owner of the tables do it (make_partition, drop_partition), because the role of the services cannot
// change the schema.
import { isLockTimeout } from '../connections/database-errors.ts';
import { databaseTime } from './rules.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { boundTime } from '../../core/text/ids.ts';
import { raw, sql } from '../connections/statements.ts';

export const DAY_MS = 86_400_000;
const DAYS_AHEAD = 3;
const DAYS_BEHIND = 1;
// The longest time that dropping a partition may delay a webhook, ms, and how many times in a row.
const DROP_LOCK_TIMEOUT_MS = 100;
// Dropping takes as long as the file system needs, so it is exempt from the statement timeout (db/sql/ranges.ts).
const DROP_TIMEOUT_MS = 10_000;
const TRIES = 5;
const PAUSE_MS = 500;

export const TABLES = ['events', 'event_payloads', 'deliveries', 'attempts'] as const;
export type PartitionedTable = (typeof TABLES)[number];

/**
 * Creates the partitions from yesterday (clocks differ) to three days ahead. Safe to run at any time, by anyone.
 * @param nowMs default: both the database clock and this process's clock, by which it creates ids
 */
export async function ensurePartitions(db: Queryable, nowMs?: number): Promise<void> {
  const clocks = nowMs === undefined ? [await databaseTime(db), Date.now()] : [nowMs];
  const days = new Set(clocks.flatMap(daysAround));
  const rows = await sql(db).rows<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = any(${TABLES}::regclass[])`;
  const existing = new Set(rows.map(({ name }) => name));
  for (const table of TABLES) {
    for (const day of days) {
      if (!existing.has(partitionName(table, day))) await sql(db).run`select make_partition(${table}, ${dateOf(day)})`;
    }
  }
}

function daysAround(nowMs: number): number[] {
  const today = Math.floor(nowMs / DAY_MS);
  return Array.from({ length: DAYS_BEHIND + 1 + DAYS_AHEAD }, (_, index) => today - DAYS_BEHIND + index);
}

/** The days of a table's partitions before a day, oldest first, in days since 1970. */
export async function daysBefore(db: Queryable, table: PartitionedTable, day: number): Promise<number[]> {
  const rows = await sql(db).rows<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = ${table}::regclass`;
  return rows
    .map(({ name }) => partitionDay(table, name))
    .filter((its) => its < day)
    .toSorted((a, b) => a - b);
}

export interface PartitionUser {
  pid: number;
  application: string;
  since: Date | null;
}

export interface Dropped {
  dropped: string[];
  /** The first one in use, with its session; later ones were not tried. */
  inUse: { name: string; by: PartitionUser | null } | null;
}

/**
 * Drops the partitions before a day, oldest first, each in its own transaction. A partition in use (by a backup,
 * a report) is left for the next run.
 * @param day days since 1970; partitions of this day and later stay
 */
export async function dropPartitionsBefore(pool: Pool, table: PartitionedTable, day: number): Promise<Dropped> {
  const dropped: string[] = [];
  for (const its of await daysBefore(pool, table, day)) {
    const name = partitionName(table, its);
    if (!(await dropPartition(pool, table, its)))
      return { dropped, inUse: { name, by: await oldestUser(pool, table) } };
    dropped.push(name);
  }
  return { dropped, inUse: null };
}

/** @returns false when it is in use */
async function dropPartition(pool: Pool, table: PartitionedTable, day: number): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    try {
      await inTransaction(pool, async (db) => {
        await sql(db).run`
          set local lock_timeout = ${raw(DROP_LOCK_TIMEOUT_MS)}; set local statement_timeout = ${raw(DROP_TIMEOUT_MS)}`;
        await sql(db).run`select drop_partition(${table}, ${dateOf(day)})`;
      });
      return true;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
    }
    if (tries === TRIES) return false;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** Whose transaction on the table is the oldest; null when it has ended, or its user may not be seen. */
async function oldestUser(db: Queryable, table: PartitionedTable): Promise<PartitionUser | null> {
  return sql(db).find<PartitionUser>`
    select a.pid, a.application_name as application, a.xact_start as since
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.database = (select oid from pg_database where datname = current_database())
      and l.relation = ${table}::regclass
      and a.pid <> pg_backend_pid()
    order by a.xact_start nulls last limit 1`;
}

/** The partition of a day, which is given in days since 1970. */
export function partitionName(table: string, day: number): string {
  return `${table}_${dateOf(day).replaceAll('-', '')}`;
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function partitionDay(table: string, name: string): number {
  const digits = name.slice(table.length + 1);
  const day = Date.parse(`${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6, 8)}`) / DAY_MS;
  return Number.isNaN(day) ? Number.POSITIVE_INFINITY : day;
}

// Statements of the hot path name the partitions of a day, because PostgreSQL makes every partition of a table ready
// before it prunes them: with 90 days, that takes two thirds of the time of a group of one.

export type Tables = Record<PartitionedTable, string>;

interface Statement {
  name: string;
  text: string;
}

const OF_ANY_DAY: Tables = {
  events: 'events',
  event_payloads: 'event_payloads',
  deliveries: 'deliveries',
  attempts: 'attempts',
};

/**
 * A statement that names the partitions of a day if all events and deliveries are of that one, and it is recent. Older
 * days share one statement, so that a connection prepares few.
 * @param textFor the statement, given its tables
 * @returns the statement for events and deliveries, given the first and last id of each; without ids, that of any day
 */
export function statementOfDay(name: string, textFor: (tables: Tables) => string): (...ids: string[]) => Statement {
  const ofAnyDay: Statement = { name, text: textFor(OF_ANY_DAY) };
  let ofDay: Statement & { day: number } = { ...ofAnyDay, day: Number.NaN };
  return (...ids) => {
    const day = dayOf(ids[0] ?? '');
    if (!(day >= dayOf(Date.now()) - 1) || ids.some((id) => dayOf(id) !== day)) return ofAnyDay;
    if (ofDay.day !== day) {
      const tables = Object.fromEntries(
        Object.keys(OF_ANY_DAY).map((table) => [table, partitionName(table, day)]),
      ) as unknown as Tables;
      ofDay = { name: `${name}-${day}`, text: textFor(tables), day };
    }
    return ofDay;
  };
}

/**
 * @returns days since 1970 of an id, or a bound of ids, or of a time in ms; NaN for anything else, which PostgreSQL
 * refuses or does not find
 */
const dayOf = (of: string | number): number =>
  Math.floor(((typeof of === 'string' ? boundTime(of) : of) ?? Number.NaN) / DAY_MS);
