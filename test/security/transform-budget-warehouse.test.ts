// The files of a warehouse whose transforms need more than the budget of the organization: they are late, and complete.
import { expect } from 'chai';
import { setLimits } from '../../db/organizations/organizations.ts';
import { COLD_START_MS, type StoreServer } from '../support/warehouse/object-stores.ts';
import { busy, testThreads } from '../support/threads.ts';
import { expectEachOnce, WarehousePipe } from '../support/warehouse/warehouse-instance.ts';
import { providerCases } from '../support/warehouse/warehouse-targets.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const EVENTS = 20;
const CODE = busy(3);
// What all events need, of what there is at first: the rest is earned within half a minute.
const NEEDED = 1.5;

describe('a warehouse whose transforms need more than the budget', () => {
  const provider = providerCases.find(({ type }) => type === 's3') ?? expect.fail('no S3');
  const { testInstance } = useHookyard();
  let server: StoreServer;
  before(async function () {
    this.timeout(COLD_START_MS);
    server = await provider.start();
    await provider.prepare(server.url);
  });
  after(async () => {
    // Other files use the same organization.
    await setLimits(testInstance.pool, testInstance.organizationId, { transformMsPerMinute: 'default' });
    await server?.stop();
  });

  it('gets every event, once', async () => {
    const perMinute = Math.ceil((EVENTS * (await cpuMsOfARun())) / NEEDED);
    await setLimits(testInstance.pool, testInstance.organizationId, { transformMsPerMinute: perMinute });
    const { id: transformId } = await testInstance.client.create('/api/transforms', {
      name: 'Slow',
      type: 'javascript',
      code: CODE,
    });
    const store = { provider, url: server.url };
    const pipe = await WarehousePipe.make(testInstance, store, {
      config: { batchSize: EVENTS },
      route: { transformId },
    });
    const ids = await pipe.send(Array.from({ length: EVENTS }, () => '{}'));
    expectEachOnce(await pipe.rows(EVENTS, 240_000), ids);
  });
});

const RUNS = 5;

/** On this machine, now. */
async function cpuMsOfARun(): Promise<number> {
  const transforms = testThreads(1);
  const transform = { key: 'trf_1:1', type: 'javascript', code: CODE, outputContentType: null } as const;
  const event = {
    ...{ id: 'evt_1', source: 'orders', method: 'POST', path: '', query: '', headers: {} },
    ...{ body: Buffer.from('{}'), receivedAt: new Date(0) },
  };
  const run = () => transforms.runTransform(transform, event, 'org_1');
  try {
    // The first one starts the thread.
    await run();
    const before = process.cpuUsage();
    for (let runs = 0; runs < RUNS; runs += 1) await run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 / RUNS;
  } finally {
    await transforms.close();
  }
}
