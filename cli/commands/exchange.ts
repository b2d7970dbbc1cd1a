// hookyard export and import: destinations and routes on their way to another organization, or from another product.
import { Argument, type Command, Option } from 'commander';
import { type Client, HookyardError } from '../../client/index.ts';
import { plural } from '../../core/text/words.ts';
import { contextOf } from '../context.ts';
import { EXIT, usage } from '../errors.ts';
import { parseJson, readInput, replaceFile } from '../input.ts';
import { callOperation } from '../operations.ts';
import type { Output } from '../output.ts';
import { type Converted, convert, PRODUCTS } from '../import-from.ts';

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
  from?: string;
  source?: string;
  eventType: string;
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
    .description('Export destinations or routes as JSON, to stdout or a file')
    .addArgument(kind())
    .option('--ids <ids>', 'Comma-separated IDs to export (default: all)')
    .option('--include-sensitive', "Include the destinations' credentials")
    .option('-o, --output <file>', 'Output file, readable only by its owner')
    .action(exportRecords);
  program
    .command('import')
    .description('Import a file written by hookyard export, or a list from another product')
    // With --from there is only the file.
    .addArgument(kind().argParser((given) => given))
    .argument('[file]', 'File to import, or - for stdin')
    .addOption(
      new Option('--on-conflict <action>', 'Action for records that already exist')
        .choices(['skip', 'rename', 'overwrite'])
        .makeOptionMandatory(),
    )
    .option('--dry-run', 'Check the file without importing it; with --from, print the converted records')
    .addOption(new Option('--from <product>', 'Import a list from another product, with its sources').choices(PRODUCTS))
    .option('--source <slug>', 'With --from: source for entries that have none (default: the name of the product)')
    .option('--event-type <field>', 'With --from: field that contains the event type', 'payload.type')
    .action((first: string, second: string | undefined, options: ImportOptions, command: Command) => {
      if (options.from !== undefined) return importFrom(options.from, first, options, command);
      if (!(first in OPERATIONS) || second === undefined) throw usage('Specify destinations or routes, and a file');
      return importRecords(first as Kind, second, options, command);
    });
}

async function exportRecords(what: Kind, { output: file, ...filters }: ExportOptions, command: Command): Promise<void> {
  if (what === 'routes' && filters.includeSensitive)
    throw usage('--include-sensitive is only for destinations; routes have no credentials');
  const { client, output } = contextOf(command);
  const answer = (await callOperation(client, OPERATIONS[what].export, filters)) as Envelope;
  const { [what]: records = [], ...head } = answer;
  // A line for each record, as the API writes it.
  const lines = records.map((record) => JSON.stringify(record)).join(',\n');
  const text = `${JSON.stringify(head).slice(0, -1)},"${what}":[\n${lines}\n]}`;
  if (file === undefined) return output.line(text);
  replaceFile(file, `${text}\n`);
  const count = records.length;
  output.result({ file, count }, () => output.line(`Exported ${plural(count, what.slice(0, -1))} to ${file}`));
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
    throw usage(`${file} contains no ${what}; pass a file written by hookyard export ${what}`);
  const result = await importEnvelope(client, what, envelope, options);
  output.result(result, () => output.line(told(result, options)));
  noteProblems(output, result);
}

async function importFrom(product: string, file: string, options: ImportOptions, command: Command): Promise<void> {
  const { client, output } = contextOf(command);
  const { source, eventType, onConflict } = options;
  if (onConflict === 'rename')
    throw usage(
      '--on-conflict rename cannot be used with --from, because the routes refer to the slugs of their destinations',
    );
  const list = parseJson(readInput(file), file, `pass a list from the ${product} API`);
  let made: Converted;
  try {
    made = convert(product, list, { source: source ?? product, eventType });
  } catch (error) {
    throw usage(`${file} is not a list from ${product}: ${(error as Error).message}`);
  }
  const { left, ...records } = made;
  const counts = [
    plural(made.sources.length, 'source'),
    plural(made.destinations.length, 'destination'),
    plural(made.routes.length, 'route'),
  ].join(', ');
  if (options.dryRun) {
    output.result(made, () => output.line(JSON.stringify(records, null, 2)));
    output.note(counts);
  } else {
    for (const body of made.sources) await createSource(client, body);
    const destinations = await importEnvelope(client, 'destinations', { destinations: made.destinations }, options);
    const routes = await importEnvelope(client, 'routes', { routes: made.routes }, options);
    output.result({ destinations, routes, left }, () =>
      output.line(`destinations: ${told(destinations, options)}\nroutes: ${told(routes, options)}`),
    );
    noteProblems(output, destinations);
    noteProblems(output, routes);
  }
  for (const each of left) output.note(`Not imported: ${each}`);
}

/** A source that is there stays as it is. */
async function createSource(client: Client, body: object): Promise<void> {
  try {
    await callOperation(client, 'createSource', { body });
  } catch (error) {
    if (!(error instanceof HookyardError && error.status === 409)) throw error;
  }
}

async function importEnvelope(client: Client, what: Kind, envelope: object, options: ImportOptions) {
  const body = { ...envelope, conflictStrategy: options.onConflict, validateOnly: options.dryRun === true };
  return (await callOperation(client, OPERATIONS[what].import, { body })) as ImportResult;
}

function failures({ errors = [], summary }: ImportResult): number {
  return summary?.failed ?? errors.length;
}

function told(result: ImportResult, { dryRun }: ImportOptions): string {
  const { imported, skipped, overwritten } = result.summary ?? result;
  if (dryRun)
    return `would import ${imported}, skip ${skipped}, overwrite ${overwritten}; ${failures(result)} would fail`;
  return `imported ${imported}, skipped ${skipped}, overwritten ${overwritten}, failed ${failures(result)}`;
}

function noteProblems(output: Output, result: ImportResult): void {
  for (const warning of result.warnings ?? []) output.note(`warning: ${warning}`);
  for (const error of result.errors ?? []) output.note(`error: ${error}`);
  if (failures(result) > 0) process.exitCode = EXIT.refused;
}
