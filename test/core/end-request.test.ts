// What ends a process: signals, of which one request may send several, and the loss of the process that started it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../support/until.ts';

const MODULE = new URL('../../core/process/end-request.ts', import.meta.url).href;
// Longer than the signals of one request may be apart.
const NEXT_REQUEST_MS = 600;

describe('a process', () => {
  let child: ChildProcess;
  let lines: string[];
  /** Runs code with the functions of the module, until it ends. */
  async function start(code: string): Promise<void> {
    const program = `import { endWithParent, onEndRequest, sayReady } from '${MODULE}';
      const timer = setInterval(() => {}, 1000);
      ${code}
      sayReady('http://here');`;
    const stdio: ('ignore' | 'pipe' | 'inherit' | 'ipc')[] = ['ignore', 'pipe', 'inherit', 'ipc'];
    child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio });
    lines = [];
    child.stdout?.setEncoding('utf8').on('data', (text: string) => lines.push(...text.trim().split('\n')));
    expect(await once(child, 'message')).to.deep.equal([{ type: 'ready', url: 'http://here' }, undefined]);
  }
  afterEach(() => child.kill('SIGKILL'));

  const COUNTING =
    'onEndRequest((reason, count) => { console.log(count, reason); if (count === 2) process.exit(7); });';

  it('counts signals that come together as one request', async () => {
    await start(COUNTING);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) child.kill(signal);
    await until('the first request', () => lines.length > 0);
    // On a busy machine the first of these may still be of the first request.
    while (child.exitCode === null) {
      await delay(NEXT_REQUEST_MS);
      child.kill('SIGHUP');
    }
    expect(child.exitCode).to.equal(7);
    expect(lines.join()).to.match(/^1 SIG(?:INT|TERM),2 SIGHUP$/);
  });

  it('is told when the process that started it is gone', async () => {
    await start(COUNTING);
    child.disconnect();
    await until('the request', () => lines.length === 1);
    expect(lines).to.deep.equal(['1 the parent process no longer exists']);
  });

  it('ends with the process that started it until it has started itself', async () => {
    await start('endWithParent();');
    const ended = once(child, 'exit');
    child.disconnect();
    expect((await ended)[0]).to.equal(1);
    await start('endWithParent()(); process.on("disconnect", () => setTimeout(() => process.exit(3), 50));');
    const later = once(child, 'exit');
    child.disconnect();
    expect((await later)[0]).to.equal(3);
  });
});
