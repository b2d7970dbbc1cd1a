import { expect } from 'chai';
import { sharedRest, watch } from '../../worker/watch.ts';
import { until } from '../support/until.ts';

describe('looking for due work', () => {
  it('is done by a few workers each at its own pace, and by more of them as often together', () => {
    expect([1, 2, 4].map((workers) => sharedRest(1000, workers))).to.deep.equal([1000, 1000, 1000]);
    expect(sharedRest(1000, 8)).to.equal(2000);
    expect(sharedRest(1000, 50), 'not much later, should most of them die').to.equal(5000);
  });

  it('rests as long as it is told each time, also after an error', async () => {
    const rests = [0, 1, 2, 0];
    const asked: number[] = [];
    const errors: unknown[] = [];
    let looks = 0;
    const watched = watch(
      async () => {
        looks += 1;
        if (looks === 2) throw new Error('the database is away');
        return false;
      },
      {
        everyMs() {
          asked.push(looks);
          return rests[asked.length - 1] ?? 60_000;
        },
        onError: (error) => errors.push(error),
      },
    );
    await until('five looks', () => looks === 5);
    await watched.stop();
    expect(asked).to.deep.equal([1, 2, 3, 4, 5]);
    expect(errors).to.have.length(1);
  });
});
