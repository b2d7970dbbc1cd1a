// Warehouse destinations (types s3, r2, gcs, azure_blob) in the management API.
import { expect } from 'chai';
import { WAREHOUSE_TYPES } from '../../core/warehouse/config.ts';
import { WAREHOUSE_SECRET_FIELD } from '../../core/warehouse/credentials.ts';
import { expectError, expectInvalid, type Json } from '../support/api-client.ts';
import {
  deliveryOf,
  forgetQueued,
  ingest,
  makeDestination,
  makeRoute,
  makeSource,
  recordAttempt,
} from '../support/api-records.ts';
import { createOrganization, testPool } from '../support/service.ts';
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
  const storedConfig = async (id: string): Promise<string> =>
    (await testPool().query('select config from destinations where id = $1', [id])).rows[0].config;

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

      it('is stored encrypted', async () => {
        const { id } = await makeWarehouse(organization, type);
        const stored = await storedConfig(id);
        expect(stored).to.match(/^v1\./);
        expect(Buffer.from(stored.split('.')[2] ?? '', 'base64url').toString('latin1')).to.not.include(
          secret.slice(5, 15),
        );
      });

      it('keeps a secret that comes back redacted, and takes a new one', async () => {
        const { id, config } = await makeWarehouse(organization, type);
        expect((await patch(id, { config })).config).to.deep.equal(shown);
        const export_ = async () =>
          (
            await organization.api.get<{ destinations: { config: Json }[] }>(
              `/api/destinations/export?includeSensitive=true&ids=${id}`,
            )
          ).destinations[0]?.config[field];
        expect(await export_()).to.equal(secret);
        // The same key with a space more is another text and as good a key.
        const rotated = type === 'gcs' ? `${secret} ` : Buffer.from('a new key of the account').toString('base64');
        expect((await patch(id, { config: { [field]: rotated } })).config[field]).to.equal(`••••${rotated.slice(-4)}`);
        expect(await export_()).to.equal(rotated);
      });
    });
  }

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
    const bucketOnly = await organization.api.create<WarehouseRecord>('/api/destinations', {
      name: 'R2 of the environment',
      type: 'r2',
      config: { bucket: 'events' },
    });
    expect(bucketOnly.config).to.deep.equal({ bucket: 'events', region: 'auto', ...warehouseDefaults });
  });

  it('shows a prefix as it was sent, in every answer', async () => {
    for (const prefix of ['webhooks/', '/webhooks', '//in/hooks//', '/', '']) {
      const { id, config } = await makeWarehouse(organization, 's3', { prefix });
      const { data } = await organization.api.list<WarehouseRecord>(`/api/destinations?pageSize=1`);
      const { destinations } = await organization.api.get<{ destinations: { config: Json }[] }>(
        `/api/destinations/export?ids=${id}`,
      );
      const changed = await patch(id, { config: { batchSize: 9 } });
      const shown = [config, (await get(id)).config, data[0]?.config, destinations[0]?.config, changed.config];
      expect(shown.map((one) => one?.prefix)).to.deep.equal(shown.map(() => prefix));
    }
  });

  it('ignores what is for HTTP only, and reads its defaults there', async () => {
    const http = {
      url: 'not even an address',
      method: 'DELETE',
      headers: { Host: 'x' },
      authType: 'bearer',
      authConfig: { token: 't' },
      timeoutMs: -1,
      rateLimitPerMinute: 0,
      retryPolicy: 'x',
      signingSecret: 'x',
    };
    const read = {
      url: '',
      method: 'POST',
      headers: {},
      authType: 'none',
      authConfig: {},
      timeoutMs: 30_000,
      rateLimitPerMinute: null,
      retryPolicy: { maxRetries: 5, initialDelay: 1000, maxDelay: 60_000, backoffMultiplier: 2 },
      signingSecret: null,
    };
    const made = await makeWarehouse(organization, 's3', {}, http);
    expect(made).to.deep.include(read);
    expect(await patch(made.id, http)).to.deep.include({ ...read, config: made.config });
  });

  describe('PATCH', () => {
    it('changes the members of config that are sent, and removes those sent as null', async () => {
      const { id, config } = await makeWarehouse(organization, 's3', { prefix: 'a' });
      expect((await patch(id, { config: { bucket: 'others', batchSize: 7 } })).config).to.deep.equal({
        ...config,
        bucket: 'others',
        batchSize: 7,
      });
      const { prefix: _removed, ...rest }: Json = { ...config, bucket: 'others' };
      expect((await patch(id, { config: { prefix: null, batchSize: null } })).config).to.deep.equal(rest);
    });

    it('applies two changes at the same moment both', async () => {
      const { id } = await makeWarehouse(organization);
      await Promise.all([patch(id, { config: { prefix: 'a' } }), patch(id, { config: { batchSize: 9 } })]);
      expect((await get(id)).config).to.include({ prefix: 'a', batchSize: 9 });
    });

    it('replaces the field mapping as a whole, and removes it with null or without rules', async () => {
      const { id, fieldMapping } = await makeWarehouse(organization, 's3', {}, { fieldMapping: mapping });
      expect(fieldMapping).to.deep.equal(mapping);
      expect((await patch(id, { fieldMapping: mapping.slice(1) })).fieldMapping).to.deep.equal(mapping.slice(1));
      expect((await patch(id, { fieldMapping: null })).fieldMapping).to.deep.equal([]);
      await patch(id, { fieldMapping: mapping });
      expect((await patch(id, { fieldMapping: [] })).fieldMapping).to.deep.equal([]);
    });

    it('changes name, slug and enabled, and leaves the rest', async () => {
      const made = await makeWarehouse(organization, 'gcs', {}, { fieldMapping: mapping });
      const changed = await patch(made.id, { name: 'Renamed', slug: 'renamed-lake', enabled: false });
      expect(changed).to.deep.include({ name: 'Renamed', slug: 'renamed-lake', enabled: false });
      expect(changed).to.deep.include({ config: made.config, fieldMapping: mapping, url: '' });
    });

    it('leaves everything as it is when it is refused', async () => {
      const made = await makeWarehouse(organization);
      const answer = await organization.api.request('PATCH', `/api/destinations/${made.id}`, {
        name: 'Not renamed',
        config: { bucket: 'x' },
      });
      expectError(answer, 400, undefined, /^config\.bucket /);
      expect(await get(made.id)).to.deep.equal(made);
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

  describe('in routes', () => {
    after(() => forgetQueued(organization));

    it('are destinations and failover destinations, have a health, and leave history when they are deleted', async () => {
      const source = await makeSource(organization);
      const primary = await makeWarehouse(organization);
      const spare = await makeWarehouse(organization, 'gcs');
      const http = await makeDestination(organization);
      const route = await makeRoute(organization, source.id, [primary.id], {
        failoverDestinationIds: [spare.id, http.id],
      });
      const shown = await organization.api.get(`/api/routes/${route.id}`);
      expect(shown.destinations).to.deep.equal([{ id: primary.id, name: primary.name }]);
      const health = (id: string) => organization.api.get(`/api/destinations/${id}/health`);
      expect(await health(primary.id)).to.include({ status: 'unknown', totalDeliveries: 0 });

      const eventId = await ingest(organization, source, '{"order":{"id":1}}');
      const delivery = await deliveryOf(organization, eventId);
      await recordAttempt({ deliveryId: delivery.id, eventId, latency: 40 });
      const after_ = { status: 'healthy', totalDeliveries: 1, successfulDeliveries: 1, successRate: 100 };
      expect(await health(primary.id)).to.include(after_);
      expect(await get(primary.id)).to.include({ deliveriesCount: 1, successRate: 100 });

      await organization.api.delete(`/api/destinations/${primary.id}`);
      expectError(await organization.api.request('GET', `/api/destinations/${primary.id}`), 404, 'RESOURCE_NOT_FOUND');
      const bulk = await organization.api.request('DELETE', '/api/destinations/bulk', { ids: [spare.id, http.id] });
      expect(bulk.body).to.deep.equal({ success: true, deleted: 2 });
      const left = await organization.api.get(`/api/routes/${route.id}`);
      expect(left).to.deep.include({ destinationIds: [], failoverDestinationIds: [] });
      expect(await organization.api.get(`/api/deliveries/${delivery.id}`)).to.include({ destinationId: primary.id });
    });
  });
});
