// PostgreSQL of another version than the embedded one, and with other locales: that of the system (Debian: apt-get
// install postgresql).
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { OtherPostgres } from '../../../local/postgres/server.ts';

// Where Debian keeps the programs, by major version.
const SYSTEM_FOLDER = '/usr/lib/postgresql';
const OLDEST = 15;
const HOW_TO_INSTALL = `There is no PostgreSQL below ${SYSTEM_FOLDER}: "apt-get install postgresql" lets this test run`;

/** The PostgreSQL of the stacks: the embedded one, or what the environment names (CONTRIBUTING.md). */
export function chosenPostgres(): { other?: OtherPostgres; settings: Record<string, string> } {
  const { TEST_POSTGRES_BIN: bin, TEST_POSTGRES_LOCALE: locale, TEST_POSTGRES_TIMEZONE: timezone } = process.env;
  return {
    other: { ...(bin && { bin }), ...(locale && { locale: icuLocale(locale) }) },
    // docs/operate/postgresql.md: what those before 17 need.
    settings: { ...(bin && { autovacuum_naptime: '5s' }), ...(timezone && { timezone }) },
  };
}

/** Arguments of initdb: text is compared as people of a country do. @param name `de-DE`, for example */
export const icuLocale = (name: string): string[] => ['--locale-provider=icu', `--icu-locale=${name}`, '--locale=C'];

/**
 * The oldest PostgreSQL of this system that Hookyard runs on. Leaves a test out when there is none, and says so.
 * @throws Error instead with `REQUIRE_POSTGRES` (.ci/run)
 */
export function systemPostgres(context: Mocha.Context): { version: number; bin: string } {
  const found = systemVersions()[0];
  if (found !== undefined) return { version: found, bin: join(SYSTEM_FOLDER, String(found), 'bin') };
  if (process.env.REQUIRE_POSTGRES) throw new Error(HOW_TO_INSTALL);
  console.log(`    ${HOW_TO_INSTALL}`);
  context.skip();
}

function systemVersions(): number[] {
  const names = existsSync(SYSTEM_FOLDER) ? readdirSync(SYSTEM_FOLDER) : [];
  const versions = names.filter((name) => existsSync(join(SYSTEM_FOLDER, name, 'bin', 'initdb'))).map(Number);
  return versions.filter((version) => version >= OLDEST).toSorted((a, b) => a - b);
}
