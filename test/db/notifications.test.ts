// Noting and claiming notifications, where order and concurrency matter.
import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import {
  claimNotifications,
  finishMail,
  freezeMail,
  type NotificationKind,
} from '../../db/notifications/notifications.ts';
import { inTransaction, type Pool, type Queryable } from '../../db/connections/pool.ts';
import { type OwnDatabase, ownDatabase } from '../support/own-database.ts';
import { until } from '../support/until.ts';

interface Outcome {
  route_id: string;
  primary_id: string;
  status: 'delivered' | 'failed';
  /** Seconds after a fixed time. */
  second: number;
}

describe('noting outcomes', () => {
  let database: OwnDatabase;
  let pool: Pool;
  before(async () => {
    // Of its own, so that no worker takes what is due.
    database = await ownDatabase('notifications', { connections: 6 });
    ({ pool } = database);
  });
  after(() => database.close());

  async function note(db: Queryable, ...outcomes: Outcome[]): Promise<string[]> {
    const rows = outcomes.map(({ second, ...outcome }) => ({
      ...outcome,
      organization_id: 'org_1',
      destination_id: outcome.primary_id,
      delivery_id: newId('dlv'),
      at: new Date(Date.UTC(2026, 10, 21, 10, 0, second)),
      on_failure: true,
      on_success: true,
      on_recovery: true,
    }));
    await db.query('select note_outcomes($1)', [JSON.stringify(rows)]);
    return rows.map((row) => row.delivery_id);
  }

  const outcome = (route_id: string, status: Outcome['status'], second: number, primary_id = 'dst_1'): Outcome => ({
    route_id,
    primary_id,
    status,
    second,
  });

  /** Notifications noted so far, by kind. */
  async function counts(routeId: string): Promise<Partial<Record<NotificationKind, number>>> {
    const { rows } = await pool.query<{ kind: NotificationKind; count: number }>(
      'select kind, count from route_notifications where route_id = $1',
      [routeId],
    );
    return Object.fromEntries(rows.map((row) => [row.kind, row.count]));
  }

  async function failing(routeId: string): Promise<{ destination_id: string; failures: number }[]> {
    const { rows } = await pool.query<{ destination_id: string; failures: number }>(
      'select destination_id, failures from failing_destinations where route_id = $1 order by 1',
      [routeId],
    );
    return rows;
  }

  it('lets the last outcome of a group decide whether a destination is failing', async () => {
    const [recovered, failed] = [newId('rte'), newId('rte')];
    await note(pool, outcome(recovered, 'delivered', 2), outcome(recovered, 'failed', 1));
    expect(await counts(recovered)).to.deep.equal({ failure: 1, success: 1, recovery: 1 });
    expect(await failing(recovered)).to.deep.equal([]);
    await note(pool, outcome(failed, 'delivered', 1), outcome(failed, 'failed', 2), outcome(failed, 'failed', 0));
    expect(await counts(failed)).to.deep.equal({ failure: 2, success: 1 });
    expect(await failing(failed)).to.deep.equal([{ destination_id: 'dst_1', failures: 2 }]);
  });

  it('keeps the destinations of a route apart', async () => {
    const routeId = newId('rte');
    await note(pool, outcome(routeId, 'failed', 1, 'dst_1'), outcome(routeId, 'failed', 1, 'dst_2'));
    await note(pool, outcome(routeId, 'failed', 2, 'dst_2'), outcome(routeId, 'delivered', 2, 'dst_1'));
    expect(await failing(routeId)).to.deep.equal([{ destination_id: 'dst_2', failures: 2 }]);
    expect(await counts(routeId)).to.include({ recovery: 1 });
  });

  it('holds the facts of the latest delivery, and what went before a recovery', async () => {
    const routeId = newId('rte');
    await note(pool, outcome(routeId, 'failed', 1), outcome(routeId, 'failed', 3));
    const [late] = await note(pool, outcome(routeId, 'delivered', 9), outcome(routeId, 'delivered', 5));
    const mail = await freezeMail(pool, { routeId, kind: 'recovery' });
    expect(mail).to.include({ count: 1 });
    expect(mail?.facts).to.include({ delivery_id: late, failures: 2 });
    expect(new Date(mail?.facts.failing_since ?? 0).getUTCSeconds()).to.equal(1);
    expect(mail?.facts).to.not.have.any.keys('on_failure', 'on_success', 'on_recovery');
  });

  it('lets exactly one of two successes at the same moment be the recovery', async () => {
    const routeId = newId('rte');
    await note(pool, outcome(routeId, 'failed', 1));
    let second: Promise<unknown> = Promise.resolve();
    await inTransaction(pool, async (first) => {
      await note(first, outcome(routeId, 'delivered', 2));
      const client = await pool.connect();
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      second = note(client, outcome(routeId, 'delivered', 2)).finally(() => client.release());
      await until('the second to wait for the first', async () => {
        const { rowCount } = await pool.query(
          `select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'`,
          [rows[0]?.pid],
        );
        return rowCount === 1;
      });
    });
    await second;
    expect(await counts(routeId)).to.deep.equal({ failure: 1, success: 2, recovery: 1 });
  });

  it('counts every delivery of many concurrent groups', async () => {
    const routes = [newId('rte'), newId('rte'), newId('rte')];
    const group = (turn: number) => routes.map((id) => outcome(id, turn % 2 === 0 ? 'failed' : 'delivered', turn));
    const shuffled = (turn: number) => (turn % 3 === 0 ? group(turn).reverse() : group(turn));
    await Promise.all(Array.from({ length: 40 }, (_, turn) => repeatedOnDeadlock(() => note(pool, ...shuffled(turn)))));
    for (const routeId of routes) expect(await counts(routeId)).to.include({ failure: 20, success: 20 });
  });

  it('claims each due notification for one worker, and again when nothing became of the claim', async () => {
    const routeIds = Array.from({ length: 12 }, () => newId('rte'));
    await note(pool, ...routeIds.map((routeId) => outcome(routeId, 'failed', 1)));
    const claims = await Promise.all([1, 2, 3, 4].map(() => claimNotifications(pool, 1000)));
    const mine = claims.flat().filter(({ routeId }) => routeIds.includes(routeId));
    expect(mine.map(({ routeId }) => routeId)).to.have.members(routeIds);
    expect(await claimedAgain(routeIds)).to.deep.equal([]);
    await pool.query(`update route_notifications set due_at = due_at - interval '1 minute' where route_id = any($1)`, [
      routeIds,
    ]);
    expect(await claimedAgain(routeIds)).to.have.members(routeIds);
  });

  async function claimedAgain(routeIds: string[]): Promise<string[]> {
    const claimed = await claimNotifications(pool, 1000);
    return claimed.map(({ routeId }) => routeId).filter((routeId) => routeIds.includes(routeId));
  }

  it('freezes a mail until it is finished: every try says the same, and what comes in waits for the next', async () => {
    const key = { routeId: newId('rte'), kind: 'failure' as const };
    await note(pool, outcome(key.routeId, 'failed', 1));
    const first = await freezeMail(pool, key);
    await note(pool, outcome(key.routeId, 'failed', 2), outcome(key.routeId, 'failed', 3));
    expect(await freezeMail(pool, key)).to.deep.equal(first);
    if (first === null) throw new Error('there is no mail');
    await finishMail(pool, key, first);
    await finishMail(pool, key, first);
    const second = await freezeMail(pool, key);
    expect(second).to.include({ count: 2 });
    await finishMail(pool, key, first);
    expect(await freezeMail(pool, key), 'ending the first again does not end the second').to.deep.equal(second);
  });
});

/** As the callers do: PostgreSQL ends one of two statements that wait for each other, and it is run again. */
async function repeatedOnDeadlock(run: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await run();
      return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === '40P01')) throw error;
    }
  }
}
