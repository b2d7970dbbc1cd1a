// hookyard prune-visibility: drops the indexes of Temporal's visibility table that Hookyard does not use.
import type { Command } from 'commander';
import { contextOf } from '../context.ts';
import { CliError, EXIT } from '../errors.ts';

interface Options {
  database: string;
  dryRun?: boolean;
}

export function addPruneVisibility(program: Command): void {
  program
    .command('prune-visibility')
    .description('drop the indexes of your own Temporal that Hookyard does not use')
    .requiredOption(
      '--database <url>',
      'the visibility database of Temporal, postgres://..., as the owner of its table; PGPASSWORD may hold the password',
    )
    .option('--dry-run', 'only list them')
    .addHelpText(
      'after',
      `
For a Temporal on PostgreSQL that only Hookyard uses: other programs may search by what these indexes are for. TEMPORAL_ADDRESS
(with TEMPORAL_API_KEY, TEMPORAL_TLS_*) is asked which columns hold search attributes; their indexes stay. Run it again after an
update of Temporal's schema. The embedded Temporal of npm start needs it not.`,
    )
    .action(async ({ database, dryRun = false }: Options, command: Command) => {
      const { output } = contextOf(command);
      const { withSecretFiles } = await import('../../core/config/secret-files.ts');
      const { pruneVisibility } = await import('../../local/temporal/schema.ts');
      const indexes = await pruneVisibility(database, withSecretFiles(process.env), dryRun).catch((error: Error) => {
        throw new CliError(EXIT.unavailable, error.message);
      });
      output.result({ indexes, dropped: !dryRun }, () => {
        for (const name of indexes) output.line(name);
        output.note(
          `${indexes.length} indexes ${dryRun ? 'would be' : 'were'} dropped; those of searches by Hookyard stay`,
        );
      });
    });
}
