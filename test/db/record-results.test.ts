// Recording results under concurrency: no total of an event may be lost, whatever plan PostgreSQL has chosen.
import { expect } from 'chai';
import type { PoolClient } from 'pg';
import { newId } from '../../core/text/ids.ts';
import { loadAttempts } from '../../db/hot-path/load-attempts.ts';
import { type AttemptResult, recordResults } from '../../db/hot-path/record-results.ts';
import { cancelDeliveries, DESTINATION_DELETED } from '../../db/delivery/delivery-commands.ts';
import { recordWritten } from '../../db/warehouse/members.ts';
import { migrate } from '../../db/schema/migrate.ts';
import { DAY_MS, ensurePartitions, partitionName } from '../../db/sql/partitions.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';

const BETWEEN = 2000;
const ORGANIZATION = newId('org');
const BATCH = newId('bat');
// Events of today are recorded by a statement of their day, older ones by one for all days.
const TODAY = Date.now();
const LONG_AGO = TODAY - 40 * DAY_MS;

interface OneDelivery {
  eventId: string;
  deliveryId: string;
}

describe('recording results', () => {
  let pool: Pool;
  before(async () => {
    const { databaseUrl } = stackAddresses();
    await migrate(databaseUrl);
    pool = createPool(databaseUrl, { max: 4, statementTimeoutMs: 20_000, onError: () => {} });
    for (const madeAt of [TODAY, LONG_AGO]) await ensurePartitions(pool, madeAt);
  });
  after(() => pool.end());

  for (const mode of ['force_generic_plan', 'force_custom_plan', 'auto']) {
    for (const [age, madeAt] of [
      ['of today', TODAY],
      ['from long ago', LONG_AGO],
    ] as const) {
      it(`counts both of two deliveries of an event ${age} that finish at the same moment (${mode})`, async () => {
        const { eventId, deliveryIds } = await eventWithDeliveries(2, madeAt);
        const [first, second] = [await connect(mode), await connect(mode)];
        try {
          await first.query('begin');
          await recordResults(first, [success(eventId, deliveryIds[0] ?? '')]);
          const recording = recordResults(second, [success(eventId, deliveryIds[1] ?? '')]);
          await until('the second to wait for the first', () => waitsForLock(second));
          await first.query('commit');
          expect([...(await recording).keys()]).to.deep.equal([deliveryIds[1]]);
        } finally {
          for (const client of [first, second]) client.release(true);
        }
        expect(await totals(eventId)).to.deep.equal({ status: 'delivered', deliveries_succeeded: 2 });
      });
    }
  }

  const deeds: Record<string, (client: PoolClient, group: OneDelivery[]) => Promise<{ length: number }>> = {
    'the results of attempts': async (client, group) => [
      ...(await recordResults(
        client,
        group.map(({ eventId, deliveryId }) => success(eventId, deliveryId)),
      )),
    ],
    'a file that was written': (client, group) =>
      recordWritten(client, {
        batchId: BATCH,
        members: group,
        attempt: { statusCode: 200, latency: 5, latencyClass: 5, startedAt: new Date(), completedAt: new Date() },
      }),
    'a cancellation': (client, group) =>
      cancelDeliveries(client, {
        organizationId: ORGANIZATION,
        deliveryIds: group.map(({ deliveryId }) => deliveryId),
        reason: DESTINATION_DELETED,
      }),
  };
  const joins = ['hashjoin', 'mergejoin', 'nestloop'];

  // A hash join of results and files does not keep to it: what a deadlock error has rolled back is recorded again.
  for (const [deed, take] of Object.entries(deeds)) {
    for (const [age, madeAt] of [
      ['of today', TODAY],
      ['from long ago', LONG_AGO],
    ] as const) {
      for (const join of ['mergejoin', 'nestloop', ...(deed === 'a cancellation' ? ['hashjoin'] : [])]) {
        it(`takes the events ${age} of ${deed} in the order of their ids, as pages of replays do (${join})`, async () => {
          const events = await Promise.all(Array.from({ length: 12 }, () => eventWithDeliveries(1, madeAt)));
          const ids = events.map(({ eventId }) => eventId).sort();
          // An event that was changed lies behind the others.
          for (const id of ids.toReversed()) await pool.query('update events set routed = true where id = $1', [id]);
          const [page, group] = [await connect('auto'), await connect('force_generic_plan')];
          for (const other of joins) if (other !== join) await group.query(`set enable_${other} = off`);
          // Else the plan of results may happen to sort by events.
          if (join === 'nestloop') await group.query('set enable_sort = off');
          const lock = (some: string[]) =>
            page.query('select id from events where id = any($1::text[]) order by id for update', [some]);
          try {
            await page.query('begin');
            await lock(ids.slice(0, 1));
            const taking = take(
              group,
              events.map(({ eventId, deliveryIds: [deliveryId = ''] }) => ({ eventId, deliveryId })),
            );
            await until('the group to wait for the page', () => waitsForLock(group));
            const locking = lock(ids.slice(1));
            const [, taken] = await Promise.all([locking.then(() => page.query('commit')), taking]);
            expect(taken.length).to.equal(events.length);
          } finally {
            for (const client of [page, group]) client.release(true);
          }
        });
      }
    }
  }

  it('records results of events of several days together', async () => {
    const events = [await eventWithDeliveries(1), await eventWithDeliveries(1, LONG_AGO)];
    const changed = await recordResults(
      pool,
      events.map(({ eventId, deliveryIds: [deliveryId = ''] }) => success(eventId, deliveryId)),
    );
    expect(changed.size).to.equal(2);
    for (const { eventId } of events) {
      expect(await totals(eventId)).to.deep.equal({ status: 'delivered', deliveries_succeeded: 1 });
    }
  });

  it('opens no partition of events but that of their day, however many there are', async () => {
    const { eventId, deliveryIds } = await eventWithDeliveries(1);
    const client = await connect('force_generic_plan');
    try {
      await client.query('begin');
      await recordResults(client, [success(eventId, deliveryIds[0] ?? '')]);
      const { rows } = await client.query<{ name: string }>(
        `select c.relname as name from pg_locks l join pg_class c on c.oid = l.relation
         where l.pid = pg_backend_pid() and c.relkind = 'r' and c.relname ~ '^events_'`,
      );
      await client.query('commit');
      expect(rows).to.deep.equal([{ name: partitionName('events', Math.floor(TODAY / DAY_MS)) }]);
    } finally {
      client.release(true);
    }
  });

  it('reads the deliveries it is given, and not those between the oldest and the newest of them', async () => {
    const oldest = await eventWithDeliveries(1);
    await eventWithDeliveries(BETWEEN);
    const newest = await eventWithDeliveries(1);
    const group = [oldest, newest].map(({ eventId, deliveryIds: [deliveryId = ''] }) => ({ eventId, deliveryId }));
    const client = await connect('force_generic_plan');
    try {
      // Partitions that hold little, by what PostgreSQL knows of them, would be read whole.
      await client.query('begin; set local enable_seqscan = off');
      expect((await loadAttempts(client, group)).size).to.equal(2);
      await recordResults(
        client,
        group.map(({ eventId, deliveryId }) => success(eventId, deliveryId)),
      );
      const { rows } = await client.query<{ read: number }>(
        `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_user_tables
         where relname ~ '^(deliveries|events|event_payloads)_'`,
      );
      expect(rows[0]?.read).to.be.within(4, BETWEEN / 10);
      await client.query('commit');
    } finally {
      client.release(true);
    }
  });

  const processIds = new WeakMap<PoolClient, number>();

  async function connect(mode: string): Promise<PoolClient> {
    const client = await pool.connect();
    await client.query(`set plan_cache_mode = ${mode}`);
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    processIds.set(client, rows[0]?.pid ?? 0);
    return client;
  }

  async function waitsForLock(client: PoolClient): Promise<boolean> {
    const { rows } = await pool.query<{ waits: boolean }>(
      `select wait_event_type = 'Lock' as waits from pg_stat_activity where pid = $1`,
      [processIds.get(client)],
    );
    return rows[0]?.waits ?? false;
  }

  async function totals(eventId: string): Promise<unknown> {
    const { rows } = await pool.query('select status, deliveries_succeeded from events where id = $1', [eventId]);
    return rows[0];
  }

  async function eventWithDeliveries(
    count: number,
    madeAt = TODAY,
  ): Promise<{ eventId: string; deliveryIds: string[] }> {
    const [sourceId, eventId] = [newId('src'), newId('evt', madeAt)];
    const deliveryIds = Array.from({ length: count }, () => newId('dlv', madeAt));
    await pool.query(
      `insert into events (id, organization_id, source_id, status, routed, method, query, client_address, headers,
                           payload_size, payload_hash, deliveries_count, received_at, validated_at, queued_at)
       values ($1, $2, $3, 'pending', true, 'POST', '', '127.0.0.1', '{}', 0, '', $4, now(), now(), now())`,
      [eventId, ORGANIZATION, sourceId, count],
    );
    await pool.query(
      `insert into deliveries (id, organization_id, event_id, source_id, destination_id, priority, status, counted, batch_id)
       select d.id, $2, $3, $4, 'dst_' || d.ord, 0, 'pending', true, $5 from unnest($1::text[]) with ordinality as d(id, ord)`,
      [deliveryIds, ORGANIZATION, eventId, sourceId, BATCH],
    );
    return { eventId, deliveryIds };
  }
});

function success(eventId: string, deliveryId: string): AttemptResult {
  return {
    deliveryId,
    eventId,
    attemptNumber: 1,
    deliveryStatus: 'delivered',
    statusCode: 200,
    error: null,
    latency: 5,
    latencyClass: 5,
    startedAt: new Date(),
    completedAt: new Date(),
    retryInMs: null,
    requestHeaders: {},
    responseHeaders: {},
    responseBody: '',
    exchange: null,
    failover: null,
    lane: 'workflow',
  };
}
