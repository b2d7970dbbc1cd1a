import { expect } from 'chai';
import { until } from '../support/until.ts';
import { allRowsOf } from '../support/warehouse/warehouse-objects.ts';
import {
  type BatchView,
  expectEachOnce,
  makePipe,
  useStore,
  type WarehousePipe,
} from '../support/warehouse/warehouse-instance.ts';
import { useHookyard } from '../support/use-hookyard.ts';

describe('Loading what is new', () => {
  const { testInstance } = useHookyard();
  const store = useStore();

  /** Asks as the documentation says. */
  class Loader {
    readonly files: BatchView[] = [];
    readonly #path: string;
    constructor({ destinationId }: WarehousePipe) {
      this.#path = `/api/destinations/${destinationId}/batches?pageSize=2`;
    }

    async load(): Promise<number> {
      const writtenAfter = this.files.at(-1)?.writtenAt ?? '2026-01-01T00:00:00Z';
      for (let cursor: string | null = 'first'; cursor !== null; ) {
        type Part = { data: BatchView[]; pagination: { nextCursor: string | null } };
        const { data, pagination }: Part = await testInstance.client.get(
          `${this.#path}&writtenAfter=${writtenAfter}&cursor=${cursor}`,
        );
        this.files.push(...data);
        cursor = pagination.nextCursor;
      }
      return this.files.reduce((sum, { count }) => sum + count, 0);
    }
  }

  it('finds every file once, in the order of its key, and what it holds', async () => {
    const pipe = await makePipe(testInstance, store, {
      config: { batchSize: 3, batchWindowSeconds: 1, compression: 'gzip' },
    });
    const loader = new Loader(pipe);
    const bodies = Array.from({ length: 24 }, (_, index) => `${index}`);
    const sending = pipe.send(bodies);
    await until('all to be loaded', async () => (await loader.load()) >= bodies.length);
    const ids = await sending;
    await pipe.settled(ids.length);
    expect(await loader.load(), 'nothing more').to.equal(ids.length);
    const objects = await pipe.objects();
    const { files } = loader;
    expect(files.map(({ key }) => key)).to.deep.equal(objects.map(({ key }) => key));
    const rows = await Promise.all(objects.map(allRowsOf));
    expectEachOnce(rows.flat(), ids);
    for (const [index, { body }] of objects.entries()) {
      const received = (rows[index] ?? []).map((row) => row.received_at).toSorted();
      expect(files[index]).to.include({
        bytes: body.length,
        count: received.length,
        fileFormat: 'jsonl',
        compression: 'gzip',
        firstReceivedAt: received[0],
        lastReceivedAt: received.at(-1),
      });
    }
    const times = files.map(({ writtenAt }) => String(writtenAt));
    expect(times).to.deep.equal([...new Set(times)].toSorted());
  });

  it('finds what was replayed in a later file, whose rows say so', async () => {
    const pipe = await makePipe(testInstance, store, { config: { batchSize: 1 } });
    const loader = new Loader(pipe);
    const [id = ''] = await pipe.send(['{"a":1}']);
    await until('the first to be loaded', async () => (await loader.load()) === 1);
    await pipe.settled(1);
    const [delivery] = await pipe.records.deliveries(id);
    await testInstance.client.post(`/api/deliveries/${delivery?.id}/replay`);
    await until('the replay to be loaded', async () => (await loader.load()) === 2);
    const objects = await pipe.objects();
    expect(objects.map(({ key }) => key)).to.deep.equal(loader.files.map(({ key }) => key));
    const rows = (await Promise.all(objects.map(allRowsOf))).flat();
    expect(rows.map((row) => [row.event_id, row.replay_of])).to.deep.equal([
      [id, null],
      [id, delivery?.id],
    ]);
  });
});
