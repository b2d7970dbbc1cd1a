// History that was settled before events were counted by whether a route took them.
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { applyMigrations } from '../../db/schema/apply-migrations.ts';
import { idFloor, newId } from '../../core/ids.ts';
import { settleHistory } from '../../db/history/lists/settle.ts';
import { DAY_MS, ensurePartitions } from '../../db/retention/partitions.ts';
import { createPool, inSnapshot, inTransaction, type Pool } from '../../db/connections/pool.ts';
import { createDatabase, type CreatedDatabase, insertSource } from '../support/own-database.ts';
import { agrees } from '../support/recount.ts';
import { until } from '../support/until.ts';

const HOUR = 3_600_000;
const MIGRATIONS = readdirSync(new URL('../../db/migrations', import.meta.url))
  .map((name) => name.replace('.sql', ''))
  .toSorted();
const MIGRATION = MIGRATIONS.find((name) => name.endsWith('-routed-events')) ?? '';
const BEFORE = MIGRATIONS.slice(0, MIGRATIONS.indexOf(MIGRATION));

describe('the lists of events that were settled by an earlier release', () => {
  let database: CreatedDatabase;
  let pool: Pool;
  before(async () => {
    database = await createDatabase(`routed_${newId('req').slice(-10)}`);
    // Partitions are made by its functions.
    const functions = MIGRATIONS.filter((name) => name.endsWith('-partition-functions'));
    await applyMigrations(database.databaseUrl, [...BEFORE, ...functions]);
    pool = createPool(database.databaseUrl, { max: 3, statementTimeoutMs: 20_000, onError: () => {} });
    await inTransaction(pool, async (db) => {
      for (let day = 0; day < 3; day += 1) await ensurePartitions(db, Date.now() - day * DAY_MS);
      // Making indexes reads a partition too, and PostgreSQL counts that up to ten seconds later.
      await db.query('select pg_stat_force_next_flush()');
    });
  });
  after(async () => {
    await pool.end();
    await database.drop();
  });

  /** Each partition of events, oldest first, and how often it was read as a whole. */
  const reads = async () =>
    (
      await pool.query<{ name: string; reads: number }>(
        `select relid::regclass::text as name, seq_scan::int as reads from pg_stat_user_tables
         where relid in (select inhrelid from pg_inherits where inhparent = 'events'::regclass) order by relname`,
      )
    ).rows;

  /** The migration itself: it looks at no partition that cannot be settled, and keeps lists waiting only after that. */
  async function listsAreReadMeanwhile(): Promise<void> {
    const before = await reads();
    const [first, last] = [before[0], before.at(-1)];
    let migration: Promise<unknown> | undefined;
    await inTransaction(pool, async (db) => {
      await db.query(`lock table ${first?.name} in access exclusive mode`);
      const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
      migration = applyMigrations(database.databaseUrl, [MIGRATION]);
      await until('the migration reads the events', async () => {
        const waiting = 'select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))';
        return (await pool.query(waiting, [rows[0]?.pid])).rowCount !== 0;
      });
      await db.query(`set local lock_timeout = '3s'`);
      await db.query('select count(*) from history_counts, history_changes');
    });
    await migration;
    const after = await until('the reads are counted', async () => {
      const now = await reads();
      return (now[0]?.reads ?? 0) > (first?.reads ?? 0) && now;
    });
    expect(after.at(-1)).to.deep.equal(last);
  }

  it('tell what no route took from the rest, and continue doing so', async () => {
    const { organizationId, sourceId } = await insertSource(pool);
    // Some are newer: the new release settles them.
    const settledBefore = Math.floor(Date.now() / HOUR) * HOUR - 4 * HOUR;
    const ids = Array.from({ length: 60 }, (_, n) => newId('evt', settledBefore + 3 * HOUR - n * HOUR * 0.7));
    await pool.query(
      `insert into events (id, organization_id, source_id, status, routed, method, query, headers, payload_size,
                           payload_hash, deliveries_count, received_at, validated_at, queued_at)
       select id, $2, $3, 'delivered', n % 3 <> 0, 'POST', '', '{}', 0, '', 0, now(), now(), now()
       from unnest($1::text[]) with ordinality as i(id, n)`,
      [ids, organizationId, sourceId],
    );
    await pool.query('delete from history_changes');
    await pool.query(
      `insert into history_counts (organization_id, kind, span, start, source_id, status, total)
       select organization_id, 'event', span.name, date_bin(span.width, id_time(id), 'epoch'), source_id, status, count(*)
       from events cross join (values ('hour', interval '1 hour'), ('source-day', interval '1 day')) as span(name, width)
       where id < $1 group by 1, 2, 3, 4, 5, 6`,
      [idFloor('evt', settledBefore)],
    );
    await pool.query('update history_progress set settled_before = $1', [new Date(settledBefore)]);
    // Noted, and not folded in when the new release comes.
    await pool.query('delete from events where id = any($1::text[])', [ids.slice(40, 44)]);

    await listsAreReadMeanwhile();
    await applyMigrations(database.databaseUrl);
    const allAgree = () =>
      inSnapshot(pool, async (db) => {
        for (const where of [{}, { routed: false }, { routed: true }, { source_id: sourceId, routed: false }]) {
          await agrees(db, { kind: 'event', organizationId, where }, { limit: 5, offset: 3 });
          const range = { from: new Date(settledBefore - 29 * HOUR - 1), to: new Date(settledBefore - HOUR / 2) };
          await agrees(db, { kind: 'event', organizationId, where, ...range }, { limit: 50, offset: 0 });
        }
      });
    await allAgree();
    await pool.query('delete from events where id = any($1::text[])', [ids.slice(20, 24)]);
    await allAgree();
    while ((await settleHistory(pool, 5000))?.caughtUp === false);
    await allAgree();
  });
});
