import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { StartupError } from '../../local/errors.ts';
import { commandLine, lockDataDir, recordPid, stopLeftovers } from '../../local/lock.ts';

describe('what an earlier run left', () => {
  let dataDir: string;
  const started: ChildProcess[] = [];

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'hookyard-left-'));
    mkdirSync(join(dataDir, 'run'));
  });

  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** A process that runs until it is ended, with `argument` in its command line. */
  const startProcess = async (argument: string, script = 'setInterval(() => {}, 1000)') => {
    const child = spawn(process.execPath, ['-e', `${script}; console.log('up')`, '--', argument], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    started.push(child);
    if (child.stdout) await once(child.stdout, 'data');
    return { child, pid: child.pid ?? 0 };
  };
  const lines: string[] = [];
  const stop = () => stopLeftovers(dataDir, ['temporal', 'postgres'], 1_000, (line) => lines.push(line));

  it('ends a recorded process of this data folder', async () => {
    const { child, pid } = await startProcess(`--config-file=${dataDir}/server.yaml`);
    recordPid(dataDir, 'temporal', pid);
    await stop();
    expect(child.exitCode !== null || child.signalCode !== null || commandLine(pid) === undefined).to.equal(true);
    expect(lines.at(-1)).to.equal(`stopping temporal (pid ${pid}), left over from an earlier run`);
    expect(existsSync(join(dataDir, 'run', 'temporal.pid'))).to.equal(false);
  });

  it('ends one of a data folder whose name is not ASCII, in any locale', async () => {
    const folder = join(dataDir, 'Bürö in Łódź');
    mkdirSync(join(folder, 'run'), { recursive: true });
    const { pid } = await startProcess(`--config-file=${folder}/server.yaml`);
    recordPid(folder, 'temporal', pid);
    const { LC_ALL } = process.env;
    process.env.LC_ALL = 'C';
    try {
      await stopLeftovers(folder, [], 1_000, () => {});
    } finally {
      if (LC_ALL === undefined) delete process.env.LC_ALL;
      else process.env.LC_ALL = LC_ALL;
    }
    expect(commandLine(pid)).to.equal(undefined);
  });

  it('kills one that does not end when asked', async () => {
    const script = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)`;
    const { pid } = await startProcess(`--config-file=${dataDir}/server.yaml`, script);
    recordPid(dataDir, 'temporal', pid);
    await stop();
    expect(commandLine(pid)).to.equal(undefined);
  });

  it('leaves a process alone that got the recorded pid but is not of this data folder', async () => {
    const { pid } = await startProcess('--config-file=/somewhere/else');
    const { pid: sibling } = await startProcess(`--config-file=${dataDir}2/server.yaml`);
    recordPid(dataDir, 'temporal', pid);
    recordPid(dataDir, 'temporal-ui', sibling);
    await stop();
    expect(commandLine(pid)).to.be.a('string');
    expect(commandLine(sibling)).to.be.a('string');
    expect(existsSync(join(dataDir, 'run', 'temporal.pid'))).to.equal(false);
  });

  it('refuses a data folder that a running process holds', async () => {
    const { pid } = await startProcess('supervisor');
    const holder = { pid, args: commandLine(pid) };
    writeFileSync(join(dataDir, 'run', 'supervisor.lock'), JSON.stringify(holder));
    const error = await lockDataDir(dataDir).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(StartupError);
    expect(String(error)).to.contain(`(pid ${pid}) is already using ${dataDir}`);
  });

  for (const [what, content] of [
    ['of a process that has ended', JSON.stringify({ pid: 2 ** 22 + 1, args: 'node local/main.ts' })],
    ['whose pid another program has now', JSON.stringify({ pid: process.ppid, args: 'node local/main.ts' })],
    ['that was not written to its end', '{"pid": 12'],
  ] as const) {
    it(`takes over a lock ${what}`, async () => {
      const file = join(dataDir, 'run', 'supervisor.lock');
      writeFileSync(file, content);
      const unlock = await lockDataDir(dataDir);
      expect(JSON.parse(readFileSync(file, 'utf8')).pid).to.equal(process.pid);
      unlock();
      expect(existsSync(file)).to.equal(false);
    });
  }

  it('gives a stale lock to exactly one of several processes that ask at the same time', async () => {
    writeFileSync(join(dataDir, 'run', 'supervisor.lock'), JSON.stringify({ pid: 2 ** 22 + 1, args: 'node' }));
    const lockModule = join(import.meta.dirname, '..', '..', 'local', 'lock.ts');
    const script = `import(${JSON.stringify(lockModule)})
      .then(({ lockDataDir }) => lockDataDir(${JSON.stringify(dataDir)}))
      .then(() => console.log('got it'), (error) => console.log(error.message))
      .then(() => setInterval(() => {}, 1000))`;
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (name) => {
        const child = spawn(process.execPath, ['-e', script, '--', name], { stdio: ['ignore', 'pipe', 'ignore'] });
        started.push(child);
        const [answer] = child.stdout ? await once(child.stdout, 'data') : [''];
        return String(answer).trim();
      }),
    );
    expect(answers.filter((answer) => answer === 'got it')).to.have.length(1);
    expect(answers.filter((answer) => answer.includes('is already using'))).to.have.length(3);
  });
});
