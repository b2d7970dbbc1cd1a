// npm run bench [-- <which> --seconds 20 --rounds 2]: runs one bench on a throw-away stack. Everything (PostgreSQL,
// Temporal, API, worker, receiver, load) is on this machine. Which benches there are is said in docs/performance.md.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onEndRequest } from '../core/process/end-request.ts';
import { type Stack, startStack } from '../local/stack.ts';
import { measureBeside } from './beside.ts';
import { measureDeliver } from './deliver.ts';
import { fleetPostgres, measureFleet } from './fleet.ts';
import { measureLists } from './lists.ts';
import { measureNeighbours } from './neighbours/index.ts';
import { measureOrdered } from './ordered.ts';
import { measureRecovery } from './recovery.ts';
import { measureStatements } from './statements.ts';
import { type BenchOptions, readOptions } from './support/options.ts';
import { machineLine } from './support/machine.ts';
import { killProcesses } from './support/processes.ts';
import { describeDisturbance } from './support/undisturbed.ts';
import { type Receiver, startReceiver } from './support/traffic.ts';
import { measureWarehouse } from './warehouse/index.ts';

type Bench = (stack: Stack, receiver: Receiver, options: BenchOptions) => Promise<void>;

const benches: Record<string, Bench> = {
  deliver: measureDeliver,
  ordered: measureOrdered,
  neighbours: measureNeighbours,
  recovery: measureRecovery,
  fleet: measureFleet,
  warehouse: measureWarehouse,
};

// These need PostgreSQL only, or no server at all, and have options of their own.
const withoutStack: Record<string, (args: string[]) => Promise<void>> = {
  lists: measureLists,
  statements: measureStatements,
};
const measureAlone = withoutStack[process.argv[2] ?? ''];
if (measureAlone) {
  console.log(machineLine());
  await measureAlone(process.argv.slice(3));
  console.log(describeDisturbance());
  process.exit(0);
}
const { bench, options } = readOptionsOrExit();
const measure = benches[bench];
// It compares two services, each on a stack of its own.
const isBeside = bench === 'beside';
if (!measure && !isBeside) {
  const names = ['beside', ...[benches, withoutStack].flatMap((each) => Object.keys(each))];
  console.error(`No such bench: ${bench}. Available benches: ${names.join(', ')}`);
  process.exit(1);
}

const parent = join(import.meta.dirname, '..', '.test-data');
mkdirSync(parent, { recursive: true });
const dataDir = mkdtempSync(join(parent, 'bench-'));
const stacks: Stack[] = [];
let receiver: Receiver | undefined;
const ending = new AbortController();
onEndRequest((_reason, count) => {
  if (count > 1) process.exit(130);
  console.log('stopping the servers; interrupt again to leave them running');
  // A stack that is being started ends itself. Running measurements fail, which need not be reported.
  ending.abort();
  killProcesses();
  void stopStacks().finally(leave);
});

try {
  const log = (line: string) => console.log(line);
  log(machineLine());
  const postgresSettings = bench === 'fleet' ? fleetPostgres(options) : {};
  const { signal } = ending;
  const start = async (folder: string) => {
    const ports = { postgresPort: 0, temporalPort: 0, uiPort: null };
    const started = await startStack({ dataDir: join(dataDir, folder), ...ports, postgresSettings, signal, log });
    stacks.push(started);
    return started;
  };
  const stack = await start('');
  receiver = await startReceiver();
  if (isBeside) await measureBeside([stack, await start('beside')], receiver, options);
  else await measure?.(stack, receiver, options);
  log(describeDisturbance());
} catch (error) {
  if (!ending.signal.aborted) {
    console.error(error);
    process.exitCode = 1;
  }
} finally {
  if (!ending.signal.aborted) await receiver?.close();
  await stopStacks();
  leave();
}

async function stopStacks(): Promise<void> {
  await Promise.all(stacks.map((each) => each.stop()));
}

function leave(): void {
  rmSync(dataDir, { recursive: true, force: true });
  process.exit(ending.signal.aborted ? 130 : (process.exitCode ?? 0));
}

function readOptionsOrExit(): ReturnType<typeof readOptions> {
  try {
    return readOptions();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
