// npm test [-- <files or folders> <mocha options>]: starts a throw-away stack on free ports in a folder of its own,
// runs mocha against it, and ends everything again. It runs beside `npm start` and never uses servers named by the
// environment. Without files it runs all tests but those in test/long, in parts, some of them side by side, each that
// needs a stack on one of its own; a few files run once more in the lane express. A file that fails there is run once
// more when nothing runs beside it, and named at the end whatever comes of it. HOOKYARD_LANE=adaptive runs what was
// asked for in another lane. `--times` shows at the end of each part how long each of its files took.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onEndRequest } from '../core/process/end-request.ts';
import { LANE_SETTINGS, type LaneSetting } from '../core/delivery/delivery.ts';
import { ensureBinaries } from '../local/temporal/binaries.ts';
import { oneLine, phase, StartupError } from '../local/errors.ts';
import { lockDataDir, stopLeftovers } from '../local/lock.ts';
import { type Stack, type StackOptions, startStack } from '../local/stack.ts';
import { makeTables } from './support/database/make-tables.ts';
import { chooseParts, type Part } from './support/parts.ts';
import type { TestReport } from './support/reporter.ts';
import { chosenPostgres } from './support/servers/postgres-versions.ts';
import { SMALL_LOG, type StackTemplate, templateOf } from './support/stack-copies.ts';
import { answerStackRequests } from './support/stack-requests.ts';

const project = join(import.meta.dirname, '..');
const testData = join(project, '.test-data');
const compileCache = join(project, 'node_modules', '.cache', 'hookyard', 'compiled');
const REPORTER = join(import.meta.dirname, 'support', 'reporter.ts');
const log = (line: string) => console.log(`[test set-up] ${line}`);
const END_GRACE_MS = 5000;
// One more than there are cores: each part waits for half of its time. With two more nothing is done sooner, and what
// has a deadline misses it.
const SIDE_BY_SIDE = availableParallelism() + 1;

// Of so many each is started by itself: it costs no more than a template and a copy.
const FEW_STACKS = 2;
// What a killed server has written is the system's and is kept. Only a machine that stops would lose it.
const SAFE_TO_KILL = { fsync: 'off', full_page_writes: 'off' };

/** With more than so many files that failed, the fault is hardly that something ran beside them. */
const FEW_FILES = 12;

const args = process.argv.slice(2);
const parts = chooseParts(
  args.filter((arg) => arg !== '--times'),
  chosenLane(),
);

const running = new Set<ChildProcess>();
const ending = new AbortController();
let template: Promise<StackTemplate> | undefined;
onEndRequest((_reason, count) => endAll(count === 1 ? 'SIGTERM' : 'SIGKILL'));

try {
  makeTestData();
  await removeEarlierRuns();
  // Once for all stacks, which start side by side: on a machine that is new it takes minutes, and shows how far it is.
  await ensureBinaries({ ui: parts.some(startsUi), signal: ending.signal, log });
  const hasPassed = await runAll();
  process.exitCode = hasPassed && !ending.signal.aborted ? 0 : 1;
} catch (error) {
  console.error(error instanceof StartupError ? error.message : error);
  process.exitCode = 1;
}
process.exit();

function makeTestData(): void {
  try {
    if (!existsSync(testData)) mkdirSync(testData);
  } catch (error) {
    throw new StartupError(
      `The tests write below ${testData}, which cannot be made (${oneLine(error)}); run them in a copy.`,
    );
  }
}

/** Built during a test, it would take more time than the test has. */
function startsUi({ files }: Part): boolean {
  return files.some((file) => /test\/lo(cal|ng)/.test(file));
}

function chosenLane(): LaneSetting | undefined {
  const lane = process.env.HOOKYARD_LANE;
  if (lane === undefined) return;
  const known = LANE_SETTINGS.find((name) => name === lane);
  if (known) return known;
  throw new Error(`HOOKYARD_LANE must be ${LANE_SETTINGS.join(', ')}, not ${lane}`);
}

function endAll(signal: 'SIGTERM' | 'SIGKILL'): void {
  ending.abort(new StartupError('the tests were ended before they began'));
  for (const mocha of running) {
    mocha.kill(signal);
    // Temporal's SDK takes SIGTERM for itself where a test has started a worker, and mocha continues.
    setTimeout(() => mocha.kill('SIGKILL'), END_GRACE_MS).unref();
  }
}

/**
 * Runs the parts.
 * @returns whether all tests passed.
 * @throws what kept one from running, when the others have ended too and left no servers
 */
async function runAll(): Promise<boolean> {
  const failures: unknown[] = [];
  const results: Result[] = [];
  const times: string[] = [];
  const waiting = [...parts];
  const runInTurn = async () => {
    for (let part = waiting.shift(); part && !ending.signal.aborted; part = waiting.shift()) {
      const began = performance.now();
      const report = await runPart(part).catch((error: unknown) => {
        failures.push(error);
        endAll('SIGTERM');
        return null;
      });
      results.push({ part, report });
      times.push(`${part.name} ${duration(performance.now() - began)}`);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, runInTurn));
  const final = failures.length > 0 || parts.length === 1 ? results : await runFailedAlone(results);
  await template?.then(
    (made) => made.remove(),
    () => rmSync(folderOf('template'), { recursive: true, force: true }),
  );
  if (failures.length > 0) throw failures[0];
  log(`took ${duration(performance.now() - began)}, side by side: ${times.join('; ')}`);
  const sum = (count: (report: TestReport) => number) =>
    final.reduce((total, { report }) => total + (report ? count(report) : 0), 0);
  const ended = final.filter(({ report }) => report === null).map(({ part }) => part.name);
  if (ended.length > 0) log(`did not end by themselves: ${ended.join(', ')}`);
  log(`tests: ${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed) + ended.length} failed`);
  return final.every(({ report }) => report !== null && report.failed === 0);
}

