// hookyard export and import: destinations and routes on their way to another organization.
import { appendFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Argument, type Command, Option } from 'commander';
import { contextOf } from '../context.ts';
import { EXIT, usage } from '../errors.ts';
import { parseJson, readInput } from '../input.ts';
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
const EXPORT_ADVICE = 'give a file that hookyard export wrote';

const kind = () => new Argument('<kind>').choices(['destinations', 'routes']);

export function addExchange(program: Command): void {
  program
    .command('export')
    .description('write destinations or routes as JSON, to stdout or a file')
    .addArgument(kind())
    .option('--ids <ids>', 'only these, separated by commas')
    .option('--include-sensitive', 'destinations with their credentials')
    .option('-o, --output <file>', 'readable by its owner only')
    .action(exportRecords);
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
    .action(importRecords);
}

async function exportRecords(what: Kind, { output: file, ...filters }: ExportOptions, command: Command): Promise<void> {
  if (what === 'routes' && filters.includeSensitive)
    throw usage('--include-sensitive is for destinations: routes hold no credentials');
  const { client, output } = contextOf(command);
  const answer = (await callOperation(client, OPERATIONS[what].export, filters)) as Envelope;
  const { [what]: records = [], ...head } = answer;
  // A line for each record, as the API writes it.
  const lines = records.map((record) => JSON.stringify(record)).join(',\n');
  const text = `${JSON.stringify(head).slice(0, -1)},"${what}":[\n${lines}\n]}`;
  if (file === undefined) return output.line(text);
  save(file, `${text}\n`);
  const count = records.length;
  output.result({ file, count }, () => output.line(`${count} ${what} are in ${file}`));
}

/** Writes beside a file, which is replaced when everything has come: what breaks off leaves the file of before. */
function save(file: string, text: string): void {
  try {
    const known = statSync(file, { throwIfNoEntry: false });
    // A device or a pipe can only be written to.
    if (known && !known.isFile()) {
      appendFileSync(file, text);
      return;
    }
    const target = known ? realpathSync(file) : file;
    const beside = `${target}.${process.pid}.part`;
    try {
      writeFileSync(beside, text, { mode: 0o600, flag: 'wx', flush: true });
      renameSync(beside, target);
    } catch (error) {
      // It may hold credentials.
      rmSync(beside, { force: true });
      throw error;
    }
  } catch (error) {
    throw usage(`${file} cannot be written: ${(error as Error).message}`);
  }
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
    throw usage(`${file} holds no ${what}: it must be a file that hookyard export ${what} wrote`);
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
