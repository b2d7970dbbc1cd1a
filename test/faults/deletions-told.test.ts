// What is told of deletions in the background: how much was removed and cancelled, and what has failed.
import { Writable } from 'node:stream';
import { expect } from 'chai';
import pino from 'pino';
import { finishDeletions } from '../../activities/deletions.ts';
import { cancelOfDeletedDestination } from '../../db/delivery/deleted-destinations.ts';
import { deleteSource } from '../../db/delivery/delivery-commands.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { type HistoryDatabase, type HistoryOwner, historyDatabase, makeOwner, storeEvent } from '../support/history.ts';
import { until } from '../support/until.ts';

const PROGRESS = 'a deleted source is being removed';
const CANCELLED = 'deliveries to a deleted destination were cancelled';

describe('what is told of deletions', function () {
  let database: HistoryDatabase;
  let pool: Pool;
  let owner: HistoryOwner;
  let lines: { msg: string; eventsRemoved?: number; cancelled?: number }[];
  const log = pino(
    new Writable({
      write(line, _encoding, done) {
        lines.push(JSON.parse(String(line)));
        done();
      },
    }),
  );
  const told = (message: string) => lines.filter(({ msg }) => msg === message);

  before(async () => {
    database = await historyDatabase(1);
    pool = database.pool;
  });
  after(() => database.close());
  beforeEach(async () => {
    lines = [];
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

  it('is nothing of a source that had no events but its end', async () => {
    await deleteSource(pool, owner.organizationId, firstRoute(owner).sourceId);
    expect(await finishDeletions(pool, log)).to.equal(false);
    expect(told(PROGRESS)).to.deep.equal([]);
  });

  it('is the progress of a large one, however many events a step removes', async () => {
    await store(owner, 3);
    await deleteSource(pool, owner.organizationId, firstRoute(owner).sourceId);
    await pool.query('update source_purges set events_removed = 99998');
    expect(await finishDeletions(pool, log)).to.equal(false);
    expect(told(PROGRESS).map(({ eventsRemoved }) => eventsRemoved)).to.deep.equal([100_001]);
  });

  it('is that deliveries were cancelled only when some were', async () => {
    const deliveryIds = await store(owner, 2);
    await holdForGone(owner, deliveryIds);
    await pool.query(`update deliveries set status = 'delivered', finished_at = now() where id = any($1)`, [
      deliveryIds,
    ]);
    expect(await finishDeletions(pool, log)).to.equal(false);
    expect(told(CANCELLED)).to.deep.equal([]);
    expect((await pool.query('select from held_deliveries')).rowCount).to.equal(0);
  });

  it('is each cancelled delivery, when a step takes too long and is made again in smaller ones', async () => {
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

  it('is what has failed, and it is counted, although another deletion takes all rounds for days', async () => {
    await holdForGone(owner, await store(owner, 1));
    const other = await makeOwner(pool, 1, 1);
    await deleteSource(pool, other.organizationId, firstRoute(other).sourceId);
    await pool.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused by a test'; end $$;
       create trigger refuse before update on deliveries for each row when (old.organization_id = '${owner.organizationId}')
       execute function refuse();
       create function never_empty() returns trigger language plpgsql as $$ begin new.emptied_at := null; return new; end $$;
       create trigger never_empty before update on source_purges for each row execute function never_empty()`,
    );
    try {
      expect(await finishDeletions(pool, log)).to.equal(true);
      const { rows } = await pool.query("select part, total::int, last_error from upkeep where kind = 'failure'");
      expect(rows).to.have.length(1);
      expect(rows[0]).to.include({ part: 'deletions', total: 1 });
      expect(rows[0].last_error).to.include('refused by a test');
    } finally {
      await pool.query(
        'drop trigger refuse on deliveries; drop function refuse(); drop trigger never_empty on source_purges; drop function never_empty()',
      );
    }
  });
});
