// The files of a warehouse whose transforms need more than the budget of the organization: they are late, and complete.
import { expect } from 'chai';
import { setLimits } from '../../db/organizations/limits.ts';
import { type Hookyard, sharedHookyard } from '../support/hookyard.ts';
import { COLD_START_MS, type StoreServer } from '../support/object-stores.ts';
import { busy } from '../support/transforms.ts';
import { expectEachOnce, WarehousePipe } from '../support/warehouse-instance.ts';
import { providerCases } from '../support/warehouse-targets.ts';

const EVENTS = 20;

describe('a warehouse whose transforms need more than the budget @turns', function () {
  this.timeout(1_200_000);
  const provider = providerCases.find(({ type }) => type === 's3') ?? expect.fail('no S3');
  let testInstance: Hookyard;
  let server: StoreServer;
  before(async function () {
    this.timeout(COLD_START_MS);
    [testInstance, server] = await Promise.all([sharedHookyard(), provider.start()]);
    await provider.prepare(server.url);
  });
  after(async () => {
    // Other files use the same organization.
    await setLimits(testInstance.pool, testInstance.organizationId, { transformMsPerMinute: 'default' });
    await testInstance?.close();
    await server?.stop();
  });

  it('gets every event, once', async () => {
    await setLimits(testInstance.pool, testInstance.organizationId, { transformMsPerMinute: 500 });
    const { id: transformId } = await testInstance.client.create('/api/transforms', {
      name: 'Slow',
      type: 'javascript',
      code: busy(3),
    });
    const store = { provider, url: server.url };
    const pipe = await WarehousePipe.make(testInstance, store, {
      config: { batchSize: EVENTS },
      route: { transformId },
    });
    const ids = await pipe.send(Array.from({ length: EVENTS }, () => '{}'));
    expectEachOnce(await pipe.rows(EVENTS, 1_100_000), ids);
  });
});
