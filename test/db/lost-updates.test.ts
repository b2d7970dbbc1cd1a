// Statements that change several deliveries or events and have to wait for one of them: none of their changes may be
// lost, under the plan that PostgreSQL keeps for any values (docs/internals/postgresql-18.md).
import { expect } from 'chai';
import { openError, ownWords } from '../../core/text/error-summary.ts';
import { newId } from '../../core/text/ids.ts';
import { changeCircuits } from '../../db/circuits/circuits.ts';
import { cancelDeliveries, endDeliveries, postponeDelivery } from '../../db/delivery/delivery-commands.ts';
import { deleteEvent } from '../../db/delivery/deletions.ts';
import { divertBlocked, endHold, oldestHeld } from '../../db/circuits/held-deliveries.ts';
import { removeQueued } from '../../db/hot-path/claim.ts';
import { type AttemptResult, recordResults } from '../../db/hot-path/record-results.ts';
import { DAY_MS } from '../../db/sql/partitions.ts';
import { inTransaction, type Pool } from '../../db/connections/pool.ts';
import { makeDue, requeueDeliveries } from '../../db/delivery/reconciliation.ts';
import { createReplays } from '../../db/replay/replay.ts';
import { removeYoungerDeliveries } from '../../db/operations/retention.ts';
import { purgeStep } from '../../db/operations/source-purges.ts';
import { recordWritten } from '../../db/warehouse/members.ts';
import { freeze } from './fixtures.ts';
import {
  attemptResult,
  type HistoryOwner,
  makeOwner,
  recordOutcome,
  type StoredEvent,
  storeEvent,
  firstRoute,
} from '../support/database/history.ts';
import { waitingForLocks } from '../support/database/row-lock.ts';
import { until } from '../support/until.ts';
import { useHistoryDatabase, usePool } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

// What is pruned must come first among the partitions: then those that are left have other numbers than before.
const OLDER_DAYS = 3;

/** Two events, of yesterday and of today, with one delivery each. */
interface World {
  owner: HistoryOwner;
  routeId: string;
  events: StoredEvent[];
  deliveryIds: string[];
  /** The file that they were taken into. */
  batchId?: string;
}

interface Case {
  /** Where somebody else changes the older row meanwhile. */
  tables: ('deliveries' | 'events')[];
  prepare?: (pool: Pool, world: World) => Promise<unknown>;
  act: (pool: Pool, world: World) => Promise<unknown>;
  /** What is true of both deliveries `d` and their events `e` afterwards. */
  afterwards: string;
}

const GONE = 'd.id is null and e.id is null';
const REASON = openError(ownWords`a test`);

