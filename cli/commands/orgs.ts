// hookyard orgs: organizations are made on the database itself, because a key belongs to one organization and can make no other.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { contextOf, dataFolder } from '../context.ts';
import { CliError, EXIT } from '../errors.ts';

export function addOrganizations(program: Command): void {
  program
    .command('orgs')
    .description('organizations of the service; works on its database')
    .command('create <name>')
    .description('create an organization and its first key, which is printed once')
    .requiredOption('--slug <slug>', 'part of the addresses of its sources; lowercase letters, digits, single hyphens')
    .addOption(new Option('--plan <plan>').choices(['free', 'pro', 'business']).default('business'))
    .addHelpText(
      'after',
      `
The API cannot create organizations, because a key belongs to one. This command works on the service's database:
DATABASE_URL, or the database that npm start runs on this machine (in HOOKYARD_DATA_DIR, else ./data).`,
    )
    .action(async (name: string, { slug, plan }: { slug: string; plan: string }, command: Command) => {
      const { output } = contextOf(command);
      const created = await create({ name, slug, plan });
      output.result(created, () => {
        output.line(created.token);
        output.note(
          `${name} was created (${created.organization.id}, plan ${plan}); this is its first key, not shown again`,
        );
      });
    });
}

async function create(organization: { name: string; slug: string; plan: string }) {
  const url = process.env.DATABASE_URL || localDatabase();
  // Loaded here, so that the other commands start without the database driver.
  const [{ createPool }, { createOrganization }] = await Promise.all([
    import('../../db/pool.ts'),
    import('../../db/prepare.ts'),
  ]);
  const pool = createPool(url, { max: 1, statementTimeoutMs: 10_000, onError: () => {} });
  try {
    return await createOrganization(pool, organization);
  } catch (error) {
    throw explained(error);
  } finally {
    await pool.end();
  }
}

function explained(error: unknown): CliError {
  const { code, message } = error as { code?: string; message: string };
  if (code === '23505')
    return new CliError(EXIT.refused, 'There is an organization with this slug already; choose another --slug');
  if (code === '23514' || error instanceof RangeError) return new CliError(EXIT.refused, message);
  if (code === '42P01')
    return new CliError(EXIT.unavailable, 'The database has no tables yet; start the service once, it makes them');
  return new CliError(
    EXIT.unavailable,
    `The database cannot be used (${code ?? message}); is DATABASE_URL right, does PostgreSQL run?`,
  );
}

/** The database that npm start runs; PostgreSQL writes its port into the fourth line of postmaster.pid. */
function localDatabase(): string {
  const folder = dataFolder();
  try {
    const port = readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[3];
    const password = readFileSync(join(folder, 'postgres-password'), 'utf8').trim();
    return `postgres://hookyard:${password}@127.0.0.1:${port}/hookyard`;
  } catch {
    throw new CliError(
      EXIT.unavailable,
      `There is no running database in ${folder}; run npm start, or set DATABASE_URL (or HOOKYARD_DATA_DIR) to that of the service`,
    );
  }
}
