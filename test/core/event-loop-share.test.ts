import { expect } from 'chai';
import { EventLoopShare } from '../../core/event-loop-share.ts';

describe('the share of the event loop', () => {
  it('is smaller for an organization that has used it up, and comes back with time', () => {
    const share = new EventLoopShare();
    const full = share.budgetOf('org_a', 0).leftMs;
    for (let event = 0; event < 10; event += 1) share.used('org_a', 10, 0);
    expect(share.budgetOf('org_a', 0).leftMs).to.be.lessThan(full / 10);
    expect(share.budgetOf('org_b', 0).leftMs, 'of another one').to.equal(full);
    expect(share.budgetOf('org_a', 2000).leftMs).to.equal(full);
  });

  it('is for no organization more than a tenth of the time, however many webhooks it has', () => {
    const share = new EventLoopShare();
    let usedMs = 0;
    // 500 webhooks a second for a minute, each as long as it may be.
    for (let now = 0; now < 60_000; now += 2) {
      const { leftMs } = share.budgetOf('org_a', now);
      if (leftMs < 1) continue;
      usedMs += leftMs;
      share.used('org_a', leftMs, now);
    }
    expect(usedMs).to.be.within(5000, 6200);
  });
});
