// Processes end when anyone who started them is gone, also while they start: a killed test run or `npm start` leaves
// none.
import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { outputOf } from '../support/programs/children.ts';
import { FREE_PORTS } from '../support/programs/npm-start.ts';
import { until } from '../support/until.ts';

const project = join(import.meta.dirname, '..', '..');
// Nobody listens on it.
const NOBODY = '127.0.0.1:1';

function start(role: 'api' | 'worker'): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, [join(project, role, 'main.ts')], {
    cwd: project,
    env: {
      ...{ ...process.env, ...FREE_PORTS, TEMPORAL_ADDRESS: NOBODY, LOG_LEVEL: 'info' },
      DATABASE_URL: `postgres://hookyard:secret@${NOBODY}/hookyard`,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  return { child, output: outputOf(child) };
}

describe('A process whose parent is gone', () => {
  for (const role of ['api', 'worker'] as const) {
    const moments: [when: string, moment: (output: () => string) => Promise<unknown>][] = [
      ['before it has begun', async () => undefined],
      ['while it waits for PostgreSQL', (output) => until('it to wait', () => /waiting for PostgreSQL/.test(output()))],
    ];
    for (const [when, moment] of moments) {
      it(`ends: the ${role}, ${when}`, async () => {
        const { child, output } = start(role);
        const exited = once(child, 'exit');
        let hasEnded = false;
        void exited.then(() => {
          hasEnded = true;
        });
        try {
          await moment(output);
          expect(hasEnded).to.equal(false);
          child.disconnect();
          await until('its end', () => hasEnded);
        } finally {
          child.kill('SIGKILL');
          await exited;
        }
      });
    }
  }
});
