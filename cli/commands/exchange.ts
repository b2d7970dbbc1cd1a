// hookyard export and import: destinations and routes on their way to another organization.
import { appendFile, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Argument, type Command, Option } from 'commander';
import type { Client } from '../../client/index.ts';
import { type Context, contextOf } from '../context.ts';
import { EXIT, usage } from '../errors.ts';
import { parseJson, readInput } from '../input.ts';
import { nodeFetch } from '../node-fetch.ts';

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
        const { ids, includeSensitive } = options;
        if (what === 'routes' && includeSensitive)
          throw usage('--include-sensitive is for destinations: routes hold no credentials');
        const save = async (write: Write) => {
          const { fetching, lines } = savedBy(write);
          const { client } = contextOf(command, fetching);
          if (what === 'routes') await client.exportRoutes({ ids });
          else await client.exportDestinations({ ids, includeSensitive });
          return lines();
        };
        const { output: file } = options;
        if (file === undefined) return void (await save((bytes) => print(bytes)));
        const count = (await written(file, save)) - LINES_AROUND;
        const { output } = contextOf(command);
        output.result({ file, count }, () => output.line(`${count} ${what} are in ${file}`));
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

type Write = (bytes: Uint8Array, isFirst: boolean) => Promise<unknown>;

/** A file has a line for each record, and one before and after them (EXP-24). */
const LINES_AROUND = 2;

/** Makes the client hand on the answer as it comes, not as a whole. */
function savedBy(write: Write): { fetching: typeof fetch; lines: () => number } {
  let lines = 0;
  const fetching: typeof fetch = async (...request) => {
    const answer = await nodeFetch(...request);
    if (!answer.ok || answer.body === null) return answer;
    // The client asks again when a connection breaks.
    lines = 0;
    let isFirst = true;
    const target = new Writable({
      write(bytes: Buffer, _encoding, done) {
        for (const byte of bytes) if (byte === 0x0a) lines += 1;
        const first = isFirst;
        isFirst = false;
        write(bytes, first).then(() => done(), done);
      },
    });
    await pipeline(answer.body, target);
    return Response.json({});
  };
  return { fetching, lines: () => lines };
}

/** Waits until what reads has taken it. */
const print = (bytes: Uint8Array) => new Promise<void>((taken) => process.stdout.write(bytes, () => taken()));

/** Writes beside a file, which is replaced when everything has come: what breaks off leaves the file of before. */
async function written(file: string, save: (write: Write) => Promise<number>): Promise<number> {
  const known = await stat(file).catch(() => null);
  // A device or a pipe can only be written to.
  if (known !== null && !known.isFile()) return save((bytes) => appendFile(file, bytes));
  const target = known === null ? file : await realpath(file);
  const beside = `${target}.${process.pid}.part`;
  const opened = await open(beside, 'wx', 0o600).catch((error: Error) => {
    throw usage(`${file} cannot be written: ${error.message}`);
  });
  try {
    let at = 0;
    const count = await save(async (bytes, isFirst) => {
      if (isFirst) {
        at = 0;
        await opened.truncate();
      }
      await opened.write(bytes, 0, bytes.length, at);
      at += bytes.length;
    });
    await opened.sync();
    await opened.close();
    await rename(beside, target);
    return count;
  } catch (error) {
    await opened.close().catch(() => undefined);
    await rm(beside, { force: true });
    throw error;
  }
}
