import { expect } from 'chai';
import { eventLoopDelay } from '../../core/metrics/process.ts';
import { noteLoopWork, watchLoop } from '../../core/process/event-loop.ts';
import { useClock } from '../support/clock.ts';

describe('the delay of the event loop', () => {
  const { pass, stall } = useClock();

  it('is told when it is long, with what ran', async () => {
    const told: object[] = [];
    const stop = watchLoop({ warn: ((facts: object) => told.push(facts)) as never }, eventLoopDelay);
    // What ran before is not of this test.
    await pass(50);
    stall(300);
    noteLoopWork('filters', 'org_a', 300);
    // Short work, whatever else the machine did meanwhile.
    noteLoopWork('schema', 'org_b', 1);
    await pass(50);
    expect(told).to.deep.equal([{ lateMs: 300, ran: [{ kind: 'filters', organizationId: 'org_a', ms: 300 }] }]);
    stop();
  });
});
