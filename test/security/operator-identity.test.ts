// Destinations of several organizations in an instance that has an identity of its own.
import { expect } from 'chai';
import { createClient, expectError, type Json } from '../support/api-client.ts';
import { until } from '../support/until.ts';
import { useHookyard, useOrganization } from '../support/use-hookyard.ts';
import { S3_ACCESS_KEY, S3_SECRET_KEY } from '../support/warehouse/object-stores.ts';
import { useStore } from '../support/warehouse/warehouse-instance.ts';

const NOT_GIVEN = /HOOKYARD_WAREHOUSE_IDENTITY/;

describe('The identity of the service', () => {
  const store = useStore();
  const bucket = String(store.provider.config().bucket);
  const given = { HOOKYARD_WAREHOUSE_IDENTITY: `default:s3:${bucket}/hooks` };
  const settings = () => ({
    AWS_ACCESS_KEY_ID: S3_ACCESS_KEY,
    AWS_SECRET_ACCESS_KEY: S3_SECRET_KEY,
    AWS_ENDPOINT_URL_S3: store.url,
    tuning: { warehouseRetrySeconds: 0 },
  });
  const { testInstance, records } = useHookyard({ settings });
  const other = useOrganization(() => ({ service: testInstance.api, pool: testInstance.pool }));

  const lake = (config: Json = {}) => ({
    name: 'Lake',
    type: 's3',
    config: { bucket, region: 'eu-central-1', credentials: 'identity', forcePathStyle: true, batchSize: 1, ...config },
  });
  const create = (config: Json, client = testInstance.client) =>
    client.request('POST', '/api/destinations', lake(config));

  it('writes what the operator lists for an organization, and nothing else', async () => {
    await testInstance.startApi(given);
    const { client } = testInstance;
    for (const prefix of ['', 'logs', 'hooks-of-others'])
      expectError(await create({ prefix }), 400, undefined, NOT_GIVEN);
    const stranger = createClient(testInstance.api.url, other.token);
    expectError(await create({ prefix: 'hooks' }, stranger), 400, undefined, NOT_GIVEN);
    const keys = { credentials: 'keys', accessKeyId: 'a', secretAccessKey: 'secret-of-this-one', prefix: 'hooks' };
    const { id } = (await create(keys)).body;
    const changed = await client.patch<{ config: Json }>(`/api/destinations/${id}`, {
      config: { credentials: 'identity' },
    });
    expect(changed.config).to.include({ credentials: 'identity' });
    expect(changed.config).to.not.have.any.keys('accessKeyId', 'secretAccessKey');
    expect(await client.post(`/api/destinations/${id}/test`)).to.include({ success: true });

    await testInstance.startWorker(given);
    const source = await records.source();
    await records.route(source.id, [String(id)]);
    await records.deliveryWith('delivered', await records.accepted(source, '{}'));

    // The operator takes it away again.
    await testInstance.startApi();
    await testInstance.onlyWorker();
    expect((await testInstance.client.post(`/api/destinations/${id}/test`)).error).to.match(NOT_GIVEN);
    await records.accepted(source, '{}');
    await until('an upload to fail', async () => {
      const { data } = await testInstance.client.list(`/api/destinations/${id}/batches`);
      return data.some(({ lastError }) => lastError !== null && NOT_GIVEN.test(String(lastError)));
    });
  });
});
