// Destinations of several organizations in an instance whose operator has R2 keys in its environment.
import { expect } from 'chai';
import { closeAll } from '../http/servers.ts';
import { createClient, expectError } from '../support/api-client.ts';
import type { Hookyard, OwnHookyard } from '../support/hookyard.ts';
import { lake, startOperatorR2 } from '../support/warehouse/operator-r2.ts';
import { Records } from '../support/records.ts';
import type { TestOrganization } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useHookyard, useMade, useOrganization } from '../support/use-hookyard.ts';

const NOT_GIVEN = /HOOKYARD_WAREHOUSE_IDENTITY/;

describe("The operator's R2 keys", () => {
  const given = { HOOKYARD_WAREHOUSE_IDENTITY: 'default:r2:events/hooks,default:r2:spare' };
  const r2 = useMade('what stands for Cloudflare', startOperatorR2, closeAll);
  const byOperator = () => r2.byOperator();
  const settings = () => ({ ...r2.environment, tuning: { warehouseRetrySeconds: 0 } });
  const { testInstance, records } = useHookyard({ settings });
  const other = useOrganization(() => ({ service: testInstance.api, pool: testInstance.pool }));

  const clientOf = (owner: TestOrganization) => createClient(testInstance.api.url, owner.token);

  it('are for nobody unless the operator says so, in creates, updates and tests', async () => {
    const { client } = testInstance;
    const keyless = await client.request('POST', '/api/destinations', lake({ bucket: 'events' }));
    expectError(keyless, 400, undefined, NOT_GIVEN);
    const own = { accessKeyId: 'tenant', secretAccessKey: 'tenants-secret' };
    const { id } = await client.create('/api/destinations', lake({ bucket: 'events', ...own }));
    expect(await client.post(`/api/destinations/${id}/test`)).to.include({ success: true });
    for (const member of ['accessKeyId', 'secretAccessKey']) {
      const patch = { config: { [member]: null } };
      const refused = await client.request('PATCH', `/api/destinations/${id}`, patch);
      expectError(refused, 400, undefined, new RegExp(`^config\\.${member} .*HOOKYARD_WAREHOUSE_IDENTITY`));
    }
    expect(byOperator()).to.deep.equal([]);
  });

  it('write to the buckets and folders that the operator gives an organization, and nowhere else', async () => {
    await testInstance.startApi(given);
    const { client } = testInstance;
    const { id } = await client.create('/api/destinations', lake({ bucket: 'events', prefix: 'hooks/eu' }));
    expect(await client.post(`/api/destinations/${id}/test`)).to.include({ success: true });
    await client.create('/api/destinations', lake({ bucket: 'spare' }));
    expect(byOperator()).to.have.length(1);
    expect(byOperator()[0]).to.match(/^\/events\/_test\/hooks\/eu\//);
    for (const config of [{ bucket: 'events' }, { bucket: 'events', prefix: 'hooks-of-others' }, { bucket: 'logs' }]) {
      expectError(await client.request('POST', '/api/destinations', lake(config)), 400, undefined, NOT_GIVEN);
    }
    const stranger = clientOf(other);
    for (const config of [{ bucket: 'events', prefix: 'hooks' }, { bucket: 'spare' }]) {
      expectError(await stranger.request('POST', '/api/destinations', lake(config)), 400, undefined, NOT_GIVEN);
    }
    const elsewhere = { bucket: 'spare', endpoint: 'https://elsewhere.example' };
    const foreign = await client.create('/api/destinations', lake(elsewhere));
    expect((await client.post(`/api/destinations/${foreign.id}/test`)).error).to.match(
      /cannot be used with a different endpoint/,
    );
  });

  it('write nothing for destinations that were stored before, in tests and in uploads of workers', async () => {
    await testInstance.startApi(given);
    const { id } = await testInstance.client.create('/api/destinations', lake({ bucket: 'spare' }));
    // An import does not look at the operator's list.
    const imported = {
      conflictStrategy: 'skip',
      destinations: [{ slug: 'stolen', ...lake({ bucket: 'spare' }), name: 'Stolen' }],
    };
    expect((await clientOf(other).post('/api/destinations/import', imported)).errors).to.deep.equal([]);
    const { data } = await clientOf(other).list('/api/destinations?pageSize=100');
    const stolen = data.find(({ name }) => name === 'Stolen');
    const before = byOperator().length;
    expect((await clientOf(other).post(`/api/destinations/${stolen?.id}/test`)).error).to.match(NOT_GIVEN);
    await testInstance.startWorker(given);
    await expectNotWritten(new Records(asHookyard(other)), clientOf(other), String(stolen?.id));
    expect(byOperator()).to.have.length(before);

    const source = await records.source();
    await records.route(source.id, [id]);
    await records.deliveryWith('delivered', await records.accepted(source, '{}'));
    expect(byOperator()).to.have.length(before + 1);

    // The operator takes it away again.
    await testInstance.startApi();
    await testInstance.onlyWorker();
    expect((await testInstance.client.post(`/api/destinations/${id}/test`)).error).to.match(NOT_GIVEN);
    await expectNotWritten(records, testInstance.client, id);
    expect(byOperator()).to.have.length(before + 1);
  });

  /** Sends an event to a destination and waits for its upload to fail. */
  async function expectNotWritten(records: Records, client: OwnHookyard['client'], id: string): Promise<void> {
    const source = await records.source();
    await records.route(source.id, [id]);
    await records.accepted(source, '{}');
    const batch = await until('an upload to fail', async () => {
      const { data } = await client.list(`/api/destinations/${id}/batches`);
      return data.find(({ lastError }) => lastError !== null);
    });
    expect(batch.lastError).to.match(NOT_GIVEN);
  }

  function asHookyard(owner: TestOrganization): Hookyard {
    return { ...testInstance, client: clientOf(owner), organizationId: owner.id, base: owner.base };
  }
});
