// The time of a transform is the processor's: one that others keep from the processor does not fail for it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const PROGRAM = fileURLToPath(new URL('../support/workflows/transform-process.ts', import.meta.url));
// Longer than a run may take that is not interrupted.
const STOP_MS = 1500;

interface Ended {
  ok: boolean;
  durationMs: number;
}

describe('the time of a transform', () => {
  let child: ChildProcess;
  let lines: Interface;
  before(() => {
    child = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
    lines = createInterface(child.stdout ?? expect.fail('no output'));
  });
  after(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });

  const begin = async () => {
    const begins = once(lines, 'line');
    child.stdin?.write('run\n');
    await begins;
    const next = once(lines, 'line') as Promise<[string]>;
    return async () => JSON.parse((await next)[0]) as Ended;
  };

  it('does not continue while the processor does something else', async () => {
    // The first run starts the thread.
    const warm = await begin();
    let { durationMs } = await warm();
    // Somewhere in the middle of the next ones.
    const stopped: Ended[] = [];
    for (let tries = 0; tries < 40 && stopped.length < 2; tries += 1) {
      const end = await begin();
      await sleep(durationMs / 4);
      child.kill('SIGSTOP');
      await sleep(STOP_MS);
      child.kill('SIGCONT');
      const ended = await end();
      if (!ended.ok || ended.durationMs > STOP_MS) stopped.push(ended);
      else durationMs = Math.min(durationMs, ended.durationMs);
    }
    expect(stopped.map(({ ok }) => ok)).to.deep.equal([true, true]);
  });
});
