// The schema (db/schema/, one SQL file per subject) and the migrations that have changed it since 0.1.0 (db/migrations/, numbered SQL
// files, never edited after a release).
import { readdirSync, readFileSync } from 'node:fs';

export interface Migration {
  name: string;
  /** What it runs. */
  sql: string;
}

/** The first migration: everything in db/schema/. A new database gets no other, because the files show the result of all. */
export const SCHEMA = 'schema';

/** All migrations, in their order. */
export const migrations: readonly Migration[] = [
  {
    name: SCHEMA,
    sql: read('../schema/')
      .map(({ sql }) => sql)
      .join('\n'),
  },
  ...read('../migrations/'),
];

function read(folder: string): Migration[] {
  const url = new URL(folder, import.meta.url);
  return readdirSync(url)
    .filter((file) => file.endsWith('.sql'))
    .toSorted()
    .map((file) => ({ name: file.replace('.sql', ''), sql: readFileSync(new URL(file, url), 'utf8') }));
}