const cases: Record<string, Case> = {
  'recording results': {
    tables: ['deliveries', 'events'],
    act: (pool, { events }) => recordResults(pool, results(events)),
    afterwards: `d.status = 'delivered' and e.deliveries_succeeded = 1`,
  },
  'recording results, one of a delivery that was cancelled': {
    tables: ['deliveries'],
    prepare: (pool, world) => endDeliveries(pool, 'cancelled', selection(world, world.deliveryIds.slice(1))),
    act: (pool, { events }) => recordResults(pool, results(events)),
    afterwards: 'exists (select from attempts where delivery_id = d.id)',
  },
  'ending deliveries': {
    tables: ['deliveries', 'events'],
    act: (pool, world) => endDeliveries(pool, 'failed', selection(world, world.deliveryIds)),
    afterwards: `d.status = 'failed' and e.deliveries_failed = 1`,
  },
  'cancelling the deliveries of an event': {
    tables: ['deliveries', 'events'],
    act: (pool, { owner, events }) =>
      each(events, ({ id: eventId }) =>
        cancelDeliveries(pool, { organizationId: owner.organizationId, eventId, reason: REASON }),
      ),
    afterwards: `d.status = 'cancelled' and e.deliveries_failed = 1`,
  },
  'postponing deliveries': {
    tables: ['deliveries'],
    act: (pool, { deliveryIds }) => each(deliveryIds, (id) => postponeDelivery(pool, id, 60_000)),
    afterwards: 'd.next_attempt_at > now()',
  },
  'making retries due': {
    tables: ['deliveries'],
    prepare: async (pool, world) => {
      await recordEach(pool, world, 'retrying');
      await each(world.deliveryIds, (id) => postponeDelivery(pool, id, 60_000));
    },
    act: (pool, { owner: { organizationId }, deliveryIds }) =>
      each(deliveryIds, (deliveryId) => makeDue(pool, { organizationId, deliveryId })),
    afterwards: 'd.next_attempt_at <= now()',
  },
  'replaying events': {
    tables: ['deliveries', 'events'],
    prepare: (pool, world) => recordEach(pool, world, 'failed'),
    act: (pool, { owner, events }) =>
      createReplays(pool, { organizationId: owner.organizationId, eventIds: events.map(({ id }) => id) }),
    afterwards: `not d.counted and e.deliveries_failed = 0 and e.deliveries_count = 1`,
  },
  'putting deliveries back into the outbox': {
    tables: ['deliveries'],
    act: (pool, { deliveryIds }) =>
      requeueDeliveries(
        pool,
        deliveryIds.map((deliveryId) => ({ deliveryId, resume: 'lost' })),
      ),
    afterwards: `exists (select from outbox where delivery_id = d.id and resume = 'lost')`,
  },
  'holding deliveries': {
    tables: ['deliveries'],
    prepare: openCircuit,
    act: hold,
    afterwards: `d.status = 'circuit_open'`,
  },
  'releasing deliveries': {
    tables: ['deliveries'],
    prepare: async (pool, world) => {
      await openCircuit(pool, world);
      await hold(pool, world);
    },
    act: async (pool, { routeId }) => {
      const held = await oldestHeld(pool, routeId, { limit: 10 });
      return endHold(
        pool,
        routeId,
        held.map((delivery) => ({ ...delivery, queue: true })),
      );
    },
    afterwards: `d.status = 'pending'`,
  },
  'taking deliveries into a file': { tables: ['deliveries'], act: freezeAll, afterwards: 'd.batch_id is not null' },
  'recording the deliveries of a file': {
    tables: ['deliveries', 'events'],
    prepare: freezeAll,
    act: (pool, { events, batchId = '' }) =>
      recordWritten(pool, { batchId, members: membersOf(events), attempt: ATTEMPT }),
    afterwards: `d.status = 'delivered' and e.deliveries_succeeded = 1`,
  },
  'deleting events': {
    tables: ['deliveries', 'events'],
    act: (pool, { owner, events }) => each(events, ({ id }) => deleteEvent(pool, owner.organizationId, id)),
    afterwards: GONE,
  },
  'removing what is younger than its event': {
    tables: ['deliveries'],
    prepare: replaceByYounger,
    act: (pool) => removeYoungerDeliveries(pool, Math.floor(Date.now() / DAY_MS)),
    afterwards: 'd.id is null',
  },
  'removing the events of a source': {
    tables: ['deliveries', 'events'],
    prepare: (pool, { owner }) =>
      execute(pool)`insert into source_purges (source_id, organization_id)
        values (${owner.routes[0]?.sourceId}, ${owner.organizationId})`,
    act: (pool, { owner }) => purgeStep(pool, owner.routes[0]?.sourceId ?? ''),
    afterwards: GONE,
  },
};

