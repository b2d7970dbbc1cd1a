// How busy the event loop and the machine are, as measured by doing something and nothing.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { partOf } from '../../core/load-part.ts';
import { measuredLoopUse, measuredMachineUse } from '../../core/machine-load.ts';

// More than the quarter of a second in which nothing is measured again.
const WHILE_MS = 400;

function work(): void {
  const until = performance.now() + WHILE_MS;
  while (performance.now() < until);
}

describe('the load', () => {
  it('of an event loop that works is more than that of one that waits', async () => {
    const use = measuredLoopUse();
    await delay(WHILE_MS);
    const waiting = use();
    work();
    const working = use();
    expect(waiting).to.be.within(0, 1);
    expect(working).to.be.within(0, 1).and.above(waiting);
    expect(use(), 'asked again at once').to.equal(working);
  });

  it('of the machine is a share of the time of all its processors', () => {
    const use = measuredMachineUse();
    work();
    expect(use()).to.be.above(0).and.at.most(1);
  });

  it('is judged from where it is busy to where it is full', () => {
    const load = { busy: 0.2, full: 0.6 };
    const parts = [0, 0.2, 0.3, 0.6, 1].map((use) => partOf(use, load));
    for (const [index, part] of [0, 0, 0.25, 1, 1].entries()) expect(parts[index]).to.be.closeTo(part, 1e-9);
  });
});
