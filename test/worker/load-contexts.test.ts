import { expect } from 'chai';
import { createContextLoader } from '../../activities/attempt/results.ts';
import { isRefusedValue } from '../../db/connections/database-errors.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { DAY_MS, partitionName } from '../../db/sql/partitions.ts';
import { firstRoute, makeOwner, type StoredEvent, storeEvent } from '../support/database/history.ts';
import { useHistoryDatabase } from '../support/use-hookyard.ts';

const ROLE = 'hookyard_test_reader';

describe('loading deliveries together', () => {
  const { database } = useHistoryDatabase(1);
  let pool: Pool;
  before(async () => {
    await database.pool.query(`create role ${ROLE}; grant select on all tables in schema public to ${ROLE}`);
    const url = new URL(database.databaseUrl);
    url.searchParams.set('options', `-c role=${ROLE}`);
    pool = createPool(url.href, { max: 2, statementTimeoutMs: 10_000, onError: () => {} });
  });
  const requestOf = ({ id, organizationId, deliveries }: StoredEvent) => ({
    ...{ organizationId, deliveryId: deliveries[0]?.id ?? '', eventId: id, attempt: 1, retryDelay: null },
  });
  // Inside, so that it runs before the database goes.
  const endRole = async () => {
    await pool.end();
    await database.pool.query(`drop owned by ${ROLE}; drop role ${ROLE}`);
  };

  describe('as a role that may read', () => {
    after(endRole);

    it('of which PostgreSQL refuses one gives the others what they need', async () => {
      const owner = await makeOwner(database.pool, 1, 1);
      const route = firstRoute(owner);
      const stored = await Promise.all(
        Array.from({ length: 5 }, () =>
          storeEvent(database.pool, owner, route, { receivedAt: new Date(), statuses: ['pending'] }),
        ),
      );
      const requests = stored.map(requestOf);
      // Reading this row divides by zero (SQLSTATE 22012). Attempts name the partition of the day, whose policies are
      // its own.
      const today = partitionName('deliveries', Math.floor(Date.now() / DAY_MS));
      await database.pool.query(
        `alter table ${today} enable row level security;
       create policy trap on ${today} using (case when id = '${requests[2]?.deliveryId}' then 1 / (length(id) - length(id)) = 0 else true end)`,
      );
      const loader = createContextLoader(pool);
      const loaded = await Promise.allSettled(requests.map((request) => loader.submit(request)));
      const expected = ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'];
      expect(loaded.map(({ status }) => status)).to.deep.equal(expected);
      for (const [index, result] of loaded.entries()) {
        if (result.status === 'fulfilled') expect(result.value?.deliveryId).to.equal(requests[index]?.deliveryId);
        else expect(isRefusedValue(result.reason)).to.equal(true);
      }
      await database.pool.query(`drop policy trap on ${today}; alter table ${today} disable row level security`);
    });

    it('does not let a small payload wait for the large one of another organization', async () => {
      const stored = await Promise.all(
        ['x'.repeat(200_000), '{}'].map(async (body) => {
          const owner = await makeOwner(database.pool, 1, 1);
          const pending = { receivedAt: new Date(), statuses: ['pending' as const], body };
          return { event: await storeEvent(database.pool, owner, firstRoute(owner), pending), body };
        }),
      );
      const [large, small] = stored.map(({ event }) => requestOf(event));
      if (!large || !small) throw new Error('two were stored');
      // Reading the large one takes as long as the test holds a lock.
      const holder = await database.pool.connect();
      try {
        await holder.query('select pg_advisory_lock(4712)');
        await database.pool.query(
          `create function wait_for_test() returns boolean language plpgsql as $$
         begin perform pg_advisory_xact_lock_shared(4712); return true; end $$;
         create policy slow on event_payloads as restrictive using (case when event_id = '${large.eventId}' then wait_for_test() else true end)`,
        );
        const loader = createContextLoader(pool);
        const isLoaded = { large: false };
        const context = await loader.submit(large);
        expect(context).to.include({ isBodyApart: true, payloadSize: 200_000, body: null });
        if (!context) throw new Error('it was stored');
        const loading = loader.loadBody(context).finally(() => {
          isLoaded.large = true;
        });
        expect((await loader.submit(small))?.body?.toString()).to.equal('{}');
        expect(isLoaded.large).to.equal(false);
        await holder.query('select pg_advisory_unlock(4712)');
        expect((await loading)?.toString()).to.equal(stored[0]?.body);
      } finally {
        await holder.query('select pg_advisory_unlock_all()');
        holder.release();
      }
    });
  });
});
