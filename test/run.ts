// npm test [-- <files or folders> <mocha options>]: starts a throw-away stack on free ports in a folder of its own, runs mocha
// against it, and ends everything again. It runs beside `npm start` and never uses servers named by the environment.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { oneLine, phase, StartupError } from '../local/errors.ts';
import { stopLeftovers } from '../local/leftovers.ts';
import { lockDataDir } from '../local/lock.ts';
import { onEndRequest } from '../local/signals.ts';
import { type Stack, startStack } from '../local/stack.ts';
import { answerStackRequests } from './support/stack-requests.ts';

const project = join(import.meta.dirname, '..');
const testData = join(project, '.test-data');
const log = (line: string) => console.log(`[test set-up] ${line}`);

let mocha: ChildProcess | undefined;
const ending = new AbortController();
onEndRequest((_reason, count) => {
  ending.abort(new StartupError('the tests were ended before they began'));
  mocha?.kill(count === 1 ? 'SIGTERM' : 'SIGKILL');
});

try {
  process.exitCode = await runTests();
} catch (error) {
  console.error(error instanceof StartupError ? error.message : error);
  process.exitCode = 1;
}
process.exit();

async function runTests(): Promise<number> {
  mkdirSync(testData, { recursive: true });
  await removeEarlierRuns();
  const folder = join(testData, `run-${process.pid}`);
  let stack: Stack | undefined;
  try {
    stack = await phase(log, 'the stack is ready', () =>
      startStack({ dataDir: folder, postgresPort: 0, temporalPort: 0, uiPort: null, log, signal: ending.signal }),
    );
    return await runMocha(stack);
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

/** Runs mocha on the given files or folders, by default all; returns its exit code. */
async function runMocha(stack: Stack): Promise<number> {
  const args = process.argv.slice(2);
  const named = args.some((arg) => !arg.startsWith('-') && /^(\.\/)?test\b/.test(arg));
  const bin = join(project, 'node_modules', 'mocha', 'bin', 'mocha.js');
  const child = spawn(process.execPath, [bin, ...args, ...(named ? [] : ['test'])], {
    cwd: project,
    env: testEnvironment(stack),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  mocha = child;
  answerStackRequests(child, stack);
  return await new Promise<number>((resolve) => {
    child.once('error', () => resolve(1));
    child.once('exit', (code) => resolve(ending.signal.aborted ? 1 : (code ?? 1)));
  });
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