/** What the tests of a part came to; null: mocha ended before it could say. */
interface Result {
  part: Part;
  report: TestReport | null;
}

/** Runs the files that failed once more, with nothing beside them. @returns the results with what came of that */
async function runFailedAlone(results: Result[]): Promise<Result[]> {
  const count = results.reduce((total, { report }) => total + (report?.failedFiles.length ?? 0), 0);
  if (count > FEW_FILES || results.some(({ report }) => report === null)) return results;
  const final: Result[] = [];
  for (const { part, report } of results) {
    final.push({ part, report });
    if (report === null || report.failed === 0 || ending.signal.aborted) continue;
    const again = { ...part, name: `${part.name}, what failed alone`, files: report.failedFiles };
    const alone = await runPart(again);
    const outcome = alone?.failed === 0 ? 'passed alone: it depends on time, find out on which' : 'failed alone too';
    log(`${report.failedFiles.join(', ')}: failed beside others, ${outcome}`);
    if (alone === null) continue;
    const passed = report.passed + Math.max(0, report.failed - alone.failed);
    final.splice(-1, 1, { part, report: { ...report, passed, failed: alone.failed } });
  }
  return final;
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 100 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

async function runPart(part: Part): Promise<TestReport | null> {
  if (!part.hasStack) return runMocha(part);
  const folder = folderOf(part.name);
  let stack: Stack | undefined;
  try {
    stack = await phase(log, `the stack for ${part.name} is ready`, () => stackIn(folder));
    return await runMocha(part, stack);
  } finally {
    await stack?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function stackIn(folder: string): Promise<Stack> {
  if (parts.filter(({ hasStack }) => hasStack).length <= FEW_STACKS) return start(folder, { onDatabase: makeTables });
  template ??= makeTemplate();
  await (await template).copyTo(folder);
  return start(folder);
}

function makeTemplate(): Promise<StackTemplate> {
  return phase(log, 'the template of the stacks is ready', async () => {
    const stack = await start(folderOf('template'), { onDatabase: makeTables, postgresSettings: SMALL_LOG });
    return templateOf(stack).finally(() => stack.stop());
  });
}

function start(dataDir: string, options: Partial<StackOptions> = {}): Promise<Stack> {
  const ports = { postgresPort: 0, temporalPort: 0, uiPort: null };
  const chosen = chosenPostgres();
  const postgres = {
    postgresSettings: { ...SAFE_TO_KILL, ...chosen.settings, ...options.postgresSettings },
    otherPostgres: chosen.other,
  };
  return startStack({ dataDir, ...ports, ...options, ...postgres, log: () => {}, signal: ending.signal });
}

function folderOf(name: string): string {
  return join(testData, `run-${process.pid}-${name.replaceAll(/\W+/g, '-')}`);
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

/** Runs mocha. @returns its report; null when it ended without one */
async function runMocha({ name, options, files, lane }: Part, stack?: Stack): Promise<TestReport | null> {
  const bin = join(project, 'node_modules', 'mocha', 'bin', 'mocha.js');
  const report = join(tmpdir(), `hookyard-tests-${process.pid}-${name.replaceAll(/\W+/g, '-')}.json`);
  // The output of a part that others run beside is shown when it has ended.
  const isAlone = parts.length === 1;
  const output = isAlone ? 'inherit' : 'pipe';
  const child = spawn(process.execPath, [bin, '--reporter', REPORTER, ...options, ...files], {
    cwd: project,
    env: { ...testEnvironment(lane, stack), TEST_REPORT: report, TEST_TIMES: args.includes('--times') ? '1' : '' },
    stdio: ['ignore', output, output, 'ipc'],
  });
  const lines: string[] = [];
  for (const input of [child.stdout, child.stderr]) {
    if (input) createInterface({ input }).on('line', (line) => lines.push(line));
  }
  running.add(child);
  if (stack) answerStackRequests(child, stack);
  const code = await new Promise<number>((resolve) => {
    child.once('error', () => resolve(1));
    child.once('close', (exitCode) => resolve(ending.signal.aborted ? 1 : (exitCode ?? 1)));
  });
  running.delete(child);
  if (!isAlone) console.log(`\n[${name}]\n${lines.join('\n')}`);
  return readReport(report, code);
}

/** @returns null without a report, or when mocha counts no failure and has failed all the same */
function readReport(path: string, code: number): TestReport | null {
  if (!existsSync(path)) return null;
  const report = JSON.parse(readFileSync(path, 'utf8')) as TestReport;
  rmSync(path);
  return code !== 0 && report.failed === 0 ? null : report;
}

/** The caller's environment without Hookyard's settings, pointing at the stack when there is one. */
function testEnvironment(lane: LaneSetting, stack?: Stack): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(HOOKYARD_|TEMPORAL_|SMTP_|DATABASE_(DIRECT_)?URL$|LOG_LEVEL$)/.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    ...(stack && {
      DATABASE_URL: stack.databaseUrl,
      RUNTIME_DATABASE_URL: stack.runtimeUrl,
      TEMPORAL_ADDRESS: stack.temporalAddress,
      TEMPORAL_NAMESPACE: stack.namespace,
      HOOKYARD_DATA_DIR: join(stack.dataDir, 'app'),
    }),
    HOOKYARD_LANE: lane,
    // Processes are started some two hundred times; what the first has compiled, the others read
    // (nodejs.org/api/module.html).
    NODE_COMPILE_CACHE: compileCache,
  };
}
