// interface.md: what it says of warehouse destinations (types s3, r2, gcs, azure_blob).
import { expect } from 'chai';
import { expectError, type Json } from '../../support/api-client.ts';
import { expectIntegers, expectTakes, rowsOf, type World } from '../world.ts';

const PATH = '/api/destinations';
const KEY_FILE = JSON.stringify({
  type: 'service_account',
  client_email: 'a@b.iam.example',
  private_key: 'contract-key-1234',
});
const ACCOUNT_KEY = Buffer.from('contract account key 1234').toString('base64');

/** A config of each provider with its required members only. */
const configs = {
  s3: {
    bucket: 'contract-bucket',
    region: 'eu-central-1',
    accessKeyId: 'AKIACONTRACT',
    secretAccessKey: 'contract-secret-wxyz',
  },
  r2: { bucket: 'contract-bucket' },
  gcs: { bucket: 'contract-bucket', projectId: 'contract-project', serviceAccountKey: KEY_FILE },
  azure_blob: { accountName: 'contractaccount', accountKey: ACCOUNT_KEY, containerName: 'contract-container' },
} as const satisfies Record<string, Json>;
type Provider = keyof typeof configs;
const providers = Object.keys(configs) as Provider[];

const bodyOf = (type: Provider, config: Json = {}, fields: Json = {}): Json => ({
  ...{ name: `Warehouse ${type}`, type, config: { ...configs[type], ...config } },
  ...fields,
});
const make = (w: World, type: Provider, config: Json = {}, fields: Json = {}) =>
  w.api.create<Json & { config: Json }>(PATH, bodyOf(type, config, fields));
const refused = async (w: World, type: Provider, config: Json) => {
  const answer = await w.api.request('POST', PATH, bodyOf(type, config));
  expect(answer.status, `${type} ${JSON.stringify(config)}: ${JSON.stringify(answer.body)}`).to.equal(400);
  return answer;
};
async function expectRequiredConfig(w: World, type: Provider): Promise<void> {
  await make(w, type);
  for (const member of Object.keys(configs[type])) {
    await refused(w, type, { [member]: undefined });
    await refused(w, type, { [member]: 5 });
  }
}
async function expectLength(w: World, types: Provider[], member: string, min: number, max: number): Promise<void> {
  for (const type of types) {
    for (const length of [min, max]) await make(w, type, { [member]: 'a'.repeat(length) });
    for (const length of [min - 1, max + 1]) await refused(w, type, { [member]: 'a'.repeat(length) });
  }
}
const rule = (fields: Json = {}) => ({ source: '$.payload.id', target: 'id', type: 'string', ...fields });

