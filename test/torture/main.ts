// npm run torture [-- --minutes 60 --events 10000 --faults 200 --seed 1 --lane both --rate 10 --workers 2]: kills,
// freezes and cuts anything at any moment, and shows that every acknowledged event is delivered or visibly failed. With
// --hours 2 it does so for so long, at a low rate, behind and beside what large installations have (--with).
// docs/internals/torture.md says what is done.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onEndRequest } from '../../core/process/end-request.ts';
import { oneLine } from '../../local/errors.ts';
import { stopLeftovers } from '../../local/lock.ts';
import { readOptions, type TortureOptions } from './options.ts';
import { reportLines } from './report.ts';
import { whatIsMissing } from './surroundings.ts';
import { torture } from './torture.ts';

const ENDED_BY_REQUEST = 130;

const options = readOptionsOrExit();
const parent = join(import.meta.dirname, '..', '..', '.test-data');
mkdirSync(parent, { recursive: true });
const dataDir = mkdtempSync(join(parent, 'torture-'));
const ending = new AbortController();
onEndRequest((reason, count) => {
  if (count > 1) return forceEnd();
  console.log(`ending (${reason}); once more to force it`);
  ending.abort();
});

process.exit(await run());

async function run(): Promise<number> {
  let keep = false;
  try {
    const { seed, hours, faults, events, lanes } = options;
    const length = hours === null ? `${faults} faults, ${events} events` : `${hours} hours`;
    console.log(`seed ${seed}: ${length}, ${lanes.join(' and ')}`);
    const began = performance.now();
    const log = (line: string) => console.log(`${clock(performance.now() - began)}  ${line}`);
    const outcome = await torture(options, dataDir, ending.signal, log);
    keep = outcome.problems.length > 0;
    for (const line of reportLines(outcome)) console.log(line);
    return keep ? 1 : 0;
  } catch (error) {
    keep = !ending.signal.aborted;
    if (keep) console.error(error);
    return keep ? 1 : ENDED_BY_REQUEST;
  } finally {
    if (keep) console.log(`The logs of all processes, and the databases, are in ${dataDir} until the next npm test.`);
    else rmSync(dataDir, { recursive: true, force: true });
  }
}

function readOptionsOrExit(): TortureOptions {
  try {
    const read = readOptions(process.argv.slice(2));
    const [missing] = whatIsMissing(read.extras);
    if (missing !== undefined) throw new Error(`${missing}; or leave it out of --with`);
    return read;
  } catch (error) {
    console.error(oneLine(error));
    process.exit(1);
  }
}

/** Kills every process of this run, frozen or not. */
function forceEnd(): void {
  console.log('ending at once');
  const end = () => process.exit(ENDED_BY_REQUEST);
  const standbys = readdirSync(dataDir).filter((name) => name.startsWith('standby-'));
  const folders = [dataDir, ...standbys.map((name) => join(dataDir, name))];
  Promise.all(folders.map((folder) => stopLeftovers(folder, ['temporal', 'postgres'], 0, () => {}))).then(end, end);
}

/** Minutes and seconds; of a long run there are many minutes. */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;
}
