// Threads with work of a size that others choose let the event loop go first.
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { testThreads } from '../support/threads.ts';

/** The niceness of each thread of this process, by the number of threads that have it. */
function niceness(): Map<number, number> {
  const counts = new Map<number, number>();
  for (const id of readdirSync('/proc/self/task')) {
    // The name, in parentheses, may have spaces; niceness is the 19th member, and the 17th behind the name
    // (proc_pid_stat(5)).
    const [, rest = ''] = /\) (.*)/.exec(readFileSync(`/proc/self/task/${id}/stat`, 'utf8')) ?? [];
    const nice = Number(rest.split(' ')[16]);
    counts.set(nice, (counts.get(nice) ?? 0) + 1);
  }
  return counts;
}

describe('the priority of threads', () => {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  const lowered = () => [...niceness()].reduce((sum, [nice, count]) => sum + (nice > 0 ? count : 0), 0);

  it('is lower where transforms, filters, schemas and mappings are worked on', async () => {
    const before = lowered();
    const threads = testThreads(1);
    try {
      await threads.checkTransform({ type: 'javascript', code: 'export default (event) => event' }, 'org_1');
      await threads.schemaProblem('org_1', { type: 'object' });
      expect(lowered()).to.equal(before + 1);
      expect(niceness().get(0)).to.be.at.least(1);
    } finally {
      await threads.close();
    }
  });
});
