import { expect } from 'chai';
import { eventLoopDelay } from '../../core/metrics/process.ts';
import { noteLoopWork, watchLoop, LARGE_BYTES, othersFirst } from '../../core/process/event-loop.ts';
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

describe('behind a pass over a body', () => {
  const othersRun = async (bytes: number): Promise<boolean> => {
    let ran = false;
    setImmediate(() => {
      ran = true;
    });
    await othersFirst(bytes);
    return ran;
  };

  it('that is large, the event loop serves others first', async () => {
    expect(await othersRun(LARGE_BYTES)).to.equal(true);
  });

  it('of several that are large, one goes on in each turn', async () => {
    let turns = 0;
    const count = () => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const wentOnIn = Array.from({ length: 3 }, async () => {
      await othersFirst(LARGE_BYTES);
      return turns;
    });
    expect(new Set(await Promise.all(wentOnIn))).to.have.property('size', 3);
    clearImmediate(counting);
  });

  it('that is not, the work goes on at once', async () => {
    expect(await othersRun(LARGE_BYTES - 1)).to.equal(false);
  });
});
