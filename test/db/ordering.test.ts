// Ordering keys under every interleaving: deliveries are stored, recorded, cancelled, replayed, failed over, held,
// skipped and deleted at random, several at a time, and after each round only the first open delivery of a key may be
// attempted.
import { expect } from 'chai';
import { orderKeyOf } from '../../core/delivery/ordering.ts';
import { openError, ownWords } from '../../core/text/error-summary.ts';
import { newId, shardOf } from '../../core/text/ids.ts';
import { divertBlocked } from '../../db/circuits/held-deliveries.ts';
import { inTransaction } from '../../db/connections/pool.ts';
import { cancelDeliveries } from '../../db/delivery/delivery-commands.ts';
import { endHolds, releaseKey, skipBlocked } from '../../db/delivery/ordering.ts';
import { queueForTurn } from '../../db/delivery/rate-limits.ts';
import { requeueDeliveries } from '../../db/delivery/reconciliation.ts';
import { waitingInOrder } from '../../db/hot-path/claim.ts';
import { type AttemptResult, recordResults } from '../../db/hot-path/record-results.ts';
import { storeEvents } from '../../db/hot-path/store-events.ts';
import { CannotReplayError, replayDelivery } from '../../db/replay/replay.ts';
import { cannotValidate } from '../../db/replay/targets.ts';
import { attemptResult } from '../support/database/history.ts';
import { routedEvent } from '../support/database/new-events.ts';
import { ReplayDatabase } from '../support/database/replay-database.ts';
import { createRandom } from '../torture/random.ts';
import { useStarted } from '../support/use-hookyard.ts';
import { execute, selectRows } from '../support/database/sql.ts';

const ROUNDS = 100;
const AT_ONCE = 4;
const KEYS = ['a', 'b', 'c'];
const HOLD_SECONDS = 3600;

interface Row {
  id: string;
  eventId: string;
  destinationId: string;
  status: string;
  attempts: number;
  number: number;
  hash: Buffer;
}

