// The relay hears of new deliveries at their commit; should it not, it polls.
import { expect } from 'chai';
import { pino } from 'pino';
import { createEventWriter } from '../../api/ingest/event-writer.ts';
import { listenForDeliveries } from '../../db/hot-path/outbox-listener.ts';
import { type NewEvent, storeEvents } from '../../db/hot-path/store-events.ts';
import { createReplays } from '../../db/replay/replay.ts';
import { WAKE_CIRCUITS } from '../../db/sql/rules.ts';
import { routedEvent } from '../support/database/new-events.ts';
import { ReplayDatabase } from '../support/database/replay-database.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-hookyard.ts';
import { selectRows } from '../support/database/sql.ts';

describe('news of the outbox', () => {
  const db = useStarted(ReplayDatabase.make);
  let [news, others] = [0, 0];
  useStarted(async () => {
    await db.renew();
    return listenForDeliveries(db.databaseUrl, {
      deliveries() {
        news += 1;
      },
      due() {
        others += 1;
      },
      workers() {},
      log: pino({ level: 'silent' }),
    });
  });
  before(() => until('the listener to be connected', () => news > 0));

  /** How much news of deliveries comes before that of a later commit: it comes in the order of commits. */
  async function newsOf(work: () => Promise<unknown>): Promise<number> {
    const [before, othersBefore] = [news, others];
    await work();
    await db.pool.query(`select ${WAKE_CIRCUITS}`);
    await until('the later news', () => others > othersBefore);
    return news - before;
  }

  const event = (fields: Partial<NewEvent> = {}) => routedEvent(db.pool, db, fields);
  const newsOfIngest = (fields: Partial<NewEvent> = {}) =>
    newsOf(async () => {
      const writer = createEventWriter(db.pool);
      expect(await writer.write(await event(fields))).to.deep.equal({ kind: 'stored' });
      await writer.end();
    });

  it('comes with an event that is routed, and with its replay', async () => {
    expect(await newsOfIngest()).to.equal(1);
    const eventIds = await db.storeEvents({});
    expect(await newsOf(() => createReplays(db.pool, { ...db, eventIds }))).to.equal(1);
  });

  it('does not come with an event that goes nowhere', async () => {
    expect(await newsOfIngest({ deliveries: [] })).to.equal(0);
  });

  it('does not come from the statement that stores, which would hold up those of others until its commit', async () => {
    const stored = await event();
    expect(await newsOf(() => storeEvents(db.pool, [stored]))).to.equal(0);
  });

  it('comes again after the connection was lost', async () => {
    const rows = await selectRows<{ pid: number }>(db.pool)`select pid from pg_stat_activity
      where datname = current_database() and query like 'set synchronous_commit = off; listen%'
        and pg_terminate_backend(pid)`;
    expect(rows).to.not.have.length(0);
    const before = news;
    await until('the listener to be connected again', () => news > before);
    expect(await newsOfIngest()).to.equal(1);
  });
});
