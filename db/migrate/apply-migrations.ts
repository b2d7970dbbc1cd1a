// Applies migrations, each in a transaction of its own.
import type pg from 'pg';
import type { Queryable } from '../connections/pool.ts';
import { LOCK_TIMEOUT_MS, untilLocked } from './lock-tries.ts';
import { type Migration, migrations, SCHEMA } from './migration-files.ts';

/**
 * Applies missing migrations, without the lock that concurrent starts need (migrate.ts).
 * @param all by default those of this version; tests name those of another one
 * @returns the names of the migrations that were applied now
 * @throws what a migration throws, of which nothing stays; after three minutes, that it got no lock
 */
export async function applyMigrations(db: pg.Client, all: readonly Migration[] = migrations): Promise<string[]> {
  const missing = await missingMigrations(db, all);
  for (const migration of missing) {
    // The schema shows the result of all migrations.
    const done = migration.name === SCHEMA ? all : [migration];
    await untilLocked(() => apply(db, migration, done));
  }
  return missing.map(({ name }) => name);
}

async function apply(db: pg.Client, { sql }: Migration, done: readonly Migration[]): Promise<void> {
  try {
    await db.query('begin');
    await db.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await db.query(sql);
    await db.query('insert into schema_migrations (name) select unnest($1::text[])', [done.map(({ name }) => name)]);
    await db.query('commit');
  } catch (error) {
    await db.query('rollback').catch(() => {});
    throw error;
  }
}

/** The migrations that the database lacks, in their order; of an empty one only the schema. */
export async function missingMigrations(db: Queryable, all: readonly Migration[] = migrations): Promise<Migration[]> {
  const { rows } = await db.query<{ made: boolean }>(`select to_regclass('schema_migrations') is not null as made`);
  if (rows[0]?.made !== true) return all.filter(({ name }) => name === SCHEMA);
  const applied = await db.query<{ name: string }>('select name from schema_migrations');
  const known = new Set(applied.rows.map(({ name }) => name));
  return all.filter(({ name }) => !known.has(name));
}