describe('ordering keys', () => {
  const database = useStarted(ReplayDatabase.make);
  beforeEach(async () => {
    await database.renew();
    await execute(database.pool)`update routes
      set ordering = '{"key":"payload.key","missingKey":"unordered","onExhausted":"hold","holdSeconds":60}'`;
  });

  const owner = () => ({ organizationId: database.organizationId, sourceId: database.sourceId });

  async function store(keys: string[]): Promise<string[]> {
    const { pool, routeId, destinationId } = database;
    const events = [];
    for (const key of keys) {
      const id = newId('dlv');
      const order = orderKeyOf([key]);
      const delivery = { id, routeId, routeVersion: 1, transformVersion: null, destinationId, priority: 0, order };
      const deliveries = [{ ...delivery, shard: shardOf(id), status: 'pending' as const, error: null }];
      events.push(await routedEvent(pool, owner(), { deliveries, routed: [routeId] }));
    }
    const { stored } = await storeEvents(pool, events);
    expect(stored.size).to.equal(keys.length);
    return events.flatMap(({ deliveries }) => deliveries.map(({ id }) => id));
  }

  function deliveries(): Promise<Row[]> {
    return selectRows<Row>(database.pool)`
      select id, event_id as "eventId", destination_id as "destinationId", status, attempt_count as attempts,
             order_number::int as number, order_hash as hash
      from deliveries where organization_id = ${database.organizationId}
      order by destination_id, order_hash, order_number, id`;
  }

  /** Those that a relay or a workflow would attempt now. */
  async function attempted(): Promise<Set<string>> {
    const rows = await selectRows<{ id: string }>(database.pool)`
      select delivery_id as id from outbox where organization_id = ${database.organizationId}
      union select delivery_id from retrying_deliveries where organization_id = ${database.organizationId}
      union select delivery_id from held_deliveries where organization_id = ${database.organizationId}`;
    return new Set(rows.map(({ id }) => id));
  }

  const isOpen = ({ status }: Row) => ['pending', 'retrying', 'circuit_open'].includes(status);

  const result = (row: Row, fields: Partial<AttemptResult>): AttemptResult => ({
    ...attemptResult({ id: row.eventId, organizationId: database.organizationId }, row, {
      ...{ status: 'delivered', attempt: row.attempts + 1 },
    }),
    orderKey: { destinationId: row.destinationId, hash: row.hash },
    ...fields,
  });
  const failure = { deliveryStatus: 'failed' as const, statusCode: 500, error: openError(ownWords`It returned 500`) };

  /** What may happen to deliveries, each of which may lose a race against the others. */
  const deeds: ((row: Row, others: Row[]) => Promise<unknown>)[] = [
    (row, others) =>
      recordResults(
        database.pool,
        [row, ...others].map((each) => result(each, {})),
      ),
    (row) => recordResults(database.pool, [result(row, { ...failure, deliveryStatus: 'retrying', retryInMs: 10 })]),
    (row) => recordResults(database.pool, [result(row, { ...failure, holdSeconds: HOLD_SECONDS })]),
    (row) => recordResults(database.pool, [result(row, failure)]),
    (row) => {
      const deliveryId = newId('dlv');
      const failover = {
        organizationId: database.organizationId,
        candidates: [database.destinationId],
        deliveryId,
        shard: shardOf(deliveryId),
        originalDestinationId: row.destinationId,
        reason: 'It returned 500',
      };
      return recordResults(database.pool, [result(row, { ...failure, failover })]);
    },
    (row) => queueForTurn(database.pool, row.id),
    (row) => requeueDeliveries(database.pool, [{ deliveryId: row.id, resume: 'lost' }]),
    (row) => divertBlocked(database.pool, [blocked(row)]),
  ];
  const blocked = ({ id, destinationId }: Row) => ({
    deliveryId: id,
    routeId: database.routeId,
    destinationId,
    inCircuit: false,
    hasWorkflow: false,
  });

  function check(all: Row[], attemptedNow: Set<string>, waiting: Set<string>, heads: Map<string, string | null>): void {
    for (const [key, rows] of Map.groupBy(
      all,
      ({ destinationId, hash }) => `${destinationId} ${hash.toString('hex')}`,
    )) {
      const open = rows.filter(isOpen);
      const head = heads.get(key) ?? null;
      const headRow = rows.find(({ id }) => id === head);
      if (open.length > 0) expect(head, `${key} has a head`).to.be.a('string');
      for (const row of open) {
        if (row.id === head) expect(attemptedNow.has(row.id), `the head of ${key} is attempted`).to.equal(true);
        else {
          expect(attemptedNow.has(row.id), `${row.number} of ${key} waits`).to.equal(false);
          expect(waiting.has(row.id), `${row.number} of ${key} is kept`).to.equal(true);
          expect(row.number).to.be.greaterThan(headRow?.number ?? Number.POSITIVE_INFINITY);
        }
      }
    }
    const open = new Set(all.filter(isOpen).map(({ id }) => id));
    for (const id of waiting) expect(open.has(id), 'nothing that has ended waits').to.equal(true);
  }

  async function checkAll(): Promise<void> {
    const keys = await selectRows<{ key: string; head: string | null; count: number; waiting: string[] }>(
      database.pool,
    )`
      select k.destination_id || ' ' || encode(k.key_hash, 'hex') as key, k.head_id as head, k.waiting as count,
             array(select delivery_id from ordered_deliveries w
                   where w.destination_id = k.destination_id and w.key_hash = k.key_hash) as waiting
      from order_keys k where organization_id = ${database.organizationId}`;
    for (const { key, count, waiting } of keys) expect(count, `what waits in ${key}`).to.equal(waiting.length);
    const waiting = new Set(keys.flatMap((each) => each.waiting));
    check(await deliveries(), await attempted(), waiting, new Map(keys.map(({ key, head }) => [key, head])));
  }

  it('tell what waits behind a delivery only while that is the head', async () => {
    const { pool, destinationId } = database;
    const [first = '', second = '', third = ''] = await store(['k', 'k', 'k']);
    const orderHash = Buffer.from(orderKeyOf(['k'])?.hash ?? '', 'hex');
    const behind = async (deliveryId: string) =>
      (await waitingInOrder(pool, [{ destinationId, orderHash, deliveryId }], 50)).map((row) => row.deliveryId);
    expect(await behind(first)).to.deep.equal([second, third]);
    expect(await behind(second)).to.deep.equal([]);
    await cancel(first);
    expect(await behind(first), 'the second is in the outbox').to.deep.equal([]);
    expect(await behind(second)).to.deep.equal([third]);
  });

  it('are not locked by the deletion of failed deliveries that block nothing', async () => {
    const { pool, organizationId } = database;
    const [first = ''] = await store(['k', 'k']);
    const [row] = (await deliveries()).filter(({ id }) => id === first);
    if (!row) throw new Error('there is no delivery');
    await recordResults(pool, [result(row, failure)]);
    await inTransaction(pool, async (db) => {
      await db.query('delete from deliveries where id = $1', [first]);
      const { rowCount } = await execute(pool)`select from order_keys
        where organization_id = ${organizationId} for update skip locked`;
      expect(rowCount).to.equal(1);
    });
  });

  it('let only the first open delivery of a key be attempted, whatever happens at the same time', async () => {
    const random = createRandom(20261129);
    const pick = <T>(from: readonly T[]): T | undefined => (from.length > 0 ? random.pick(from) : undefined);
    const { pool, organizationId, destinationId } = database;
    const keysOf = { organizationId, destinationId };
    for (let round = 0; round < ROUNDS; round += 1) {
      const [all, now] = [await deliveries(), await attempted()];
      const heads = all.filter((row) => isOpen(row) && now.has(row.id));
      const work = Array.from({ length: AT_ONCE }, async () => {
        const chance = random.next();
        const row = pick(heads);
        const ended = pick(all.filter((each) => !isOpen(each)));
        const hash = pick(all)?.hash.toString('hex') ?? '';
        if (chance < 0.3 || row === undefined) await store(Array.from({ length: 3 }, () => pick(KEYS) ?? 'a'));
        else if (chance < 0.75)
          await pick(deeds)?.(
            row,
            heads.filter((each) => each !== row && random.next() < 0.5),
          );
        else if (chance < 0.8) await cancel(pick(all.filter(isOpen))?.id ?? row.id);
        else if (chance < 0.88 && ended) await replay(ended.id);
        else if (chance < 0.9 && ended) await skipBlocked(pool, keysOf, hash, ended.id);
        else if (chance < 0.92) await releaseKey(pool, keysOf, hash);
        else if (chance < 0.95) await pool.query('delete from deliveries where id = $1', [pick(all)?.id]);
        else await expire();
      });
      await Promise.all(work);
      await checkAll();
    }
    await drain();
    expect((await deliveries()).filter(isOpen)).to.have.length(0);
  });

  async function cancel(id: string): Promise<void> {
    const selection = { ...owner(), deliveryIds: [id], reason: openError(ownWords`Enough`) };
    await inTransaction(database.pool, (db) => cancelDeliveries(db, selection));
  }

  async function replay(id: string): Promise<void> {
    const { pool, organizationId } = database;
    await replayDelivery(pool, organizationId, id, cannotValidate, () => () => undefined).catch((error: unknown) => {
      if (!(error instanceof CannotReplayError)) throw error;
    });
  }

  async function expire(): Promise<void> {
    await database.pool.query('update order_keys set hold_until = now() where hold_until is not null');
    await endHolds(database.pool, 100);
  }

  async function drain(): Promise<void> {
    for (;;) {
      await expire();
      const now = await attempted();
      const heads = (await deliveries()).filter((row) => isOpen(row) && now.has(row.id));
      if (heads.length === 0) return;
      await recordResults(
        database.pool,
        heads.map((row) => result(row, {})),
      );
      await checkAll();
    }
  }
});
