import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { valueBytes } from '../../core/http/headers.ts';
import { warehouseWorkflowId } from '../../core/temporal/names.ts';
import { holdEvent } from '../support/database/row-lock.ts';
import { until } from '../support/until.ts';
import { rowsOf } from '../support/warehouse/warehouse-objects.ts';
import { providerCases } from '../support/warehouse/warehouse-targets.ts';
import { expectEachOnce, makePipe, useStore, type WarehousePipe } from '../support/warehouse/warehouse-instance.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { selectRows } from '../support/database/sql.ts';

for (const provider of providerCases) {
  describe(`warehouse ${provider.name}`, () => {
    const { testInstance } = useHookyard();
    const store = useStore(provider);

    it('writes every event once, as it was received, in the order in which they were received', async () => {
      const pipe = await makePipe(testInstance, store);
      const bodies = Array.from({ length: 40 }, (_, index) => `{"order": ${index}, "big": 12345678901234567890}`);
      const ids = await pipe.send(bodies);
      const customer = { 'content-type': 'application/json', 'x-customer': valueBytes('Renée') };
      ids.push(await pipe.records.accepted(pipe.source, bodies[0] ?? '', customer));
      bodies.push(bodies[0] ?? '');
      const rows = await pipe.rows(ids.length);
      expectEachOnce(rows, ids);
      expect(rows.map((row) => row.event_id)).to.deep.equal(ids.toSorted());
      expect(JSON.parse(String(rows.at(-1)?.headers))['x-customer']).to.equal('Renée');
      for (const row of rows) {
        expect(row).to.include({ source: pipe.source.slug, route: pipe.routeId, replay_of: null });
        expect(row.payload).to.equal(bodies[ids.indexOf(String(row.event_id))]);
        expect(JSON.parse(String(row.headers))).to.include({ 'content-type': 'application/json' });
        const [delivery] = await pipe.records.deliveries(String(row.event_id));
        expect(row.delivery_id).to.equal(delivery?.id);
      }
      const [batch] = await pipe.batches();
      expect(new Set(rows.map((row) => row.written_at))).to.deep.equal(new Set([batch?.frozenAt]));
    });

    it('tells of its batches what the object says', async () => {
      const pipe = await makePipe(testInstance, store, { config: { fileFormat: 'json' } });
      const ids = await pipe.send(['{"a":1}', 'no json']);
      await pipe.settled(ids.length);
      const [batch] = await until('the batch to be written', async () => {
        const batches = await pipe.batches('written');
        return batches.length === 1 && batches;
      });
      const [object] = await pipe.objects();
      if (!batch || !object) throw new Error('there is no batch, or no object');
      const date = batch.createdAt.slice(0, 10);
      expect(batch).to.include({ status: 'written', count: 2, attempts: 1, lastError: null, convertedCount: 0 });
      expect(batch).to.include({ partition: `date=${date}`, key: object.key, bytes: object.body.length });
      expect(object.key).to.match(new RegExp(`^${pipe.prefix}/date=${date}/\\d{8}T\\d{9}Z-${batch.id}\\.json$`));
      expect(object.contentType).to.equal('application/json');
      expect(batch.sha256).to.equal(createHash('sha256').update(object.body).digest('hex'));
      expect(object.metadata).to.include({ count: '2', sha256: batch.sha256 });
      expect(rowsOf(object).map((row) => [row.payload_encoding, row.payload])).to.have.deep.members([
        ['json', '{"a":1}'],
        ['text', 'no json'],
      ]);
    });
  });
}

