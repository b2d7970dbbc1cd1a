// Counters of metrics tell what was committed: what a transaction did and took back is not counted.
import { expect } from 'chai';
import { openError, ownWords } from '../../core/text/error-summary.ts';
import { deliveriesFinished, circuitTransitions } from '../../core/metrics/deliveries.ts';
import { resetCircuit } from '../../db/circuits/circuits.ts';
import { cancelDeliveries } from '../../db/delivery/delivery-commands.ts';
import { inTransaction, type Queryable } from '../../db/connections/pool.ts';
import { type HistoryOwner, makeOwner, storeEvent, firstRoute } from '../support/database/history.ts';
import { useHistoryDatabase } from '../support/use-hookyard.ts';

const REASON = openError(ownWords`a test`);

const finished = (status: string) =>
  deliveriesFinished.points().find(({ labels }) => labels.status === status)?.value ?? 0;
const closed = () => circuitTransitions.points().find(({ labels }) => labels.to === 'closed')?.value ?? 0;

describe('Counters', () => {
  const { pool } = useHistoryDatabase(1);
  let owner: HistoryOwner;
  beforeEach(async () => {
    owner = await makeOwner(pool, 1, 1);
  });

  async function openDelivery(): Promise<{ id: string; routeId: string }> {
    const route = firstRoute(owner);
    const event = await storeEvent(pool, owner, route, { receivedAt: new Date(), statuses: ['pending'] });
    return { id: event.deliveries[0]?.id ?? '', routeId: route.id };
  }

  async function openCircuit(routeId: string): Promise<void> {
    await pool.query(
      `insert into circuits (route_id, organization_id, state, opened_at, version) values ($1, $2, 'open', now(), 1)`,
      [routeId, owner.organizationId],
    );
  }

  /** Something that is counted, made ready to be done. */
  const actions: [what: string, counter: () => number, prepare: () => Promise<(db: Queryable) => Promise<unknown>>][] =
    [
      [
        'a cancelled delivery',
        () => finished('cancelled'),
        async () => {
          const { id } = await openDelivery();
          const { organizationId } = owner;
          return (db) => cancelDeliveries(db, { organizationId, deliveryIds: [id], reason: REASON });
        },
      ],
      [
        'a circuit that is closed',
        closed,
        async () => {
          const routeId = owner.routes[0]?.id ?? '';
          await openCircuit(routeId);
          return (db) => resetCircuit(db, routeId);
        },
      ],
    ];

  for (const [what, counter, prepare] of actions) {
    it(`count ${what} with the commit, and not when it is rolled back`, async () => {
      const before = counter();
      const act = await prepare();
      const rolledBack = new Error('rolled back');
      const failed = await inTransaction(pool, async (db) => {
        await act(db);
        throw rolledBack;
      }).catch((error: unknown) => error);
      expect(failed).to.equal(rolledBack);
      expect(counter(), 'after a rollback').to.equal(before);
      await inTransaction(pool, async (db) => {
        await act(db);
        expect(counter(), 'before the commit').to.equal(before);
      });
      expect(counter(), 'after the commit').to.equal(before + 1);
    });

    it(`count ${what} at once outside of a transaction`, async () => {
      const before = counter();
      const act = await prepare();
      await act(pool);
      expect(counter()).to.equal(before + 1);
    });
  }
});
