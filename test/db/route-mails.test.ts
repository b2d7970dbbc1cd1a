// Drafts of mails and the mails made of them, where order and concurrency matter. test/core/route-mails.test.ts has the
// rules.
import { expect } from 'chai';
import type { MailKind, RouteMail } from '../../core/messages/route-mails.ts';
import { newId } from '../../core/text/ids.ts';
import { inTransaction, type Queryable } from '../../db/connections/pool.ts';
import { claimMessages, finishMessage, loadMessage } from '../../db/messages/outbox.ts';
import { createRouteMails } from '../../db/messages/route-mails.ts';
import { insertRoute } from './fixtures.ts';
import { insertSource } from '../support/database/own-database.ts';
import { waitingForLocks } from '../support/database/row-lock.ts';
import { until } from '../support/until.ts';
import { useDatabase, useMade } from '../support/use-hookyard.ts';
import { execute, selectRows } from '../support/database/sql.ts';

interface Outcome {
  route_id: string;
  primary_id: string;
  status: 'delivered' | 'failed';
  /** Seconds after a fixed time. */
  second: number;
}

describe('mails of routes', () => {
  const { pool } = useDatabase('route_mails', { connections: 6 });
  const owner = useMade('a source', () => insertSource(pool));
  afterEach(() => pool.query('delete from routes'));

  const makeRoute = () =>
    insertRoute(pool, owner, ['dst_1', 'dst_2'], {
      ...{ notify_emails: 'team@ops.example', notify_on_failure: true },
      ...{ notify_on_success: true, notify_on_recovery: true },
    });

  async function note(db: Queryable, ...outcomes: Outcome[]): Promise<string[]> {
    const rows = outcomes.map(({ second, primary_id, ...outcome }) => {
      const at = new Date(Date.UTC(2026, 10, 21, 10, 0, second)).toISOString();
      const facts = { delivery_id: newId('dlv'), destination_id: primary_id, at };
      return {
        ...{ ...outcome, primary_id, at, facts, organization_id: owner.organizationId },
        ...{ on_failure: true, on_success: true, on_recovery: true },
      };
    });
    await db.query('select note_outcomes($1)', [JSON.stringify(rows)]);
    return rows.map(({ facts }) => facts.delivery_id);
  }

  const outcome = (route_id: string, status: Outcome['status'], second: number, primary_id = 'dst_1'): Outcome => ({
    route_id,
    primary_id,
    status,
    second,
  });

  /** Deliveries in the drafts of a route, by kind. */
  async function drafts(routeId: string): Promise<Partial<Record<MailKind, number>>> {
    const rows = await selectRows<{ kind: MailKind; count: number }>(pool)`select kind, sum(count)::int as count
      from messages where route_id = ${routeId} and content is null group by kind`;
    return Object.fromEntries(rows.map((row) => [row.kind, row.count]));
  }

  /** What a route's mails say that have been made, by kind. */
  async function mails(routeId: string): Promise<Partial<Record<MailKind, RouteMail>>> {
    await createRouteMails(pool);
    const rows = await selectRows<{ kind: MailKind; content: RouteMail }>(pool)`select kind, content from messages
      where route_id = ${routeId} and content is not null and sent_at is null`;
    return Object.fromEntries(rows.map((row) => [row.kind, row.content]));
  }

  it('are made of what the last outcome of a group leaves behind', async () => {
    const [recovered, failed] = [await makeRoute(), await makeRoute()];
    await note(pool, outcome(recovered, 'delivered', 2), outcome(recovered, 'failed', 1));
    expect(await mails(recovered)).to.have.all.keys('failure', 'success', 'recovery');
    expect(await drafts(recovered)).to.deep.equal({});
    await note(pool, outcome(failed, 'delivered', 1), outcome(failed, 'failed', 2), outcome(failed, 'failed', 0));
    const made = await mails(failed);
    expect(made).to.have.all.keys('failure', 'success');
    expect(made.failure?.count).to.equal(2);
    expect(await drafts(failed)).to.deep.equal({ recovery: 2 });
  });

  it('hold the facts of the latest delivery, and what went before a recovery', async () => {
    const routeId = await makeRoute();
    await note(pool, outcome(routeId, 'failed', 1), outcome(routeId, 'failed', 3));
    const [late] = await note(pool, outcome(routeId, 'delivered', 9), outcome(routeId, 'delivered', 5));
    const { recovery } = await mails(routeId);
    expect(recovery?.facts).to.include({ delivery_id: late, circuit_open: false });
    expect(recovery?.failedBefore?.count).to.equal(2);
    expect(new Date(recovery?.failedBefore?.since ?? 0).getUTCSeconds()).to.equal(1);
  });

  it('tell of no recovery while the circuit is open, but of the next success', async () => {
    const routeId = await makeRoute();
    await note(pool, outcome(routeId, 'failed', 1));
    await execute(pool)`insert into circuits (route_id, organization_id, version, state)
      values (${routeId}, ${owner.organizationId}, 1, 'half_open')`;
    await note(pool, outcome(routeId, 'delivered', 2));
    expect(await mails(routeId)).to.not.have.property('recovery');
    await pool.query(`update circuits set state = 'closed' where route_id = $1`, [routeId]);
    expect(await mails(routeId)).to.not.have.property('recovery');
    await note(pool, outcome(routeId, 'delivered', 3));
    expect(await mails(routeId)).to.have.property('recovery');
  });

  it('take two successes at the same moment for one recovery', async () => {
    const routeId = await makeRoute();
    await note(pool, outcome(routeId, 'failed', 1));
    let second: Promise<unknown> = Promise.resolve();
    await inTransaction(pool, async (first) => {
      await note(first, outcome(routeId, 'delivered', 2));
      second = note(pool, outcome(routeId, 'delivered', 2));
      await until('the second to wait for the first', async () => (await waitingForLocks(pool)) === 1);
    });
    await second;
    const made = await mails(routeId);
    expect([made.failure?.count, made.success?.count, made.recovery?.count]).to.deep.equal([1, 2, 1]);
    expect(await drafts(routeId)).to.deep.equal({});
  });

  it('count every delivery of many concurrent groups', async () => {
    const routes = [await makeRoute(), await makeRoute(), await makeRoute()];
    const group = (turn: number) => routes.map((id) => outcome(id, turn % 2 === 0 ? 'failed' : 'delivered', turn));
    const shuffled = (turn: number) => (turn % 3 === 0 ? group(turn).reverse() : group(turn));
    await Promise.all(Array.from({ length: 40 }, (_, turn) => repeatedOnDeadlock(() => note(pool, ...shuffled(turn)))));
    for (const routeId of routes) expect(await drafts(routeId)).to.include({ failure: 20, success: 20 });
  });

  it('are claimed by one worker each, and again when nothing became of the claim', async () => {
    const routeIds = await Promise.all(Array.from({ length: 12 }, makeRoute));
    await note(pool, ...routeIds.map((routeId) => outcome(routeId, 'failed', 1)));
    await Promise.all([1, 2, 3, 4].map(() => createRouteMails(pool)));
    const claims = await Promise.all([1, 2, 3, 4].map(() => claimMessages(pool, 1000)));
    expect(claims.flatMap(({ due }) => due.map(({ routeId }) => routeId))).to.have.members(routeIds);
    expect((await claimMessages(pool, 1000)).due).to.deep.equal([]);
    await pool.query(`update messages set due_at = due_at - interval '1 minute' where content is not null`);
    const again = await claimMessages(pool, 1000);
    expect(again.due.map(({ routeId }) => routeId)).to.have.members(routeIds);
  });

  it('say the same in every try, and what comes in waits for the next', async () => {
    const routeId = await makeRoute();
    const [deliveryId] = await note(pool, outcome(routeId, 'failed', 1));
    await createRouteMails(pool);
    const [claimed] = (await claimMessages(pool, 10)).due;
    const key = { organizationId: owner.organizationId, messageId: claimed?.messageId ?? '' };
    await note(pool, outcome(routeId, 'failed', 2), outcome(routeId, 'failed', 3));
    await createRouteMails(pool);
    expect(await loadMessage(pool, key)).to.have.nested.property('mail.facts.delivery_id', deliveryId);
    await finishMessage(pool, key, 'sent');
    await finishMessage(pool, key, 'sent');
    expect(await loadMessage(pool, key)).to.equal(null);
    await pool.query(`update messages set due_at = now() - interval '1 second' where content is null`);
    expect(await mails(routeId), 'five minutes after the last').to.deep.equal({});
    await execute(pool)`update messages
      set sent_at = sent_at - interval '5 minutes', due_at = now() - interval '1 second'`;
    expect((await mails(routeId)).failure).to.include({ count: 2 });
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
