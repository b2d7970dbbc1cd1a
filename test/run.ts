// npm test [-- <files or folders> <mocha options>]: starts a throw-away stack on free ports in a folder of its own, runs mocha
// against it, and ends everything again. It runs beside `npm start` and never uses servers named by the environment.
// Without files it runs everything, in two lanes side by side, each on a stack of its own: the tests that kill and restart
// servers mostly wait, and the others must not see their servers vanish.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onEndRequest } from '../core/end-request.ts';
import { oneLine, phase, StartupError } from '../local/errors.ts';
import { stopLeftovers } from '../local/leftovers.ts';
import { lockDataDir } from '../local/lock.ts';
import { type Stack, startStack } from '../local/stack.ts';
import { answerStackRequests } from './support/stack-requests.ts';

const project = join(import.meta.dirname, '..');
const testData = join(project, '.test-data');
const log = (line: string) => console.log(`[test set-up] ${line}`);

const lanes = chooseLanes(process.argv.slice(2));

const running = new Set<ChildProcess>();
const ending = new AbortController();
onEndRequest((_reason, count) => {
  ending.abort(new StartupError('the tests were ended before they began'));
  for (const mocha of running) mocha.kill(count === 1 ? 'SIGTERM' : 'SIGKILL');
});

try {
  mkdirSync(testData, { recursive: true });
  await removeEarlierRuns();
  const codes = await Promise.all(lanes.map(runLane));
  process.exitCode = Math.max(...codes);
} catch (error) {
  console.error(error instanceof StartupError ? error.message : error);
  process.exitCode = 1;
}
process.exit();

/** One run of mocha: its arguments, and a name when it is not the only one. */
interface Lane {
  name: string;
  args: string[];
  /** Whether its output is shown when it has ended, so that it does not mix with the other lane's. */
  collected: boolean;
}

function chooseLanes(args: string[]): Lane[] {
  if (args.some((arg) => /^(\.\/)?test\b/.test(arg))) return [{ name: 'tests', args, collected: false }];
  const folders = readdirSync(join(project, 'test'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !['support', 'histories'].includes(entry.name))
    .map((entry) => `test/${entry.name}`);
  const onServers = ['test/faults', 'test/local'];
  return [
    { name: 'behaviour', args: [...args, ...folders.filter((name) => !onServers.includes(name))], collected: false },
    { name: 'faults', args: [...args, ...onServers], collected: true },
  ];
}

async function runLane(lane: Lane): Promise<number> {
  const folder = join(testData, `run-${process.pid}-${lane.name}`);
  let stack: Stack | undefined;
  try {
    stack = await phase(log, `the stack of lane ${lane.name} is ready`, () =>
      startStack({
        dataDir: folder,
        postgresPort: 0,
        temporalPort: 0,
        uiPort: null,
        log: () => {},
        signal: ending.signal,
      }),
    );
    return await runMocha(stack, lane);
  } finally {
    await stack?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Ends and removes what a killed test run left; a run that is under way holds its lock and is left alone. */
async function removeEarlierRuns(): Promise<void> {
  for (const name of readdirSync(testData)) {
    const folder = join(testData, name);
    try {
      mkdirSync(join(folder, 'run'), { recursive: true });
      const unlock = await lockDataDir(folder);
      await stopLeftovers(folder, ['temporal', 'postgres'], 5_000, log);
      unlock();
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (!(error instanceof StartupError)) log(`${folder} was not removed: ${oneLine(error)}`);
    }
  }
}

/** Runs mocha; returns its exit code. */
async function runMocha(stack: Stack, { name, args, collected }: Lane): Promise<number> {
  const bin = join(project, 'node_modules', 'mocha', 'bin', 'mocha.js');
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: project,
    env: testEnvironment(stack),
    stdio: ['ignore', collected ? 'pipe' : 'inherit', collected ? 'pipe' : 'inherit', 'ipc'],
  });
  const output: Buffer[] = [];
  child.stdout?.on('data', (part: Buffer) => output.push(part));
  child.stderr?.on('data', (part: Buffer) => output.push(part));
  if (collected) log(`lane ${name} runs beside; its results follow at the end`);
  running.add(child);
  answerStackRequests(child, stack);
  const code = await new Promise<number>((resolve) => {
    child.once('error', () => resolve(1));
    child.once('close', (exitCode) => resolve(ending.signal.aborted ? 1 : (exitCode ?? 1)));
  });
  running.delete(child);
  if (collected) console.log(`\n[lane ${name}, which ran beside]\n${Buffer.concat(output).toString()}`);
  return code;
}

/** The caller's environment without Hookyard's settings, pointing at the stack. */
function testEnvironment(stack: Stack): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(HOOKYARD_|TEMPORAL_|SMTP_|LOG_LEVEL$)/.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    DATABASE_URL: stack.databaseUrl,
    TEMPORAL_ADDRESS: stack.temporalAddress,
    TEMPORAL_NAMESPACE: stack.namespace,
    HOOKYARD_DATA_DIR: join(stack.dataDir, 'app'),
  };
}
