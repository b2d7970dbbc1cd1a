// How relays pace the starts of deliveries to a destination with a rate limit, straight on PostgreSQL: their attempts
// run in any worker.
import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import type { OutboxRow } from '../../db/hot-path/claim.ts';
import { reserveSlot } from '../../db/delivery/rate-limits.ts';
import { createPacing } from '../../worker/relay/round.ts';
import { ReplayDatabase } from '../support/database/replay-database.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-hookyard.ts';

/** One delivery every 100 ms. */
const PER_MINUTE = 600;
const STARTED = 60;
/** A start that nobody hears of counts for five seconds. */
const DEADLINE_MS = 20_000;

describe('the pace of a destination with a rate limit', () => {
  const db = useStarted(ReplayDatabase.make);
  beforeEach(() => db.renew());

  const row = () => ({ deliveryId: newId('dlv'), destinationId: db.destinationId }) as OutboxRow;
  const reserve = () => reserveSlot(db.pool, db.destinationId, PER_MINUTE, 30_000);

  it('is that of the limit when attempts run in other workers than where they were started', async () => {
    const relays = [1, 2, 3].map(() => createPacing(db.pool));
    let started = 0;
    await until(
      `${STARTED} to be started`,
      async () => {
        for (const relay of relays) {
          if (relay.waiting().length > 0) continue;
          for (const _each of await relay.pace([row(), row()], () => PER_MINUTE)) {
            started += 1;
            // Of the attempt in another worker.
            await reserve();
          }
        }
        return started >= STARTED;
      },
      DEADLINE_MS,
    );
  });

  it('starts no more than there are slots while none is reserved', async () => {
    await reserve();
    const relay = createPacing(db.pool);
    const start = async () => (await relay.pace([row(), row(), row()], () => PER_MINUTE)).length;
    const first = await until('a slot to be near', start);
    let others = 0;
    for (let look = 0; look < 20; look += 1) others += await start();
    expect(first + others, 'now, and within what a start takes').to.be.at.most(3);
    expect(relay.waiting()).to.deep.equal([db.destinationId]);
    expect(relay.nextInMs(), 'until the next slot is near').to.be.within(0, 1000);
    await until('that time to pass', () => relay.nextInMs() < 0);
    expect(relay.waiting()).to.deep.equal([]);
    expect(relay.nextInMs(), 'none waits').to.equal(Number.POSITIVE_INFINITY);
  });
});
