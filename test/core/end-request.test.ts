import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { until } from '../support/until.ts';

const MODULE = new URL('../../core/process/end-request.ts', import.meta.url).href;

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
    await start(`let nowMs = 0;
      performance.now = () => nowMs;
      ${COUNTING}
      for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => console.log('too'));
      process.on('SIGUSR2', () => console.log('later', (nowMs += 501)));`);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) child.kill(signal);
    await until('both signals', () => lines.length === 3);
    child.kill('SIGUSR2');
    await until('the time of the next request', () => lines.includes('later 501'));
    child.kill('SIGHUP');
    expect((await once(child, 'close'))[0]).to.equal(7);
    expect(lines.join()).to.match(/^1 SIG(?:INT|TERM),too,too,later 501,2 SIGHUP$/);
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
    await start('endWithParent()(); process.on("disconnect", () => process.exit(3));');
    const later = once(child, 'exit');
    child.disconnect();
    expect((await later)[0]).to.equal(3);
  });
});
