// hookyard export and import: destinations and routes on their way to another organization.
import { Argument, type Command, Option } from 'commander';
import { contextOf } from '../context.ts';
import { EXIT, usage } from '../errors.ts';
import { parseJson, readInput, replaceFile } from '../input.ts';
import { callOperation } from '../operations.ts';

type Kind = 'destinations' | 'routes';
type Envelope = Record<string, unknown> & Partial<Record<Kind, unknown[]>>;
interface ExportOptions {
  ids?: string;
  includeSensitive?: boolean;
  output?: string;
}
interface ImportOptions {
  onConflict: 'skip' | 'rename' | 'overwrite';
  dryRun?: boolean;
}

const OPERATIONS = {
  destinations: { export: 'exportDestinations', import: 'importDestinations' },
  routes: { export: 'exportRoutes', import: 'importRoutes' },
} as const;
const EXPORT_ADVICE = 'pass a file written by hookyard export';

const kind = () => new Argument('<kind>').choices(['destinations', 'routes']);

export function addExchange(program: Command): void {
  program
    .command('export')
    .description('write destinations or routes as JSON, to stdout or a file')
    .addArgument(kind())
    .option('--ids <ids>', 'IDs to export, comma-separated')
    .option('--include-sensitive', 'include the credentials of destinations')
    .option('-o, --output <file>', 'file to write, readable only by its owner')
    .action(exportRecords);
  program
    .command('import')
    .description('import a file written by hookyard export')
    .addArgument(kind())
    .argument('<file>', 'file to import, or - for stdin')
    .addOption(
      new Option('--on-conflict <what>', 'how to handle records that already exist')
        .choices(['skip', 'rename', 'overwrite'])
        .makeOptionMandatory(),
    )
    .option('--dry-run', 'check the file, change nothing')
    .action(importRecords);
}

async function exportRecords(what: Kind, { output: file, ...filters }: ExportOptions, command: Command): Promise<void> {
  if (what === 'routes' && filters.includeSensitive)
    throw usage('--include-sensitive is for destinations: routes contain no credentials');
  const { client, output } = contextOf(command);
  const answer = (await callOperation(client, OPERATIONS[what].export, filters)) as Envelope;
  const { [what]: records = [], ...head } = answer;
  // A line for each record, as the API writes it.
  const lines = records.map((record) => JSON.stringify(record)).join(',\n');
  const text = `${JSON.stringify(head).slice(0, -1)},"${what}":[\n${lines}\n]}`;
  if (file === undefined) return output.line(text);
  replaceFile(file, `${text}\n`);
  const count = records.length;
  output.result({ file, count }, () => output.line(`exported ${count} ${what} to ${file}`));
}

interface Summary {
  imported: number;
  skipped: number;
  overwritten: number;
  failed?: number;
}
/** Of routes; that of destinations has its numbers in `summary`. */
interface ImportResult extends Summary {
  summary?: Summary;
  errors?: string[];
  warnings?: string[];
}

async function importRecords(what: Kind, file: string, options: ImportOptions, command: Command): Promise<void> {
  const { client, output } = contextOf(command);
  const envelope = parseJson(readInput(file), file, EXPORT_ADVICE) as Envelope | null;
  if (!Array.isArray(envelope?.[what]))
    throw usage(`${file} contains no ${what}: it must be a file written by hookyard export ${what}`);
  const body = { ...envelope, conflictStrategy: options.onConflict, validateOnly: options.dryRun === true };
  const result = (await callOperation(client, OPERATIONS[what].import, { body })) as ImportResult;
  const { errors = [], warnings = [], summary = result } = result;
  const { imported, skipped, overwritten, failed = errors.length } = summary;
  output.result(result, () =>
    output.line(`imported ${imported}, skipped ${skipped}, overwritten ${overwritten}, failed ${failed}`),
  );
  for (const warning of warnings) output.note(`warning: ${warning}`);
  for (const error of errors) output.note(`error: ${error}`);
  if (failed > 0) process.exitCode = EXIT.refused;
}