export const warehouseRows = [
  ...rowsOf('What the service does', {
    'A destination is a delivery target': async (w) => {
      expect((await w.destination()).type).to.equal('http');
      for (const type of providers) expect((await make(w, type)).type).to.equal(type);
      // And its files: an event that was written to one is delivered.
      const { type, config } = await w.warehouse();
      const lake = await w.api.create(PATH, { name: 'Lake', type, config: { ...config, batchSize: 1 } });
      const source = await w.records.source();
      await w.records.route(source.id, [lake.id]);
      await w.records.deliveryWith('delivered', await w.records.accepted(source, '{}'));
    },
  }),
  ...rowsOf('Destination (flat family, `/api/destinations`)', {
    '| url | string | required for `http`': async (w) => {
      expect((await w.api.request('POST', PATH, { name: 'CRM' })).status).to.equal(400);
      expect((await make(w, 's3')).url).to.equal('');
    },
    '| config | object | warehouse only, required': async (w) => {
      for (const type of providers) {
        expect((await w.api.request('POST', PATH, { name: 'W', type })).status).to.equal(400);
        expect((await w.api.request('POST', PATH, { name: 'W', type, config: 'x' })).status).to.equal(400);
      }
    },
    '| fieldMapping | array | warehouse only, optional; at most 50 rules |': async (w) => {
      const rules = (count: number) => Array.from({ length: count }, (_, n) => rule({ target: `c${n}` }));
      await expectTakes(w.api, PATH, bodyOf('s3'), 'fieldMapping', [rules(50)], [rules(51), 'x', [5]]);
    },
    'Credential redaction: the fields': async (w) => {
      expect((await make(w, 's3')).config.secretAccessKey).to.equal('••••wxyz');
      expect((await make(w, 'gcs')).config.serviceAccountKey).to.equal(`••••${KEY_FILE.slice(-4)}`);
      expect((await make(w, 'azure_blob')).config.accountKey).to.equal(`••••${ACCOUNT_KEY.slice(-4)}`);
    },
    'On update of a warehouse destination, a redacted value sent back': async (w) => {
      const { id, config } = await make(w, 's3');
      const sealed = async () => {
        const { destinations } = await w.api.get<{ destinations: { config: Json }[] }>(
          `${PATH}/export?ids=${id}&includeSensitive=true`,
        );
        return destinations[0]?.config;
      };
      const kept = await w.api.patch<{ config: Json }>(`${PATH}/${id}`, { config: { ...config, prefix: 'moved' } });
      expect(kept.config).to.include({ prefix: 'moved', secretAccessKey: '••••wxyz' });
      expect(await sealed()).to.include({ secretAccessKey: 'contract-secret-wxyz' });
      await w.api.patch(`${PATH}/${id}`, { config: { ...config, secretAccessKey: 'rotated-secret-1234' } });
      expect(await sealed()).to.include({ secretAccessKey: 'rotated-secret-1234' });
    },
    'Warehouse config fields (all strings)': async (w) => {
      for (const type of providers)
        for (const member of Object.keys(configs[type])) await refused(w, type, { [member]: 7 });
    },
    'Common optional fields for every provider': async (w) => {
      for (const type of providers) {
        expect((await make(w, type)).config).to.include({ fileFormat: 'jsonl', partitionBy: 'date' });
        const optional = { prefix: 'in/hooks', fileFormat: 'json', partitionBy: 'hour' };
        expect((await make(w, type, optional)).config).to.include(optional);
        expect((await make(w, type, { partitionBy: 'source' })).config).to.include({ partitionBy: 'source' });
        for (const wrong of [{ fileFormat: 'csv' }, { partitionBy: 'week' }, { prefix: 5 }])
          await refused(w, type, wrong);
      }
    },
    '| s3 | bucket (3-63 chars), region': (w) => expectRequiredConfig(w, 's3'),
    '| r2 | bucket (3-63 chars) |': (w) => expectRequiredConfig(w, 'r2'),
    '| gcs | bucket (3-63 chars), projectId': (w) => expectRequiredConfig(w, 'gcs'),
    '| azure_blob | accountName (3-24 chars)': (w) => expectRequiredConfig(w, 'azure_blob'),
    '| source | string | yes | JSONPath': (w) =>
      expectTakes(
        w.api,
        PATH,
        bodyOf('s3'),
        'fieldMapping',
        [[rule({ source: '$.payload.items[0].sku' })]],
        [...[[rule({ source: undefined })], [rule({ source: 'payload[' })], [rule({ source: 5 })]]],
      ),
    '| target | string | yes |': (w) =>
      expectTakes(
        w.api,
        PATH,
        bodyOf('s3'),
        'fieldMapping',
        [[rule()]],
        [[rule({ target: undefined })], [rule({ target: 5 })]],
      ),
    '| type | string | yes |': (w) =>
      expectTakes(
        w.api,
        PATH,
        bodyOf('s3'),
        'fieldMapping',
        ['string', 'number', 'boolean', 'timestamp', 'json'].map((type) => [rule({ type })]),
        [[rule({ type: undefined })], [rule({ type: 'date' })]],
      ),
    '| default | string | no |': (w) =>
      expectTakes(w.api, PATH, bodyOf('s3'), 'fieldMapping', [[rule({ default: 'none' })]], [[rule({ default: 5 })]]),
  }),
  ...rowsOf('Destinations, flat family', {
    'Creating a warehouse destination (`s3`, `r2`': async (w) => {
      for (const plan of ['pro', 'business'] as const) {
        const { api } = await w.organization(plan);
        for (const type of providers) await api.create(PATH, bodyOf(type));
      }
      const { api } = await w.organization('free');
      for (const type of providers) expectError(await api.request('POST', PATH, bodyOf(type)), 403, undefined);
    },
    'Test on an HTTP destination sends a test webhook': async (w) => {
      const endpoint = w.receiver.endpoint(200);
      const { id } = await w.destination({ url: endpoint.url });
      await w.api.post(`${PATH}/${id}/test`);
      expect(endpoint.requests).to.have.length(1);
      const { type, config } = await w.warehouse();
      const warehouse = await w.api.create(PATH, { name: 'Lake', type, config });
      expect(await w.api.post<Json>(`${PATH}/${warehouse.id}/test`)).to.include({ success: true });
    },
    'Warehouse test result:': async (w) => {
      const { type, config } = await w.warehouse();
      const { id } = await w.api.create(PATH, { name: 'Lake', type, config });
      const tested = await w.api.post<Json & { result: Json }>(`${PATH}/${id}/test`, { payload: { id: 42 } });
      expect(tested.success).to.equal(true);
      expect(tested.message).to.be.a('string');
      expect(tested.result.key).to.be.a('string').and.not.equal('');
      expectIntegers(tested.result, 'size', 'count');
      expect(tested.result.count).to.equal(1);
    },
  }),
  ...rowsOf('Authentication', {
    'Warehouse destinations are available only on the Pro or Business plan': async (w) => {
      const { api } = await w.organization('free');
      expectError(await api.request('POST', PATH, bodyOf('r2')), 403, undefined);
    },
    'Warehouse credentials are encrypted at rest and redacted in responses': async (w) => {
      const { id } = await make(w, 's3');
      const { rows } = await w.testInstance.pool.query('select * from destinations where id = $1', [id]);
      expect(JSON.stringify(rows)).to.not.include('contract-secret');
      expect(JSON.stringify(await w.api.get(`${PATH}/${id}`))).to.not.include('contract-secret');
      expect(JSON.stringify(await w.api.list(PATH))).to.not.include('contract-secret');
      expect(JSON.stringify(await w.api.get(`${PATH}/export?ids=${id}`))).to.not.include('contract-secret');
      expect(JSON.stringify(await w.api.get(`${PATH}/export?ids=${id}&includeSensitive=true`))).to.include(
        'contract-secret',
      );
    },
  }),
  ...rowsOf('Errors', {
    '| 400 | Bad Request | (none) | invalid warehouse configuration': async (w) => {
      const answer = await refused(w, 's3', { bucket: 'ab' });
      expectError(answer, 400, undefined);
      expect(answer.body.error).to.equal('Bad Request');
    },
    '| 403 | Forbidden | (none) |': async (w) => {
      const { api } = await w.organization('free');
      const answer = await api.request('POST', PATH, bodyOf('gcs'));
      expectError(answer, 403, undefined);
      expect(answer.body.error).to.equal('Forbidden');
    },
  }),
  ...rowsOf('Limits', {
    '| fieldMapping rules | max 50 |': async (w) => {
      const rules = Array.from({ length: 51 }, (_, n) => rule({ target: `c${n}` }));
      const answer = await w.api.request('POST', PATH, bodyOf('s3', {}, { fieldMapping: rules }));
      expect(answer.status).to.equal(400);
    },
    '| bucket name length | 3-63 |': (w) => expectLength(w, ['s3', 'r2', 'gcs'], 'bucket', 3, 63),
    '| containerName length | 3-63 |': (w) => expectLength(w, ['azure_blob'], 'containerName', 3, 63),
    '| accountName length | 3-24 |': (w) => expectLength(w, ['azure_blob'], 'accountName', 3, 24),
    '| plan | Pro or Business |': async (w) => {
      expect((await (await w.organization('free')).api.request('POST', PATH, bodyOf('s3'))).status).to.equal(403);
      expect((await (await w.organization('pro')).api.request('POST', PATH, bodyOf('s3'))).status).to.equal(201);
    },
  }),
];
