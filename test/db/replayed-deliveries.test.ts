// Which deliveries were replayed: told by the rows themselves, with a look at replays only where these leave it open.
import { expect } from 'chai';
import { openError, ownWords } from '../../core/text/error-summary.ts';
import { inSnapshot } from '../../db/connections/pool.ts';
import { endDeliveries } from '../../db/delivery/delivery-commands.ts';
import { type DeliveryFilter, deliverySelection, listDeliveries } from '../../db/history/deliveries.ts';
import { findPart } from '../../db/history/search.ts';
import { createReplays } from '../../db/replay/replay.ts';
import {
  firstRoute,
  type HistoryOwner,
  makeOwner,
  recordOutcome,
  type StoredEvent,
  storeEvent,
} from '../support/database/history.ts';
import { useHistoryDatabase } from '../support/use-hookyard.ts';

const HOUR = 3_600_000;
const MANY = 20;
const PAGE = { limit: 20, offset: 0 };

describe('Deliveries that were replayed', () => {
  const { pool } = useHistoryDatabase(3);
  let owner: HistoryOwner;
  beforeEach(async () => {
    owner = await makeOwner(pool, 1, 1);
  });

  /** An event whose delivery has failed. */
  async function failed(): Promise<StoredEvent> {
    const receivedAt = new Date(Date.now() - 50 * HOUR);
    const event = await storeEvent(pool, owner, firstRoute(owner), { receivedAt, statuses: ['pending'] });
    for (const delivery of event.deliveries) await recordOutcome(pool, event, delivery, { status: 'failed' });
    return event;
  }
  const replay = (events: StoredEvent[]) =>
    createReplays(pool, { organizationId: owner.organizationId, eventIds: events.map(({ id }) => id) });
  const idsOf = (event: StoredEvent) => event.deliveries.map(({ id }) => id);
  const found = async (filter: DeliveryFilter) =>
    (await listDeliveries(pool, owner.organizationId, filter, PAGE)).deliveries.map(({ id }) => id);

  it('are not those whose replay was skipped, because their destination was disabled meanwhile', async () => {
    const [skipped, replayed] = [await failed(), await failed()];
    const { deliveries } = await replay([skipped]);
    await replay([replayed]);
    await endDeliveries(pool, 'skipped', {
      organizationId: owner.organizationId,
      deliveryIds: deliveries.map(({ id }) => id),
      reason: openError(ownWords`The destination is disabled`),
    });
    for (const status of [['failed'], ['failed', 'failed_over'], ['failed', 'delivered']]) {
      expect(await found({ status, replayed: false })).to.deep.equal(idsOf(skipped));
      expect(await found({ status, replayed: true })).to.deep.equal(idsOf(replayed));
    }
  });

  it('are told without a look at the replays of each', async () => {
    const events = [];
    for (let n = 0; n < MANY; n += 1) events.push(await failed());
    await replay(events);
    const open = await failed();
    const selection = deliverySelection(owner.organizationId, { status: ['failed'], replayed: false });
    await inSnapshot(pool, async (db) => {
      // A look at a replay reads its route.
      const looks = async () => {
        const { rows } = await db.query<{ looks: number }>(
          `select (idx_scan + seq_scan)::int as looks from pg_stat_xact_user_tables where relname = 'routes'`,
        );
        return rows[0]?.looks ?? 0;
      };
      const before = await looks();
      const { ids, total } = await findPart(db, selection, PAGE, 1000);
      expect([ids, total]).to.deep.equal([idsOf(open), 1]);
      expect((await looks()) - before).to.equal(0);
    });
  });
});
