// Files of 128 MiB: written in parts, with bounded memory of the worker.
import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import { residentMiB } from '../../bench/support/measure.ts';
import { until } from '../support/until.ts';
import { expectEachOnce, makePipe, useStore } from '../support/warehouse/warehouse-instance.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const MIB = 1024 * 1024;
const EVENTS = 32;
const FORMS = [
  ['jsonl', 'none'],
  ['parquet', 'zstd'],
];

describe('a warehouse file of 128 MiB', () => {
  const { testInstance } = useHookyard({});
  const store = useStore();

  for (const [fileFormat, compression] of FORMS) {
    it(`is written whole, ${fileFormat} compressed with ${compression}, with at most 192 MiB above the idle worker`, async () => {
      const worker = await testInstance.onlyWorker();
      // The SDK and what is compiled are there before.
      const small = await makePipe(testInstance, store, { config: { fileFormat, compression } });
      await small.send(['{}']);
      await small.settled(1);
      const idle = residentMiB(worker.pid);
      const config = { batchSize: EVENTS, batchBytes: 128 * MIB, batchWindowSeconds: 3600, fileFormat, compression };
      const pipe = await makePipe(testInstance, store, { config });
      let most = 0;
      const watch = setInterval(() => (most = Math.max(most, residentMiB(worker.pid))), 20);
      try {
        const ids: string[] = [];
        for (let n = 0; n < EVENTS; n += 1)
          ids.push(...(await pipe.send([JSON.stringify(randomBytes(3 * MIB - 5).toString('base64'))])));
        await pipe.settled(EVENTS, 'delivered', 120_000);
        expect(most - idle, `${most} MiB, idle ${idle} MiB`).to.be.at.most(192);
        expectEachOnce(await pipe.rows(EVENTS), ids);
      } finally {
        clearInterval(watch);
      }
      const [object, ...others] = await pipe.objects();
      expect(others).to.deep.equal([]);
      const sha256 = createHash('sha256')
        .update(object?.body ?? '')
        .digest('hex');
      const [batch] = await until('the batch to have ended', () => pipe.batches('written'));
      expect(batch).to.include({ count: EVENTS, bytes: object?.body.length, sha256, attempts: 1 });
    });
  }
});
