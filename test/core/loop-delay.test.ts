import { expect } from 'chai';
import { noteLoopWork, onLoop, watchLoop } from '../../core/process/loop-delay.ts';
import { until } from '../support/until.ts';

function busy(ms: number): void {
  const startedAt = performance.now();
  while (performance.now() - startedAt < ms);
}

describe('the delay of the event loop', () => {
  it('is told when it is long, with what ran', async () => {
    const told: { lateMs: number; ran: object[] }[] = [];
    const stop = watchLoop({ warn: ((facts: { lateMs: number; ran: object[] }) => told.push(facts)) as never });
    try {
      // What ran before is not of this test.
      await new Promise((resolve) => setTimeout(resolve, 100));
      onLoop('filters', 'org_a', () => busy(300));
      // Short work, whatever else the machine did meanwhile.
      noteLoopWork('schema', 'org_b', 1);
      const { lateMs, ran } = await until('the warning', () => told.at(-1));
      expect(lateMs).to.be.greaterThan(200);
      expect(ran).to.have.length(1);
      expect(ran[0]).to.include({ kind: 'filters', organizationId: 'org_a' });
    } finally {
      stop();
    }
  });
});
