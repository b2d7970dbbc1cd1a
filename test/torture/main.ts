// npm run torture [-- --minutes 60 --events 10000 --faults 200 --seed 1 --lane both --rate 10 --workers 2]: kills,
// freezes and cuts anything at any moment, and shows that every acknowledged event is delivered or visibly failed.
// docs/internals/torture.md says what is done.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onEndRequest } from '../../core/process/end-request.ts';
import { oneLine } from '../../local/errors.ts';
import { stopLeftovers } from '../../local/lock.ts';
import { readOptions, type TortureOptions } from './options.ts';
import { reportLines } from './report.ts';
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
    const { seed, faults, events, lanes } = options;
    console.log(`seed ${seed}: ${faults} faults, ${events} events, ${lanes.join(' and ')}`);
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
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(oneLine(error));
    process.exit(1);
  }
}

/** Kills every process of this run, frozen or not. */
function forceEnd(): void {
  console.log('ending at once');
  const end = () => process.exit(ENDED_BY_REQUEST);
  stopLeftovers(dataDir, ['temporal', 'postgres'], 0, () => {}).then(end, end);
}

/** Minutes and seconds. */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;
}
