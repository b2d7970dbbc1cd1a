// Destinations of several organizations in an instance that has an identity of its own.
import { expect } from 'chai';
import { createClient, expectError, type Json } from '../support/api-client.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { COLD_START_MS, S3_ACCESS_KEY, S3_SECRET_KEY, type StoreServer } from '../support/warehouse/object-stores.ts';
import { Records } from '../support/records.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type ProviderCase, providerCases } from '../support/warehouse/warehouse-targets.ts';

const NOT_GIVEN = /HOOKYARD_WAREHOUSE_IDENTITY/;

describe('The identity of the service', () => {
  let testInstance: OwnHookyard;
  let server: StoreServer;
  let other: TestOrganization;
  let bucket: string;
  let given: Record<string, string>;
  before(async function () {
    this.timeout(COLD_START_MS);
    const provider = providerCases[0] as ProviderCase;
    bucket = String(provider.config().bucket);
    given = { HOOKYARD_WAREHOUSE_IDENTITY: `default:s3:${bucket}/hooks` };
    server = await provider.start();
    await provider.prepare(server.url);
    testInstance = await startHookyard(undefined, {
      AWS_ACCESS_KEY_ID: S3_ACCESS_KEY,
      AWS_SECRET_ACCESS_KEY: S3_SECRET_KEY,
      AWS_ENDPOINT_URL_S3: server.url,
      tuning: { warehouseRetrySeconds: 0 },
    });
    other = await createOrganization({ service: testInstance.api, pool: testInstance.pool });
  });
  after(async () => {
    await testInstance?.close();
    await server?.stop();
  });

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
    const records = new Records(testInstance);
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