describe('warehouse destinations', () => {
  const { testInstance } = useHookyard();
  const store = useStore();

  /** One that only writes full files, within the time of a test. */
  const patient = (config: Record<string, unknown> = {}) => ({ config: { batchWindowSeconds: 3600, ...config } });
  const counts = async (pipe: WarehousePipe) => (await pipe.objects()).map((object) => rowsOf(object).length);

  it('write a file when there are enough events, and leave the others for the next one', async () => {
    const pipe = await makePipe(testInstance, store, patient({ batchSize: 10 }));
    const ids = await pipe.send(Array.from({ length: 25 }, (_, index) => `${index}`));
    await pipe.settled(20);
    expect(await counts(pipe)).to.deep.equal([10, 10]);
    const [open] = await until('the rest to wait in an open batch', async () => {
      const batches = await pipe.batches('open');
      return batches[0]?.count === 5 && batches;
    });
    expect(open).to.include({ key: null, attempts: 0, writtenAt: null });
    await pipe.patch({ config: { batchWindowSeconds: 1 } });
    const rows = await pipe.rows(25);
    expectEachOnce(rows, ids);
    expect((await pipe.batches('written')).map(({ id }) => id)).to.include(open?.id);
  });

  it('write the next file while the deliveries of one are being recorded, and no third one before they are', async () => {
    const pipe = await makePipe(testInstance, store, patient());
    const ids: string[] = [];
    for (const body of ['1', '2', '3', '4', '5', '6']) ids.push(...(await pipe.send([body])));
    const held = await holdEvent(testInstance.pool, ids[0] ?? '');
    try {
      await pipe.patch({ config: { batchSize: 2 } });
      await until('two files to be written', async () => (await pipe.objects()).length === 2);
      await until('the records to wait', async () => (await held.waiting()).length > 0);
      const rows = await selectRows<{ status: string }>(testInstance.pool)`select status from warehouse_batches
        where destination_id = ${pipe.destinationId} and status <> 'open' order by frozen_at`;
      expect(rows[0]?.status).to.equal('uploaded');
      expect(rows).to.have.lengthOf(2);
    } finally {
      await held.release();
    }
    expectEachOnce(await pipe.rows(6), ids);
    expect(await counts(pipe)).to.deep.equal([2, 2, 2]);
  });

  it('write the columns of a mapping, and count what did not fit', async () => {
    const fieldMapping = [
      { source: '$.payload.order.id', target: 'order_id', type: 'number', default: '-1' },
      { source: '$.payload.paid', target: 'paid', type: 'boolean' },
      { source: '$.id', target: 'event', type: 'string' },
    ];
    const pipe = await makePipe(testInstance, store, { destination: { fieldMapping } });
    const bodies = ['{"order":{"id":"7"},"paid":"yes"}', '{"order":{"id":"seven"},"paid":1}', '{"paid":"perhaps"}'];
    const ids: string[] = [];
    // One after the other: rows are in the order of receipt.
    for (const body of bodies) ids.push(...(await pipe.send([body])));
    const idsOf = async (index: number) => {
      const [delivery] = await pipe.records.deliveries(ids[index] ?? '');
      return { event_id: ids[index], delivery_id: delivery?.id };
    };
    expect((await pipe.rows(3)).toSorted((a, b) => (String(a.event) < String(b.event) ? -1 : 1))).to.deep.equal([
      { ...(await idsOf(0)), order_id: 7, paid: true, event: ids[0] },
      { ...(await idsOf(1)), order_id: -1, paid: true, event: ids[1] },
      { ...(await idsOf(2)), order_id: -1, paid: null, event: ids[2] },
    ]);
    const batches = await until('the batches to tell of two values', async () => {
      const written = await pipe.batches('written');
      return written.reduce((sum, { convertedCount }) => sum + (convertedCount ?? 0), 0) === 2 && written;
    });
    expect(batches.flatMap(({ conversions }) => conversions)).to.have.deep.members([
      { target: 'order_id', count: 1, eventId: ids[1] },
      { target: 'paid', count: 1, eventId: ids[2] },
    ]);
  });

  it('write what the transform of the route makes, and fail only the events it fails for', async () => {
    const transform = await testInstance.client.create('/api/transforms', {
      name: `Total ${Date.now()}`,
      type: 'javascript',
      code: 'function transform(event) { return { total: event.payload.total.toFixed(2) }; }',
    });
    const pipe = await makePipe(testInstance, store, { route: { transformId: transform.id } });
    const [good = '', bad = ''] = await pipe.send(['{"total":1.5}', '{}']);
    const [row] = await pipe.rows(1);
    expect(row).to.deep.include({ event_id: good, payload: '{"total":"1.50"}' });
    const failed = await pipe.records.deliveryWith('failed', bad);
    expect(failed.error).to.match(/^The transform Total \d+ failed: /);
    expect(await pipe.objects()).to.have.lengthOf(1);
  });

  it('end their workflow when nothing waits, and begin again', async () => {
    const pipe = await makePipe(testInstance, store, { config: { batchWindowSeconds: 1 } });
    const first = await pipe.send(['1']);
    await pipe.settled(1);
    const workflow = testInstance.temporal.workflow.getHandle(warehouseWorkflowId(pipe.destinationId));
    await until('the workflow to end', async () => (await workflow.describe()).status.name === 'COMPLETED');
    const second = await pipe.send(['2']);
    expectEachOnce(await pipe.rows(2), [...first, ...second]);
  });

  it('take a delivery out that is cancelled while it waits, and write a replay into a later file', async () => {
    const pipe = await makePipe(testInstance, store, patient());
    const [id = ''] = await pipe.send(['1']);
    const [delivery] = await pipe.records.deliveries(id);
    expect(delivery).to.include({ status: 'pending', batchId: null });
    const retry = await testInstance.client.request('POST', `/api/deliveries/${delivery?.id}/retry`);
    expect(retry.status).to.equal(409);
    expect(retry.body.message).to.include('it is waiting for a warehouse batch');
    await testInstance.client.post(`/api/deliveries/${delivery?.id}/cancel`);
    expect(await pipe.records.event(id)).to.include({ status: 'failed' });
    await pipe.patch({ config: { batchWindowSeconds: 1 } });
    const replayed = await testInstance.client.post<{ deliveryId: string }>(`/api/deliveries/${delivery?.id}/replay`);
    expectEachOnce(await pipe.rows(1), [id]);
    expect(await pipe.records.delivery(replayed.deliveryId)).to.include({
      status: 'delivered',
      replayOf: delivery?.id,
    });
    const again = await testInstance.client.post<{ deliveryId: string }>(
      `/api/deliveries/${replayed.deliveryId}/replay`,
    );
    const rows = await pipe.rows(2);
    expect(rows.map((row) => row.event_id)).to.deep.equal([id, id]);
    expect(rows.map((row) => [row.delivery_id, row.replay_of])).to.have.deep.members([
      [replayed.deliveryId, delivery?.id],
      [again.deliveryId, replayed.deliveryId],
    ]);
    const batchIds = await Promise.all(
      [replayed, again].map(async ({ deliveryId }) => (await pipe.records.delivery(deliveryId)).batchId),
    );
    expect(new Set(batchIds).size).to.equal(2);
  });
});
