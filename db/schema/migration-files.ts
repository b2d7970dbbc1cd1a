// The migrations: numbered SQL files, applied in this order, each in a transaction of its own and never edited after a release.
import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../migrations/', import.meta.url);

/** Their names, in their order. */
export const migrationNames: readonly string[] = readdirSync(folder)
  .map((name) => /^(\d{4}-[a-z0-9-]+)\.sql$/.exec(name)?.[1])
  .filter((name) => name !== undefined)
  .toSorted();

/** What a migration runs. */
export function migrationText(name: string): string {
  return readFileSync(new URL(`${name}.sql`, folder), 'utf8');
}
