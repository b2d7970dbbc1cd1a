// npm run bench [-- --seconds 20 --rounds 2]: what a delivery costs, beside what Temporal costs by itself, in one run on
// one throw-away stack. Everything (PostgreSQL, Temporal, API, worker, receiver, load) is on this machine.
// npm run bench -- isolation: what a healthy destination notices of bad ones beside it, on such a stack.
// npm run bench -- transforms: what a transform adds, without any of these.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { onEndRequest } from '../core/end-request.ts';
import { type Stack, startStack } from '../local/stack.ts';
import { measureBare } from './bare/measure.ts';
import type { BareResult } from './bare/worker.ts';
import { type HookyardFigures, measureHookyard } from './hookyard.ts';
import { measureIsolation } from './isolation.ts';
import { printReport } from './report.ts';
import { type Receiver, startReceiver } from './support/traffic.ts';
import { measureTransforms } from './transforms.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '20' }, rounds: { type: 'string', default: '2' } },
});
if (positionals[0] === 'transforms') {
  await measureTransforms();
  process.exit(0);
}
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const IN_FLIGHT = 50;
const WARM_UP_SECONDS = 5;

// About 1 KiB, the size of a small GitHub event.
const body = JSON.stringify({ action: 'opened', number: 1, padding: 'x'.repeat(960) });

const parent = join(import.meta.dirname, '..', '.test-data');
mkdirSync(parent, { recursive: true });
const dataDir = mkdtempSync(join(parent, 'bench-'));
let stack: Stack | undefined;
let receiver: Receiver | undefined;
onEndRequest(() => process.exit(130));

try {
  stack = await startStack({
    dataDir,
    postgresPort: 0,
    temporalPort: 0,
    uiPort: null,
    log: (line) => console.log(line),
  });
  receiver = await startReceiver();
  if (positionals[0] === 'isolation') await measureIsolation(stack, receiver, { body, rounds, seconds });
  else await measureCost(stack, receiver);
} finally {
  await receiver?.close();
  await stack?.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(0);

async function measureCost(stack: Stack, receiver: Receiver): Promise<void> {
  const bare: BareResult[] = [];
  const hookyard: HookyardFigures[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    console.log(`round ${round} of ${rounds}: the bare delivery workflow, ${seconds} s`);
    bare.push(
      await measureBare(stack, {
        url: receiver.url,
        body,
        inFlight: IN_FLIGHT,
        warmUpSeconds: WARM_UP_SECONDS,
        seconds,
      }),
    );
    console.log(`round ${round} of ${rounds}: Hookyard saturated, then at half of that, ${seconds} s each`);
    hookyard.push(
      await measureHookyard(stack, receiver, { body, warmUpSeconds: WARM_UP_SECONDS, seconds, lane: 'workflow' }),
    );
  }
  printReport({ cores: cpus().length, seconds, bare, hookyard });
}
