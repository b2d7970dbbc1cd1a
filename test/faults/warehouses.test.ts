import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import { warehouseWorkflowId } from '../../core/temporal/names.ts';
import { S3_SECRET_KEY } from '../support/warehouse/object-stores.ts';
import { holdEvent } from '../support/database/row-lock.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { expectEachOnce, makePipe, useStore, type WarehousePipe } from '../support/warehouse/warehouse-instance.ts';
import { useHookyard, useStarted } from '../support/use-hookyard.ts';
import { selectValue } from '../support/database/sql.ts';

// A killed worker's activity is noticed after 15 s without a heartbeat, a lost workflow after a lease of 30 s. The rest
// is for slow machines.
const RECOVERY_MS = 180_000;
/** A batch ends when it has so many events, however long a slow machine takes to send them. */
const fullAt = (batchSize: number) => ({ batchSize, batchWindowSeconds: 300 });
const bodies = (count: number) => Array.from({ length: count }, (_, index) => JSON.stringify({ index }));

const MIB = 1024 * 1024;

describe('warehouses, cut off', function () {
  this.timeout(900_000);
  const { testInstance, receiver } = useHookyard({});
  const store = useStore();
  const gate = useStarted(() => startTcpProxy(new URL(store.url).host));
  afterEach(() => gate.breakConnections());

  /** Through the gate; read past it. */
  function line(fields: Parameters<typeof makePipe>[2] = {}): Promise<WarehousePipe> {
    const config = { endpoint: `http://${gate.address}`, batchWindowSeconds: 1, ...fields.config };
    return makePipe(testInstance, store, { ...fields, config });
  }

  /** The batch that has been tried, with its error. */
  function tried(pipe: WarehousePipe, times = 1) {
    return until(`${times} tries`, async () =>
      (await pipe.batches('frozen')).find(({ attempts }) => attempts >= times),
    );
  }

  it('keeps a batch while its store is away, says why, and writes it when the store is back', async () => {
    await testInstance.onlyWorker();
    const pipe = await line({ config: fullAt(3) });
    gate.refuseConnections();
    const ids = await pipe.send(bodies(3));
    const before = await tried(pipe, 2);
    expect(before).to.include({ count: 3, writtenAt: null });
    expect(before.lastError).to.match(/^S3 cannot be reached: .*check endpoint$/);
    // These wait behind it and are not in its file.
    const later = await pipe.send(bodies(3));
    expect((await pipe.records.deliveries(ids[0] ?? ''))[0]).to.include({ status: 'pending', batchId: before.id });
    gate.breakConnections();
    const rows = await pipe.rows(6, RECOVERY_MS);
    expectEachOnce(rows, [...ids, ...later]);
    const [second, first] = await until('both batches to have ended', async () => {
      const batches = await pipe.batches('written');
      return batches.length === 2 && batches;
    });
    expect(first).to.include({ id: before.id, key: before.key, count: 3, lastError: null });
    expect(second).to.include({ count: 3 });
    const [attempt] = (await pipe.records.deliveries(ids[0] ?? ''))[0]?.attempts ?? [];
    expect(attempt, 'one attempt, however often the batch was tried').to.include({
      attemptNumber: 1,
      status: 'success',
    });
  });

  it('keeps a batch with wrong credentials, and writes it at once when they are corrected', async () => {
    await testInstance.onlyWorker();
    const pipe = await line({ config: { secretAccessKey: 'not-the-secret' } });
    const ids = await pipe.send(bodies(3));
    const { lastError } = await tried(pipe);
    expect(lastError).to.equal('S3 rejected the credentials; check accessKeyId and secretAccessKey');
    await pipe.patch({ config: { secretAccessKey: S3_SECRET_KEY } });
    expectEachOnce(await pipe.rows(3, 30_000), ids);
  });

  it('writes the same bytes when the destination changes before a repeated upload', async () => {
    const worker = await testInstance.onlyWorker();
    const pipe = await line({ config: { ...fullAt(5), fileFormat: 'parquet', compression: 'zstd' } });
    gate.holdAnswers();
    const ids = await pipe.send(bodies(5));
    const [first] = await until('the object to be there', async () => {
      const objects = await pipe.objects();
      return objects.length === 1 && objects;
    });
    await worker.kill();
    await pipe.patch({ config: { fileFormat: 'jsonl', compression: 'none', payloadColumn: 'json' } });
    gate.breakConnections();
    await testInstance.onlyWorker();
    expectEachOnce(await pipe.rows(5, RECOVERY_MS), ids);
    const [again, ...others] = await pipe.objects();
    expect(others).to.deep.equal([]);
    expect(again?.key).to.equal(first?.key);
    expect(again?.body.equals(first?.body ?? Buffer.alloc(0)), 'the same bytes').to.equal(true);
  });

  it('writes a large file whole when a worker is killed between two of its parts', async () => {
    const worker = await testInstance.onlyWorker();
    const config = { ...fullAt(10), batchBytes: 128 * MIB, compression: 'gzip' };
    const pipe = await line({ config });
    // The first part, and half of the second.
    gate.stopAfter(24 * MIB);
    const ids = await pipe.send(
      Array.from({ length: 10 }, () => JSON.stringify(randomBytes(4.5 * MIB).toString('base64'))),
    );
    await until('a part to be on its way', () => gate.isStopped, RECOVERY_MS);
    expect(await pipe.objects(), 'nothing is seen of it').to.deep.equal([]);
    expect((await pipe.batches())[0]).to.include({ status: 'uploading', attempts: 1, count: 10 });
    await worker.kill();
    gate.breakConnections();
    await testInstance.onlyWorker();
    expectEachOnce(await pipe.rows(10, RECOVERY_MS), ids);
    const [object, ...others] = await pipe.objects();
    expect(others).to.deep.equal([]);
    const [batch] = await until('the batch to have ended', async () => {
      const batches = await pipe.batches('written');
      return batches.length === 1 && batches;
    });
    const sha256 = createHash('sha256')
      .update(object?.body ?? '')
      .digest('hex');
    expect(batch).to.include({ attempts: 2, count: 10, key: object?.key, bytes: object?.body.length, sha256 });
  });

  it('uploads nothing again when a worker is killed between the upload and the records of its deliveries', async () => {
    const worker = await testInstance.onlyWorker();
    const pipe = await line({ config: fullAt(5) });
    gate.refuseConnections();
    const ids = await pipe.send(bodies(5));
    await tried(pipe);
    const held = await holdEvent(testInstance.pool, ids[0] ?? '');
    try {
      gate.breakConnections();
      await until(
        'the batch to be uploaded',
        () => selectValue<boolean>(testInstance.pool)`select status = 'uploaded' as uploaded from warehouse_batches
          where destination_id = ${pipe.destinationId}`,
      );
      await until('the records to wait', async () => (await held.waiting()).length > 0);
      await worker.kill();
      // PostgreSQL would continue the statements of a dead worker.
      await until('it to be gone', async () => {
        const pids = await held.waiting();
        for (const pid of pids) await testInstance.pool.query('select pg_terminate_backend($1, 10000)', [pid]);
        return pids.length === 0;
      });
    } finally {
      await held.release();
    }
    const [before] = await pipe.batches('uploading');
    expect((await pipe.records.deliveries(ids[0] ?? ''))[0]?.status).to.equal('pending');
    await testInstance.onlyWorker();
    expectEachOnce(await pipe.rows(5, RECOVERY_MS), ids);
    const [after] = await until('the batch to have ended', async () => {
      const batches = await pipe.batches('written');
      return batches.length === 1 && batches;
    });
    expect(after).to.include({ id: before?.id, attempts: before?.attempts });
  });

  it('starts a workflow again that was ended in Temporal, with a batch that fills and with one that waits', async () => {
    await testInstance.onlyWorker();
    const [fills, waits] = await Promise.all([line({ config: { batchWindowSeconds: 5 } }), line()]);
    gate.refuseConnections();
    const ids = await Promise.all([fills.send(bodies(2)), waits.send(bodies(2))]);
    await until('a batch that fills', async () => (await fills.batches('open')).length === 1);
    await tried(waits);
    for (const { destinationId } of [fills, waits]) {
      await testInstance.temporal.workflow.getHandle(warehouseWorkflowId(destinationId)).terminate('a test');
    }
    gate.breakConnections();
    expectEachOnce(await fills.rows(2, RECOVERY_MS), ids[0]);
    expectEachOnce(await waits.rows(2, RECOVERY_MS), ids[1]);
  });

  it('fails deliveries whose batch could not be written for long enough, or hands them to failover destinations', async () => {
    await testInstance.onlyWorker({ tuning: { warehouseRetrySeconds: 3 } });
    const endpoint = receiver.endpoint();
    const config = { bucket: 'no-such-bucket' };
    const alone = await line({ config });
    const { id: standIn } = await alone.records.destination(endpoint.url);
    const covered = await line({ config, route: { failoverDestinationIds: [standIn] } });
    const [[lost = ''], [saved = '']] = await Promise.all([alone.send(bodies(1)), covered.send(bodies(1))]);
    const failed = await alone.records.deliveryWith('failed', lost);
    const error = 'The bucket "no-such-bucket" does not exist; create it, or correct its name';
    expect(failed).to.include({ attemptCount: 1, error, statusCode: null });
    expect(await alone.records.event(lost)).to.include({ status: 'failed' });
    expect((await alone.batches('failed'))[0]).to.include({ count: 1, lastError: error, writtenAt: null });
    await covered.records.eventWith('delivered', saved);
    const [first, second] = await covered.records.deliveries(saved);
    expect(first).to.include({ status: 'failed_over', destinationId: covered.destinationId });
    expect(second).to.include({ status: 'delivered', destinationId: standIn, failoverOf: first?.id });
    expect(endpoint.requests[0]?.headers).to.include({ 'x-hookyard-failure-reason': error });
    const health = await testInstance.client.get(`/api/destinations/${alone.destinationId}/health`);
    expect(health).to.include({ failedDeliveries: 1, successfulDeliveries: 0, status: 'failing' });
  });

  it('leaves out an event that is deleted while its batch waits, and refuses to cancel another of it', async () => {
    await testInstance.onlyWorker();
    const pipe = await line({ config: fullAt(2) });
    gate.refuseConnections();
    const [gone = '', kept = ''] = await pipe.send(bodies(2));
    const { id } = await tried(pipe);
    await testInstance.client.delete(`${testInstance.base}/events/${gone}`);
    const [delivery] = await pipe.records.deliveries(kept);
    const answer = await testInstance.client.request('POST', `/api/deliveries/${delivery?.id}/cancel`);
    expect(answer.status).to.equal(409);
    expect(answer.body).to.include({ code: 'INVALID_STATE' });
    expect(answer.body.message).to.include(`its batch ${id}`);
    gate.breakConnections();
    expectEachOnce(await pipe.rows(1, RECOVERY_MS), [kept]);
  });

  it('skips what waits when its destination is disabled, and cancels it when that is deleted', async () => {
    await testInstance.onlyWorker();
    const [disabled, deleted] = await Promise.all([line(), line()]);
    gate.refuseConnections();
    const [[skipped = ''], [cancelled = '']] = await Promise.all([disabled.send(bodies(1)), deleted.send(bodies(1))]);
    await Promise.all([tried(disabled), tried(deleted)]);
    const [open = ''] = await disabled.send(bodies(1));
    await disabled.patch({ enabled: false });
    await testInstance.client.delete(`/api/destinations/${deleted.destinationId}`);
    for (const id of [skipped, open]) {
      expect((await disabled.records.deliveryWith('skipped', id)).error).to.equal('The destination is disabled');
    }
    expect((await deleted.records.deliveryWith('cancelled', cancelled)).error).to.equal('The destination was deleted');
    expect((await disabled.batches('failed'))[0]).to.include({ lastError: 'The destination is disabled' });
    await until('the workflows to end', async () => {
      for (const { destinationId } of [disabled, deleted]) {
        const { status } = await testInstance.temporal.workflow
          .getHandle(warehouseWorkflowId(destinationId))
          .describe();
        if (status.name !== 'COMPLETED') throw new Error(`one is ${status.name}`);
      }
      return true;
    });
    expect([...(await disabled.objects()), ...(await deleted.objects())]).to.deep.equal([]);
  });
});