describe('changes that had to wait', () => {
  const { database, pool } = useHistoryDatabase(OLDER_DAYS + 1);
  const acting = usePool(database, { hotPath: true });
  before(() => planAsIfLarge(pool, new URL(database.databaseUrl).pathname.slice(1)));

  for (const [name, { tables, prepare, act, afterwards }] of Object.entries(cases)) {
    for (const table of tables) {
      it(`are not lost: ${name}, while one of the ${table} is changed`, async () => {
        const world = await makeWorld(pool);
        await prepare?.(pool, world);
        const id = table === 'events' ? world.events[0]?.id : world.deliveryIds[0];
        let acted: Promise<unknown> = Promise.resolve();
        await inTransaction(pool, async (other) => {
          await other.query(`update ${table} set source_id = source_id where id = $1`, [id]);
          acted = act(acting, world);
          await until('it to wait', () => someoneWaits(pool));
        });
        await acted;
        const { rows } = await pool.query<{ count: number }>(
          `select count(*) from unnest($1::text[], $2::text[]) as i(delivery_id, event_id)
           left join deliveries d on d.id = i.delivery_id left join events e on e.id = i.event_id where ${afterwards}`,
          [world.deliveryIds, world.events.map((event) => event.id)],
        );
        expect(rows[0]?.count).to.equal(2);
      });
    }
  }

  // PostgreSQL ended with all its connections, when what a row is checked again by looked into a partitioned table for
  // that row.
  for (const [status, isLeft] of [
    ['pending', true],
    ['cancelled', false],
  ] as const) {
    it(`are not lost: leaving the outbox, while a ${status} delivery comes to wait for its turn`, async () => {
      const { events, deliveryIds } = await makeWorld(pool);
      const [deliveryId = ''] = deliveryIds;
      await requeueDeliveries(pool, [{ deliveryId, resume: 'lost' }]);
      let acted: Promise<unknown> = Promise.resolve();
      await pool.query('update deliveries set status = $2 where id = $1', [deliveryId, status]);
      await inTransaction(pool, async (other) => {
        await other.query(`update outbox set resume = 'waiting' where delivery_id = $1`, [deliveryId]);
        const destinationId = events[0]?.deliveries[0]?.destinationId ?? '';
        const organizationId = events[0]?.organizationId ?? '';
        acted = removeQueued(acting, { organizationId, destinationId, priority: 0, deliveryId });
        await until('it to wait', () => someoneWaits(pool));
      });
      await acted;
      const { rowCount } = await pool.query('select from outbox where delivery_id = $1', [deliveryId]);
      expect(rowCount).to.equal(isLeft ? 1 : 0);
    });
  }

  it('take events in the order of their ids, as pages of replays do: a cancellation that joins by hashes', async () => {
    const owner = await makeOwner(pool, 1, 1);
    const events: StoredEvent[] = [];
    for (let n = 0; n < 12; n += 1)
      events.push(await storeEvent(pool, owner, firstRoute(owner), { receivedAt: new Date(), statuses: ['pending'] }));
    const ids = events.map(({ id }) => id).toSorted();
    // An event that was changed lies behind the others.
    for (const id of ids.toReversed()) await pool.query('update events set routed = true where id = $1', [id]);
    const [page, group] = [await pool.connect(), await pool.connect()];
    const lock = (some: string[]) =>
      page.query('select id from events where id = any($1::text[]) order by id for update', [some]);
    try {
      await execute(group)`set plan_cache_mode = force_generic_plan; set enable_hashjoin = on;
        set enable_mergejoin = off; set enable_nestloop = off`;
      await page.query('begin');
      await lock(ids.slice(0, 1));
      const cancelling = cancelDeliveries(group, {
        organizationId: owner.organizationId,
        deliveryIds: events.flatMap(({ deliveries }) => deliveries.map(({ id }) => id)),
        reason: REASON,
      });
      await until('it to wait', () => someoneWaits(pool));
      const [, cancelled] = await Promise.all([lock(ids.slice(1)).then(() => page.query('commit')), cancelling]);
      expect(cancelled).to.have.lengthOf(12);
    } finally {
      for (const client of [page, group]) client.release(true);
    }
  });
});

/**
 * Makes PostgreSQL believe that each day has very many rows, and forget the joins that read all that the bounds leave:
 * so it looks up one row after the other, which is where it prunes twice.
 */
