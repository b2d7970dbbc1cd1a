import { expect } from 'chai';
import { WAREHOUSE_TYPES } from '../../core/warehouse/config.ts';
import { WAREHOUSE_SECRET_FIELD } from '../../core/warehouse/credentials.ts';
import { expectError, expectInvalid, type Json } from '../support/api-client.ts';
import { makeDestination } from '../support/api-records.ts';
import { createOrganization } from '../support/service.ts';
import {
  makeWarehouse,
  warehouseConfigs,
  warehouseDefaults,
  type WarehouseRecord,
} from '../support/warehouse/warehouse-records.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const mapping = [
  { source: '$.payload.order.id', target: 'order_id', type: 'string' },
  { source: "$.headers['x-kind']", target: 'kind', type: 'string', default: 'none' },
];

describe('Warehouse destinations', () => {
  const organization = useOrganization();
  const get = (id: string) => organization.api.get<WarehouseRecord>(`/api/destinations/${id}`);
  const patch = (id: string, body: Json) => organization.api.patch<WarehouseRecord>(`/api/destinations/${id}`, body);

  for (const type of WAREHOUSE_TYPES) {
    describe(type, () => {
      const field = WAREHOUSE_SECRET_FIELD[type];
      const secret = String(warehouseConfigs[type][field]);
      const shown = { ...warehouseConfigs[type], ...warehouseDefaults, [field]: `••••${secret.slice(-4)}` };

      it('is created with its defaults, and shown with its secret redacted', async () => {
        const made = await makeWarehouse(organization, type, {}, { name: `Lake ${type}` });
        expect(made.id).to.match(/^dst_wh_[0-9a-z]{26}$/);
        expect(made).to.deep.include({ name: `Lake ${type}`, type, url: '', enabled: true, config: shown });
        expect(made).to.deep.include({ fieldMapping: [], deliveriesCount: 0, successRate: null, lastDeliveryAt: null });
        expect(await get(made.id)).to.deep.equal(made);
      });
    });
  }

  it('keeps a secret that comes back redacted, and takes a new one', async () => {
    const { id, config } = await makeWarehouse(organization, 's3');
    const stored = async () => {
      const path = `/api/destinations/export?includeSensitive=true&ids=${id}`;
      const { destinations } = await organization.api.get<{ destinations: { config: Json }[] }>(path);
      return destinations[0]?.config.secretAccessKey;
    };
    expect((await patch(id, { config })).config).to.deep.equal(config);
    expect(await stored()).to.equal(warehouseConfigs.s3.secretAccessKey);
    expect((await patch(id, { config: { secretAccessKey: 'a-new-key' } })).config.secretAccessKey).to.equal('••••-key');
    expect(await stored()).to.equal('a-new-key');
  });

  it('takes every optional member, texts for booleans and numbers too', async () => {
    const more = {
      prefix: '/hooks/in/',
      fileFormat: 'json',
      compression: 'zstd',
      payloadColumn: 'json',
      partitionBy: 'hour',
      keyOrder: 'received',
      batchSize: 5,
      batchBytes: 134_217_728,
      batchWindowSeconds: 3600,
    };
    const own = { endpoint: 'http://127.0.0.1:9000', forcePathStyle: 'true' };
    const { config } = await makeWarehouse(organization, 's3', { ...more, ...own });
    expect(config).to.deep.include({ ...more, ...own, forcePathStyle: true });
    const texts = { batchSize: '5', batchWindowSeconds: '3600' };
    expect((await makeWarehouse(organization, 's3', texts)).config).to.include({
      batchSize: 5,
      batchWindowSeconds: 3600,
    });
    const keyless = { name: 'R2 of the environment', type: 'r2', config: { bucket: 'events' } };
    const bucketOnly = await organization.api.create<WarehouseRecord>('/api/destinations', keyless);
    expect(bucketOnly.config).to.deep.equal({ bucket: 'events', region: 'auto', ...warehouseDefaults });
  });

  describe('PATCH', () => {
    it('changes the members of config that are sent, and removes those sent as null', async () => {
      const { id, config } = await makeWarehouse(organization, 's3', { prefix: 'a' });
      const changed = { ...config, bucket: 'others', batchSize: 7 };
      expect((await patch(id, { config: { bucket: 'others', batchSize: 7 } })).config).to.deep.equal(changed);
      const { prefix: _removed, ...rest }: Json = { ...config, bucket: 'others' };
      expect((await patch(id, { config: { prefix: null, batchSize: null } })).config).to.deep.equal(rest);
    });

    it('replaces the field mapping as a whole, and removes it with null or without rules', async () => {
      const { id, fieldMapping } = await makeWarehouse(organization, 's3', {}, { fieldMapping: mapping });
      expect(fieldMapping).to.deep.equal(mapping);
      expect((await patch(id, { fieldMapping: mapping.slice(1) })).fieldMapping).to.deep.equal(mapping.slice(1));
      expect((await patch(id, { fieldMapping: null })).fieldMapping).to.deep.equal([]);
      await patch(id, { fieldMapping: mapping });
      expect((await patch(id, { fieldMapping: [] })).fieldMapping).to.deep.equal([]);
    });

    it('does not change the type, in either direction', async () => {
      const { id } = await makeWarehouse(organization, 's3');
      expect((await patch(id, { type: 's3' })).type).to.equal('s3');
      expectInvalid(await organization.api.request('PATCH', `/api/destinations/${id}`, { type: 'r2' }), 'type');
      expectInvalid(await organization.api.request('PATCH', `/api/destinations/${id}`, { type: 'http' }), 'type');
      const http = await makeDestination(organization);
      const body = { type: 's3', config: warehouseConfigs.s3 };
      expectInvalid(await organization.api.request('PATCH', `/api/destinations/${http.id}`, body), 'type');
    });
  });

  describe('lists', () => {
    it('show config with its secret redacted, and totals of HTTP destinations only', async () => {
      const own = await createOrganization();
      const http = await makeDestination(own, { name: 'Endpoint' });
      const { id, config } = await makeWarehouse(own, 'azure_blob', {}, { name: 'The Lake', enabled: false });
      const { data, pagination } = await own.api.list('/api/destinations');
      expect(pagination.total).to.equal(2);
      expect(data[0]).to.deep.equal({
        ...{ id, name: 'The Lake', slug: 'the-lake', type: 'azure_blob', url: '', enabled: false, config },
        ...{ paused: false, pausedUntil: null },
      });
      expect(data[1]).to.deep.include({ id: http.id, successRate: null, avgLatency: null, deliveriesCount: 0 });
      expect(data[1]).to.not.have.any.keys('config', 'fieldMapping');
      const found = async (query: string) =>
        (await own.api.list(`/api/destinations?${query}`)).data.map(({ name }) => name);
      expect(await found('search=lake')).to.deep.equal(['The Lake']);
      expect(await found('search=receiver.example')).to.deep.equal(['Endpoint']);
      expect(await found('search=events')).to.deep.equal([]);
      expect(await found('enabled=false')).to.deep.equal(['The Lake']);
    });
  });

  describe('the organization-scoped family', () => {
    it('knows nothing of them', async () => {
      const own = await createOrganization();
      const http = await makeDestination(own);
      const { id } = await makeWarehouse(own);
      const list = await own.api.list(`${own.base}/destinations`);
      expect(list.data.map((destination) => destination.id)).to.deep.equal([http.id]);
      expect(list.pagination.total).to.equal(1);
      const path = `${own.base}/destinations/${id}`;
      for (const [method, at, body] of [
        ['GET', path, undefined],
        ['PATCH', path, { enabled: false }],
        ['DELETE', path, undefined],
        ['GET', `${path}/health`, undefined],
      ] as const) {
        expectError(await own.api.request(method, at, body), 404, 'RESOURCE_NOT_FOUND');
      }
      expect(await own.api.get(`/api/destinations/${id}`)).to.deep.include({ id, enabled: true });
    });
  });
});
