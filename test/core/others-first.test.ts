// The event loop between two passes over a large body.
import { expect } from 'chai';
import { LARGE_BYTES, othersFirst } from '../../core/process/event-loop.ts';

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
