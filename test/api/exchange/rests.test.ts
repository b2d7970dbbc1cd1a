// An import leaves the event loop to others in between (docs/operate/security.md).
import { expect } from 'chai';
import { checkItems } from '../../../api/import-export/files.ts';
import { useClock } from '../../support/clock.ts';

const WORK_MS = 6;

describe('The work of an import', () => {
  const { pass, stall } = useClock();

  it('takes a quarter of the time of the event loop: after each slice others have three times as long', async () => {
    let slices = 0;
    let isDone = false;
    void checkItems('routes', [1, 2, 3], () => {
      slices += 1;
      stall(WORK_MS);
    }).then(() => {
      isDone = true;
    });
    for (const slice of [1, 2, 3]) {
      await pass(3 * WORK_MS - 1);
      expect([slices, isDone]).to.deep.equal([slice, false]);
      await pass(1);
    }
    expect(isDone).to.equal(true);
  });
});
