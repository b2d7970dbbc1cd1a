// Threads with work of a size that others choose let the event loop go first.
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createCompute } from '../../outbound/compute/index.ts';
import { createTransforms } from '../../outbound/transforms/index.ts';

const unlimited = async () => Number.POSITIVE_INFINITY;
const ORGANIZATION = 'org_01';

/** The niceness of each thread of this process, by the number of threads that have it. */
function niceness(): Map<number, number> {
  const counts = new Map<number, number>();
  for (const id of readdirSync('/proc/self/task')) {
    // The name, in parentheses, may have spaces; niceness is the 19th member, and the 17th behind the name (proc_pid_stat(5)).
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

  it('is lower where transforms run', async () => {
    const before = lowered();
    const transforms = createTransforms(1, unlimited);
    try {
      await transforms.check({ type: 'javascript', code: 'export default (event) => event' }, 'org_1');
      expect(lowered()).to.equal(before + 1);
      expect(niceness().get(0)).to.be.at.least(1);
    } finally {
      await transforms.close();
    }
  });

  it('is lower where filters, schemas and mappings are worked on', async () => {
    const before = lowered();
    const compute = createCompute({ threads: 1, log: { warn() {} } });
    try {
      await compute.schemaProblem(ORGANIZATION, { type: 'object' });
      expect(lowered()).to.equal(before + 1);
    } finally {
      await compute.close();
    }
  });
});
