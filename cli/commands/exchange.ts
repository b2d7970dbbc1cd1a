// hookyard export and import: destinations and routes on their way to another organization.
import { writeFileSync } from 'node:fs';
import { Argument, type Command, Option } from 'commander';
import type { Client } from '../../client/index.ts';
import { type Context, contextOf } from '../context.ts';
import { EXIT, usage } from '../errors.ts';
import { parseJson, readInput } from '../input.ts';

type Kind = 'destinations' | 'routes';
interface ImportOptions {
  onConflict: 'skip' | 'rename' | 'overwrite';
  dryRun?: boolean;
}
const EXPORT_ADVICE = 'give a file that hookyard export wrote';

type Envelope = { destinations?: unknown[]; routes?: unknown[] };

const kind = () => new Argument('<kind>').choices(['destinations', 'routes']);

export function addExchange(program: Command): void {
  program
    .command('export')
    .description('write destinations or routes as JSON, to stdout or a file')
    .addArgument(kind())
    .option('--ids <ids>', 'only these, separated by commas')
    .option('--include-sensitive', 'destinations with their credentials')
    .option('-o, --output <file>', 'readable by its owner only')
    .action(
      async (what: Kind, options: { ids?: string; includeSensitive?: boolean; output?: string }, command: Command) => {
        const { client, output } = contextOf(command);
        const { ids, includeSensitive } = options;
        if (what === 'routes' && includeSensitive)
          throw usage('--include-sensitive is for destinations: routes hold no credentials');
        const envelope: Envelope =
          what === 'routes'
            ? await client.exportRoutes({ ids })
            : await client.exportDestinations({ ids, includeSensitive });
        const text = JSON.stringify(envelope, null, 2);
        if (options.output === undefined) return output.line(text);
        write(options.output, `${text}\n`);
        const count = envelope[what]?.length ?? 0;
        output.result({ file: options.output, count }, () => output.line(`${count} ${what} are in ${options.output}`));
      },
    );
  program
    .command('import')
    .description('read a file that export wrote')
    .addArgument(kind())
    .argument('<file>', '- reads stdin')
    .addOption(
      new Option('--on-conflict <what>', 'what is done with those that exist already')
        .choices(['skip', 'rename', 'overwrite'])
        .makeOptionMandatory(),
    )
    .option('--dry-run', 'only check')
    .action(async (what: Kind, file: string, options: ImportOptions, command: Command) => {
      const context = contextOf(command);
      const envelope = parseJson(readInput(file), file, EXPORT_ADVICE) as Envelope | null;
      if (!Array.isArray(envelope?.[what]))
        throw usage(`${file} holds no ${what}: it must be a file that hookyard export ${what} wrote`);
      const body = { ...envelope, conflictStrategy: options.onConflict, validateOnly: options.dryRun === true };
      if (what === 'routes') await importRoutes(context, body as Body<'importRoutes'>);
      else await importDestinations(context, body as Body<'importDestinations'>);
    });
}

type Body<Name extends 'importRoutes' | 'importDestinations'> = Parameters<Client[Name]>[0]['body'];

async function importRoutes(context: Context, body: Body<'importRoutes'>): Promise<void> {
  const result = await context.client.importRoutes({ body });
  report(context, result, { ...result, failed: result.errors.length });
}

async function importDestinations(context: Context, body: Body<'importDestinations'>): Promise<void> {
  const result = await context.client.importDestinations({ body });
  report(context, result, { ...result.summary, errors: result.errors, warnings: result.warnings });
}

interface Summary {
  imported: number;
  skipped: number;
  overwritten: number;
  failed: number;
  errors?: string[];
  warnings?: string[];
}

function report({ output }: Context, result: object, summary: Summary): void {
  const { imported, skipped, overwritten, failed, errors = [], warnings = [] } = summary;
  output.result(result, () =>
    output.line(`imported ${imported}, skipped ${skipped}, overwritten ${overwritten}, failed ${failed}`),
  );
  for (const warning of warnings) output.note(`warning: ${warning}`);
  for (const error of errors) output.note(`error: ${error}`);
  if (failed > 0) process.exitCode = EXIT.refused;
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch (error) {
    throw usage(`${file} cannot be written: ${(error as Error).message}`);
  }
}