async function planAsIfLarge(pool: Pool, name: string): Promise<void> {
  await pool.query(`update pg_class set reltuples = 1e8, relpages = 1 where relname ~ '^(events|deliveries)_\\d+$'`);
  for (const join of ['hashjoin', 'mergejoin']) await pool.query(`alter database ${name} set enable_${join} = off`);
}

const someoneWaits = async (pool: Pool) => (await waitingForLocks(pool)) === 1;

async function makeWorld(pool: Pool): Promise<World> {
  const owner = await makeOwner(pool, 1, 1);
  const route = firstRoute(owner);
  const events: StoredEvent[] = [];
  for (const receivedAt of [new Date(Date.now() - DAY_MS), new Date()]) {
    events.push(await storeEvent(pool, owner, route, { receivedAt, statuses: ['pending'] }));
  }
  const deliveryIds = events.flatMap(({ deliveries }) => deliveries.map(({ id }) => id));
  return { owner, routeId: route.id, events, deliveryIds };
}

async function each<T>(items: T[], act: (item: T) => Promise<unknown>): Promise<void> {
  for (const item of items) await act(item);
}

const selection = ({ owner: { organizationId } }: World, deliveryIds: string[]) => ({
  organizationId,
  deliveryIds,
  reason: REASON,
});

async function recordEach(pool: Pool, { events }: World, status: 'failed' | 'retrying'): Promise<void> {
  for (const event of events) {
    for (const delivery of event.deliveries) await recordOutcome(pool, event, delivery, { status });
  }
}

function results(events: StoredEvent[]): AttemptResult[] {
  return events.flatMap((event) =>
    event.deliveries.map((delivery) => attemptResult(event, delivery, { status: 'delivered' })),
  );
}

async function openCircuit(pool: Pool, { routeId }: World): Promise<void> {
  await pool.query('update routes set circuit_failure_threshold = 1 where id = $1', [routeId]);
  await changeCircuits(pool, [routeId], () => [{ type: 'failed', deliveryId: newId('dlv'), at: Date.now() }]);
}

function hold(pool: Pool, { routeId, deliveryIds }: World): Promise<unknown> {
  return divertBlocked(
    pool,
    deliveryIds.map((deliveryId) => ({ deliveryId, routeId, destinationId: '', inCircuit: true, hasWorkflow: false })),
  );
}

const ATTEMPT = { statusCode: 200, latency: 1, latencyClass: 1, startedAt: new Date(), completedAt: new Date() };

function membersOf(events: StoredEvent[]): { deliveryId: string; eventId: string }[] {
  return events.flatMap(({ id: eventId, deliveries }) =>
    deliveries.map(({ id: deliveryId }) => ({ deliveryId, eventId })),
  );
}

function freezeAll(pool: Pool, world: World): Promise<unknown> {
  const { owner, events, deliveryIds } = world;
  world.batchId = newId('bat');
  return freeze(pool, {
    organizationId: owner.organizationId,
    destinationId: events[0]?.deliveries[0]?.destinationId ?? '',
    id: world.batchId,
    members: deliveryIds.map((deliveryId) => ({ deliveryId, priority: 0 })),
  });
}

/** Deliveries of today and of tomorrow, of the event of yesterday. */
async function replaceByYounger(pool: Pool, world: World): Promise<void> {
  world.deliveryIds = [newId('dlv'), newId('dlv', Date.now() + DAY_MS)];
  await execute(pool)`
    insert into deliveries (id, organization_id, event_id, source_id, route_id, destination_id, priority, status,
    counted)
    select id, ${world.owner.organizationId}, ${world.events[0]?.id}, ${world.owner.routes[0]?.sourceId},
    ${world.routeId}, ${world.events[0]?.deliveries[0]?.destinationId}, 0, 'delivered', true
    from unnest(${world.deliveryIds}::text[]) as id`;
}
