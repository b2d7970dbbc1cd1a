import { expect } from 'chai';
import { WAREHOUSE_TYPES, type WarehouseType } from '../../core/warehouse/config.ts';
import { type Answer, expectError, type Json } from '../support/api-client.ts';
import { makeDestination } from '../support/api-records.ts';
import { createOrganization, testPool } from '../support/service.ts';
import { makeWarehouse, warehouseConfigs } from '../support/warehouse/warehouse-records.ts';
import { useOrganization } from '../support/use-hookyard.ts';

function expectRefused(answer: Answer, path: string): void {
  expectError(answer, 400, undefined);
  expect(answer.body.error).to.equal('Bad Request');
  expect(String(answer.body.message).split(' ')[0]).to.equal(path);
  expect(answer.body).to.have.nested.property('details[0].path', path);
}

describe('Refused warehouse destinations', () => {
  const organization = useOrganization();
  const post = (body: Json): Promise<Answer> => organization.api.request('POST', '/api/destinations', body);
  const withConfig = (type: WarehouseType, config: unknown, members: Json = {}) =>
    post({ name: 'x', type, config, ...members });
  const changed = (type: WarehouseType, changes: Json) => withConfig(type, { ...warehouseConfigs[type], ...changes });

  it('answers 403 without a code on the plan free, whatever else is wrong', async () => {
    const free = await createOrganization({ plan: 'free' });
    const bodies = WAREHOUSE_TYPES.map((type) => ({ name: 'x', type, config: warehouseConfigs[type] }));
    for (const body of [...bodies, { name: 'x', type: 's3' }]) {
      const answer = await free.api.request('POST', '/api/destinations', body);
      expectError(answer, 403, undefined);
      expect(answer.body.error).to.equal('Forbidden');
    }
    await makeWarehouse(await createOrganization({ plan: 'pro' }), 's3');
  });

  it('answers 400 without a config, or with one that is no object', async () => {
    for (const config of [undefined, null, 'bucket', ['bucket'], 5])
      expectRefused(await withConfig('s3', config), 'config');
  });

  // What else a config may not be: test/core/warehouse-config.test.ts.
  const wrong: [WarehouseType, string, unknown][] = [
    ['s3', 'bucket', 'ab'],
    ['s3', 'compression', 'snappy'],
    ['s3', 'prefx', 'in'],
    ['azure_blob', 'region', 'eu-central-1'],
    ['s3', 'secretAccessKey', '••••0001'],
    ['gcs', 'serviceAccountKey', '{"type":"service_account","client_email":"planted","private_key":"planted"}'],
  ];
  for (const [type, member, value] of wrong) {
    it(`answers 400 to ${type} with ${member} ${JSON.stringify(value).slice(0, 40)}, on create and update`, async () => {
      expectRefused(await changed(type, { [member]: value }), `config.${member}`);
      // What was shown may be sent back in an update.
      if (member === 'secretAccessKey') return;
      const { id } = await makeWarehouse(organization, type);
      const config = { [member]: value };
      const answer = await organization.api.request('PATCH', `/api/destinations/${id}`, { config });
      expectRefused(answer, `config.${member}`);
      expect(JSON.stringify(answer.body), 'the value is not quoted').to.not.match(/planted/);
    });
  }

  const rule = { source: '$.payload.a', target: 'a', type: 'string' };
  // What else a mapping may not be: test/core/warehouse-mapping.test.ts.
  const wrongMappings: [string, unknown, string][] = [
    ['no array', { 0: rule }, 'fieldMapping'],
    ['a path that does not parse', [rule, { ...rule, target: 'b', source: '$.payload[' }], 'fieldMapping.1.source'],
  ];
  for (const [what, fieldMapping, path] of wrongMappings) {
    it(`answers 400 to a field mapping with ${what}, on create and update`, async () => {
      expectRefused(await withConfig('s3', warehouseConfigs.s3, { fieldMapping }), path);
      const { id } = await makeWarehouse(organization);
      expectRefused(await organization.api.request('PATCH', `/api/destinations/${id}`, { fieldMapping }), path);
    });
  }

  it('answers 400 to an HTTP destination with a config, which would be dropped', async () => {
    const url = 'https://receiver.example/hooks';
    expectRefused(await post({ name: 'x', url, config: warehouseConfigs.s3 }), 'config');
    const { id } = await makeDestination(organization);
    const answer = await organization.api.request('PATCH', `/api/destinations/${id}`, { config: { bucket: 'x' } });
    expectRefused(answer, 'config');
    for (const config of [null, {}]) await organization.api.create('/api/destinations', { name: 'x', url, config });
  });

  it('does not open a config that was copied from another record', async () => {
    const { id } = await makeWarehouse(organization);
    const sql = `update destinations set config = (select config from destinations where id = $1) where id = $2`;
    const { id: other } = await makeWarehouse(organization);
    await testPool().query(sql, [id, other]);
    expectError(await organization.api.request('GET', `/api/destinations/${other}`), 500, 'INTERNAL_ERROR');
    await organization.api.delete(`/api/destinations/${other}`);
  });
});
