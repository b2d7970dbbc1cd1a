// The event loop between two passes over a large body.
import { expect } from 'chai';
import { LARGE_BYTES, othersFirst } from '../../core/others-first.ts';

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

  it('that is not, the work goes on at once', async () => {
    expect(await othersRun(LARGE_BYTES - 1)).to.equal(false);
  });
});
