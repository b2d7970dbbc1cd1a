// An import leaves the event loop to others in between (docs/operate/security.md).
import { expect } from 'chai';
import { inSlices } from '../../../api/import-export/files.ts';

const WORK_MS = 6;

function work(): number {
  const from = performance.now();
  while (performance.now() - from < WORK_MS);
  return performance.now() - from;
}

describe('The work of an import', () => {
  it('takes at most a quarter of the time of the event loop, and others have turns in between', async () => {
    let worked = 0;
    let turns = 0;
    const others = setInterval(() => {
      turns += 1;
    }, 1);
    const from = performance.now();
    await inSlices([...Array(20)], () => {
      worked += work();
    });
    clearInterval(others);
    // A timer may be a millisecond early.
    expect(performance.now() - from).to.be.at.least(4 * worked - 20);
    expect(turns).to.be.at.least(19);
  });
});
