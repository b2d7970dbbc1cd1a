// Cancelling the deliveries to a deleted destination, when a step takes too long.
import { expect } from 'chai';
import { cancelOfDeletedDestination } from '../../db/delivery/deletions.ts';
import { createPool } from '../../db/connections/pool.ts';
import { type HistoryOwner, makeOwner, storeEvent } from '../support/database/history.ts';
import { until } from '../support/until.ts';
import { useHistoryDatabase } from '../support/use-hookyard.ts';

describe('cancelling deliveries to a deleted destination', () => {
  const { database, pool } = useHistoryDatabase(1);
  let owner: HistoryOwner;
  beforeEach(async () => {
    await pool.query("delete from source_purges; delete from upkeep where kind = 'failure'");
    owner = await makeOwner(pool, 1, 1);
  });

  const firstRoute = ({ routes }: HistoryOwner) => {
    const [route] = routes;
    if (!route) throw new Error('there is no route');
    return route;
  };
  async function store(of: HistoryOwner, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let number = 0; number < count; number += 1) {
      const event = await storeEvent(pool, of, firstRoute(of), { receivedAt: new Date(), statuses: ['pending'] });
      ids.push(event.deliveries[0]?.id ?? '');
    }
    return ids;
  }
  /** Deliveries that a circuit holds, whose destination is gone. */
  async function holdForGone(of: HistoryOwner, deliveryIds: string[]): Promise<void> {
    await pool.query(
      `with held as (delete from outbox where delivery_id = any($1) returning *)
       insert into held_deliveries (route_id, delivery_id, organization_id, event_id, source_id, destination_id, priority, shard, has_workflow)
       select $2, delivery_id, organization_id, event_id, source_id, destination_id, priority, shard, false from held`,
      [deliveryIds, firstRoute(of).id],
    );
    await pool.query('delete from destinations where organization_id = $1', [of.organizationId]);
  }

  it('counts each of them when a step is made again in smaller ones', async () => {
    const other = await makeOwner(pool, 1, 1);
    const own = await store(owner, 2);
    const [locked = ''] = await store(other, 1);
    await holdForGone(owner, own);
    await holdForGone(other, [locked]);
    const impatient = createPool(database.databaseUrl, { max: 1, statementTimeoutMs: 1500, onError: () => {} });
    const holder = await pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select from deliveries where id = $1 for update', [locked]);
      const { rows: pids } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
      const step = cancelOfDeletedDestination(impatient);
      const waitingSince = async () => {
        const { rows } = await pool.query<{ since: string }>(
          `select query_start::text as since from pg_stat_activity where $1 = any(pg_blocking_pids(pid))`,
          [pids[0]?.pid],
        );
        return rows[0]?.since;
      };
      const first = await until('it to wait for the lock', waitingSince);
      await until('it to be made again', async () => {
        const since = await waitingSince();
        return since !== undefined && since !== first;
      });
      await holder.query('rollback');
      expect((await step)?.cancelled).to.equal(3);
    } finally {
      await holder.query('rollback');
      holder.release();
      await impatient.end();
    }
  });
});
