import { expect } from 'chai';
import { keepHouse } from '../support/database/housekeeping.ts';
import { danglingReferences, pauseHousekeeping, type Pipe } from '../support/database/aged-events.ts';
import { expectError } from '../support/api-client.ts';
import { storeMany } from '../support/database/many-events.ts';
import { holdEvent } from '../support/database/row-lock.ts';
import { until } from '../support/until.ts';
import { newId } from '../../core/text/ids.ts';
import { TASK_QUEUE } from '../../core/temporal/names.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

// Of 5000 each, the steps are three.
const EVENTS = 12_000;
// A killed worker's transaction is rolled back at once; steps are short.
const PURGE_MS = 180_000;

describe('deleting much', function () {
  this.timeout(900_000);
  const { testInstance, records, receiver } = useHookyard({});
  before(async function () {
    this.timeout(900_000);
    await testInstance.startWorker();
    await pauseHousekeeping(testInstance);
  });

  const many = ({ source, route, destination }: Pipe, count: number, status: 'delivered' | 'pending') =>
    storeMany(testInstance.pool, {
      organizationId: testInstance.organizationId,
      sourceId: source.id,
      routeId: route.id,
      destinationId: destination.id,
      count,
      status,
    });

  async function rows(table: string, column: string, value: string): Promise<number> {
    const found = await testInstance.pool.query<{ count: number }>(
      `select count(*) from ${table} where ${column} = $1`,
      [value],
    );
    return found.rows[0]?.count ?? 0;
  }

  const removed = async (sourceId: string): Promise<number> => {
    const found = await execute<{ count: number }>(testInstance.pool)`select events_removed as count from source_purges
      where source_id = ${sourceId}`;
    return found.rows[0]?.count ?? 0;
  };

  it('a source is gone at once, and its rows in the background, in steps that outlive a killed worker', async () => {
    const pipe = await records.pipe(receiver.endpoint().url);
    const beside = await records.pipe(receiver.endpoint().url);
    const kept = await records.accepted(beside.source, '{}');
    const eventIds = await many(pipe, EVENTS, 'delivered');
    const { id: sourceId } = pipe.source;
    const held = await holdEvent(testInstance.pool, eventIds[5500] ?? '');

    await testInstance.client.delete(`${testInstance.base}/sources/${sourceId}`);

    // The request has removed none of them, and none of them is seen any more.
    expect(await rows('events', 'source_id', sourceId)).to.equal(EVENTS);
    expect(await rows('idempotency_keys', 'source_id', sourceId)).to.equal(EVENTS);
    expectError(
      await testInstance.client.request('GET', `${testInstance.base}/events/${eventIds[0]}`),
      404,
      'RESOURCE_NOT_FOUND',
    );
    expect((await testInstance.client.list(`${testInstance.base}/events`)).pagination.total).to.equal(1);
    expect((await testInstance.client.list('/api/deliveries?page=1&pageSize=1')).pagination.total).to.equal(1);

    const options = { workflowId: newId('req'), taskQueue: TASK_QUEUE, args: [] };
    await testInstance.temporal.workflow.start('maintenance', options);
    await until('the step before the held event', async () => (await removed(sourceId)) === 5000, PURGE_MS);
    await testInstance.workers[0]?.kill();
    await held.release();
    expect(await removed(sourceId)).to.equal(5000);
    expect(await rows('events', 'source_id', sourceId)).to.equal(EVENTS - 5000);
    await testInstance.startWorker();
    const housekeeping = keepHouse(testInstance);
    const during = await records.accepted(beside.source, '{}');
    await records.eventWith('delivered', during);
    await housekeeping;
    await until('everything to be removed', async () => (await rows('events', 'source_id', sourceId)) === 0, PURGE_MS);
    expect(await removed(sourceId)).to.equal(EVENTS);
    for (const table of ['events', 'deliveries', 'idempotency_keys']) {
      expect(await rows(table, 'source_id', sourceId), table).to.equal(0);
    }
    expect(await danglingReferences(testInstance)).to.deep.equal({});
    for (const id of [kept, during])
      expect(await records.eventWith('delivered', id)).to.include({ deliveriesCount: 1 });
  });

  it('a webhook that was being stored when its source was deleted is looked for once more', async () => {
    const pipe = await records.pipe(receiver.endpoint().url);
    await testInstance.client.delete(`${testInstance.base}/sources/${pipe.source.id}`);
    await keepHouse(testInstance);
    await many(pipe, 3, 'delivered');
    await testInstance.pool.query(`update source_purges set emptied_at = emptied_at - interval '1 hour'`);
    await keepHouse(testInstance);
    expect(await rows('events', 'source_id', pipe.source.id)).to.equal(0);
    await testInstance.pool.query(`update source_purges set emptied_at = emptied_at - interval '1 hour'`);
    await keepHouse(testInstance);
    expect(await rows('source_purges', 'source_id', pipe.source.id)).to.equal(0);
  });

  it('a destination keeps its history; of very many open deliveries the last are cancelled in the background', async () => {
    const pipe = await records.pipe(receiver.endpoint().url, { destination: { rateLimitPerMinute: 1 } });
    const [history] = await many(pipe, 500, 'delivered');
    await many(pipe, 3000, 'pending');

    await testInstance.client.delete(`/api/destinations/${pipe.destination.id}`);

    const path = `/api/deliveries?routeId=${pipe.route.id}`;
    const count = async (status: string) =>
      (await testInstance.client.list(`${path}&status=${status}`)).pagination.total;
    const atOnce = await count('cancelled');
    expect(atOnce).to.be.within(900, 1000);
    await keepHouse(testInstance);
    await until(
      'all of them to be cancelled',
      async () => (await rows('outbox', 'destination_id', pipe.destination.id)) === 0,
    );
    expect(await count('pending')).to.equal(0);
    // The rate limit has let at most some of them through before.
    expect((await count('cancelled')) + (await count('delivered'))).to.equal(3500);
    expect(await count('cancelled')).to.be.above(2900);
    const [delivery] = await records.deliveries(history ?? '');
    expect(delivery).to.include({ status: 'delivered', destinationId: pipe.destination.id });
    expect(await danglingReferences(testInstance)).to.deep.equal({});
  });
});
