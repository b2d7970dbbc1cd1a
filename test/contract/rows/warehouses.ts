// WH, and what else is said of warehouses.
import { expect } from 'chai';
import { expectError, expectInvalid, type Json } from '../../support/api-client.ts';
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

export const warehouseRows = rowsOf({
  'DEST-01 a destination is HTTP or a warehouse': async (w) => {
    expect((await w.destination()).type).to.equal('http');
    for (const type of providers) expect((await make(w, type)).type).to.equal(type);
    // And its files: an event that was written to one is delivered.
    const { type, config } = await w.warehouse();
    const lake = await w.api.create(PATH, { name: 'Lake', type, config: { ...config, batchSize: 1 } });
    const source = await w.records.source();
    await w.records.route(source.id, [lake.id]);
    await w.records.deliveryWith('delivered', await w.records.accepted(source, '{}'));
  },
  'DEST-06 url is required for http, and empty for a warehouse': async (w) => {
    expect((await w.api.request('POST', PATH, { name: 'CRM' })).status).to.equal(400);
    expect((await make(w, 's3')).url).to.equal('');
  },
  'WH-01 config is required': async (w) => {
    for (const type of providers) {
      expect((await w.api.request('POST', PATH, { name: 'W', type })).status).to.equal(400);
      expect((await w.api.request('POST', PATH, { name: 'W', type, config: 'x' })).status).to.equal(400);
    }
  },
  'WH-02 at most 50 rules': async (w) => {
    const rules = (count: number) => Array.from({ length: count }, (_, n) => rule({ target: `c${n}` }));
    await expectTakes(w.api, PATH, bodyOf('s3'), 'fieldMapping', [rules(50)], [rules(51), 'x', [5]]);
  },
  'AUTH-14 secrets are masked': async (w) => {
    expect((await make(w, 's3')).config.secretAccessKey).to.equal('••••wxyz');
    expect((await make(w, 'gcs')).config.serviceAccountKey).to.equal(`••••${KEY_FILE.slice(-4)}`);
    expect((await make(w, 'azure_blob')).config.accountKey).to.equal(`••••${ACCOUNT_KEY.slice(-4)}`);
  },
  'AUTH-15 a masked secret that comes back is kept': async (w) => {
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
  'WH-09 members are strings, numbers their digits too': async (w) => {
    for (const type of providers) {
      for (const member of Object.keys(configs[type])) await refused(w, type, { [member]: 7 });
      const texts = { batchSize: '1000', batchBytes: '5242880', batchWindowSeconds: '60' };
      const numbers = { batchSize: 1000, batchBytes: 5_242_880, batchWindowSeconds: 60 };
      expect((await make(w, type, texts)).config).to.include(numbers);
      for (const member of Object.keys(texts))
        for (const wrong of ['', '0', '1.5', 'many', true]) await refused(w, type, { [member]: wrong });
    }
  },
  'WH-47 batchBytes': async (w) => {
    for (const type of providers) {
      expect((await make(w, type)).config).to.include({ batchBytes: 5 * 1024 * 1024 });
      for (const batchBytes of [1, 128 * 1024 * 1024])
        expect((await make(w, type, { batchBytes })).config).to.include({ batchBytes });
      for (const batchBytes of [0, 128 * 1024 * 1024 + 1]) await refused(w, type, { batchBytes });
    }
  },
  'WH-10 what every type takes': async (w) => {
    for (const type of providers) {
      expect((await make(w, type)).config).to.include({ fileFormat: 'jsonl', partitionBy: 'date' });
      const optional = { prefix: 'in/hooks', fileFormat: 'json', partitionBy: 'hour' };
      expect((await make(w, type, optional)).config).to.include(optional);
      expect((await make(w, type, { partitionBy: 'source' })).config).to.include({ partitionBy: 'source' });
      expect((await make(w, type, { fileFormat: 'parquet' })).config).to.include({ fileFormat: 'parquet' });
      for (const wrong of [{ fileFormat: 'csv' }, { partitionBy: 'week' }, { prefix: 5 }])
        await refused(w, type, wrong);
    }
  },
  'WH-40 order of keys': async (w) => {
    for (const type of providers) {
      expect((await make(w, type)).config).to.include({ keyOrder: 'written' });
      expect((await make(w, type, { keyOrder: 'received' })).config).to.include({ keyOrder: 'received' });
      for (const wrong of ['WRITTEN', 'name', 5]) await refused(w, type, { keyOrder: wrong });
    }
  },
  'WH-41 what was written after a time': async (w) => {
    const { type, config } = await w.warehouse();
    const { id } = await w.api.create(PATH, { name: 'Lake', type, config });
    const path = `${PATH}/${id}/batches?writtenAfter=2026-01-01`;
    expect(await w.api.list(path)).to.deep.equal({ data: [], pagination: { total: 0, page: 1, pageSize: 20 } });
    const end = { pageSize: 20, nextCursor: null, searchedUntil: null };
    expect(await w.api.list(`${path}&cursor=first`)).to.deep.equal({ data: [], pagination: end });
    for (const [query, member] of [
      ['&status=written', 'status'],
      ['&cursor=bat_06f3k2v8q0e7x1c5b9m4n6p8qr', 'cursor'],
      ['&cursor=first&page=1', 'page'],
    ])
      expectInvalid(await w.api.request('GET', `${path}${query}`), String(member));
    expectInvalid(await w.api.request('GET', `${PATH}/${id}/batches?writtenAfter=yesterday`), 'writtenAfter');
  },
  'WH-42 what proves who writes': async (w) => {
    expect((await make(w, 's3', { credentials: 'keys' })).config).to.include({ credentials: 'keys' });
    for (const type of ['s3', 'gcs', 'azure_blob'] as const) {
      const answer = await refused(w, type, { credentials: 'identity' });
      expect(answer.body.message).to.match(/^config\.\w+ must not be given with credentials identity/);
      await refused(w, type, { credentials: 'role' });
    }
    await refused(w, 'r2', { credentials: 'identity' });
    const bare = { accessKeyId: undefined, secretAccessKey: undefined, credentials: 'identity' };
    const endpoint = await refused(w, 's3', { ...bare, endpoint: 'https://s3.example' });
    expect(endpoint.body.message).to.match(/^config\.endpoint must not be given/);
  },
  'WH-43 the identity is for what the operator lists': async (w) => {
    const bare = { accessKeyId: undefined, secretAccessKey: undefined, credentials: 'identity' };
    expectError(await refused(w, 's3', bare), 400, undefined, /HOOKYARD_WAREHOUSE_IDENTITY/);
    const { id } = await make(w, 's3');
    const patch = { config: { credentials: 'identity' } };
    expectError(await w.api.request('PATCH', `${PATH}/${id}`, patch), 400, undefined, /HOOKYARD_WAREHOUSE_IDENTITY/);
  },
  'WH-45 a SAS token is a secret': async (w) => {
    const sas = { accountKey: undefined, credentials: 'sas', sasToken: 'sv=2025-01-05&sr=c&sig=contract-wxyz' };
    const { id, config } = await make(w, 'azure_blob', sas);
    expect(config).to.include({ credentials: 'sas', sasToken: '••••wxyz' });
    const kept = await w.api.patch<{ config: Json }>(`${PATH}/${id}`, { config: { ...config, prefix: 'in' } });
    expect(kept.config).to.include({ prefix: 'in', sasToken: '••••wxyz' });
    expect(JSON.stringify(await w.api.get(`${PATH}/export?ids=${id}`))).to.not.include('contract-wxyz');
    const missing = await refused(w, 'azure_blob', { ...sas, sasToken: undefined });
    expect(missing.body.message).to.match(/^config\.sasToken is required/);
  },
  'WH-46 what s3 alone has': async (w) => {
    const members = {
      ...{ bucketOwner: '123456789012', kmsKeyId: 'alias/files', storageClass: 'STANDARD_IA', tags: 'team=data' },
    };
    expect((await make(w, 's3', members)).config).to.include(members);
    const wrong = { bucketOwner: '12', kmsKeyId: '', storageClass: 'GLACIER', tags: 'team' };
    for (const [member, value] of Object.entries(wrong)) {
      await refused(w, 's3', { [member]: value });
      await refused(w, 'gcs', { [member]: members[member as keyof typeof members] });
    }
  },
  'WH-31 the column of the payload': async (w) => {
    for (const type of providers) {
      expect((await make(w, type)).config).to.include({ payloadColumn: 'text' });
      expect((await make(w, type, { payloadColumn: 'json' })).config).to.include({ payloadColumn: 'json' });
      for (const wrong of ['TEXT', 'variant', 5]) await refused(w, type, { payloadColumn: wrong });
    }
  },
  'WH-32 compression': async (w) => {
    for (const type of providers) {
      expect((await make(w, type)).config).to.include({ compression: 'none' });
      for (const compression of ['gzip', 'zstd'])
        expect((await make(w, type, { compression })).config).to.include({ compression });
      for (const wrong of ['brotli', 'gz', true]) await refused(w, type, { compression: wrong });
    }
  },
  'WH-37 snappy is for parquet': async (w) => {
    for (const type of providers) {
      for (const compression of ['none', 'snappy', 'gzip', 'zstd'])
        expect((await make(w, type, { fileFormat: 'parquet', compression })).config).to.include({ compression });
      for (const fileFormat of ['jsonl', 'json']) {
        const { body } = await refused(w, type, { fileFormat, compression: 'snappy' });
        expect(body.message).to.match(/^config\.compression must be none, gzip or zstd with fileFormat json/);
      }
    }
  },
  'WH-38 parquet has payloads as text': async (w) => {
    for (const type of providers) {
      const { body } = await refused(w, type, { fileFormat: 'parquet', payloadColumn: 'json' });
      expect(body.message).to.match(
        /^config\.payloadColumn must be text with fileFormat parquet.*send "payloadColumn": "text"/,
      );
      const { id } = await make(w, type, { payloadColumn: 'json' });
      const patch = (config: Json) => w.api.request('PATCH', `${PATH}/${id}`, { config });
      expect((await patch({ fileFormat: 'parquet' })).body.message).to.equal(body.message);
      expect((await patch({ fileFormat: 'parquet', payloadColumn: 'text' })).status).to.equal(200);
    }
  },
  'WH-33 unknown members of a config are refused': async (w) => {
    for (const type of providers) {
      const misspelt = await refused(w, type, { partitonBy: 'hour' });
      expect(misspelt.body.message).to.include('config.partitonBy').and.include('did you mean partitionBy?');
      await refused(w, type, { colour: 'blue' });
      const { id } = await make(w, type);
      expect((await w.api.request('PATCH', `${PATH}/${id}`, { config: { prefx: 'in' } })).status).to.equal(400);
    }
  },
  'WH-35 names of columns differ by more than case': (w) =>
    expectTakes(
      w.api,
      PATH,
      bodyOf('s3'),
      'fieldMapping',
      [[rule(), rule({ target: 'id2' })]],
      [[rule(), rule({ target: 'ID' })]],
    ),
  'WH-04 WH-05 s3 and what it needs': (w) => expectRequiredConfig(w, 's3'),
  'WH-04 WH-06 r2 and what it needs': (w) => expectRequiredConfig(w, 'r2'),
  'WH-04 WH-07 gcs and what it needs': (w) => expectRequiredConfig(w, 'gcs'),
  'WH-04 WH-08 azure_blob and what it needs': (w) => expectRequiredConfig(w, 'azure_blob'),
  'WH-15 source of a column': (w) =>
    expectTakes(
      w.api,
      PATH,
      bodyOf('s3'),
      'fieldMapping',
      [[rule({ source: '$.payload.items[0].sku' })]],
      [...[[rule({ source: undefined })], [rule({ source: 'payload[' })], [rule({ source: 5 })]]],
    ),
  'WH-16 target of a column': (w) =>
    expectTakes(
      w.api,
      PATH,
      bodyOf('s3'),
      'fieldMapping',
      [[rule()]],
      [[rule({ target: undefined })], [rule({ target: 5 })]],
    ),
  'WH-17 type of a column': (w) =>
    expectTakes(
      w.api,
      PATH,
      bodyOf('s3'),
      'fieldMapping',
      ['string', 'number', 'boolean', 'timestamp', 'json'].map((type) => [rule({ type })]),
      [[rule({ type: undefined })], [rule({ type: 'date' })]],
    ),
  'WH-50 decimals have a precision and a scale': (w) =>
    expectTakes(
      w.api,
      PATH,
      bodyOf('s3'),
      'fieldMapping',
      [
        [1, 0],
        [10, 2],
        [38, 38],
      ].map(([precision, scale]) => [rule({ type: 'decimal', precision, scale })]),
      [
        [rule({ type: 'decimal' })],
        [rule({ type: 'decimal', precision: 10 })],
        [rule({ type: 'decimal', scale: 2 })],
        [rule({ type: 'decimal', precision: 39, scale: 2 })],
        [rule({ type: 'decimal', precision: 2, scale: 3 })],
        [rule({ type: 'decimal', precision: 3, scale: 0, default: '1000' })],
        [rule({ type: 'number', precision: 3 })],
        [rule({ type: 'string', scale: 0 })],
      ],
    ),
  'WH-18 default of a column': (w) =>
    expectTakes(w.api, PATH, bodyOf('s3'), 'fieldMapping', [[rule({ default: 'none' })]], [[rule({ default: 5 })]]),
  'AUTH-12 pro and business have warehouses': async (w) => {
    for (const plan of ['pro', 'business'] as const) {
      const { api } = await w.organization(plan);
      for (const type of providers) await api.create(PATH, bodyOf(type));
    }
    const { api } = await w.organization('free');
    for (const type of providers) expectError(await api.request('POST', PATH, bodyOf(type)), 403, undefined);
  },
  'DEST-44 a test sends a webhook, or uploads a file': async (w) => {
    const endpoint = w.receiver.endpoint(200);
    const { id } = await w.destination({ url: endpoint.url });
    await w.api.post(`${PATH}/${id}/test`);
    expect(endpoint.requests).to.have.length(1);
    const { type, config } = await w.warehouse();
    const warehouse = await w.api.create(PATH, { name: 'Lake', type, config });
    expect(await w.api.post<Json>(`${PATH}/${warehouse.id}/test`)).to.include({ success: true });
  },
  'WH-28 a test of a warehouse': async (w) => {
    const { type, config } = await w.warehouse();
    const { id } = await w.api.create(PATH, { name: 'Lake', type, config });
    const tested = await w.api.post<Json & { result: Json }>(`${PATH}/${id}/test`, { payload: { id: 42 } });
    expect(tested.success).to.equal(true);
    expect(tested.message).to.be.a('string');
    expect(tested.result.key).to.be.a('string').and.not.equal('');
    expectIntegers(tested.result, 'size', 'count');
    expect(tested.result.count).to.equal(1);
    expect(tested.result.row).to.include({ payload: '{"id":42}', payload_encoding: 'json' });
    expect(tested.result.conversions).to.deep.equal([]);
  },
  'AUTH-12 free has no warehouses': async (w) => {
    const { api } = await w.organization('free');
    expectError(await api.request('POST', PATH, bodyOf('r2')), 403, undefined);
  },
  'AUTH-13 AUTH-14 EXP-03 secrets in the database and in answers': async (w) => {
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
  'ERR-09 a config that cannot be used has no code': async (w) => {
    const answer = await refused(w, 's3', { bucket: 'ab' });
    expectError(answer, 400, undefined);
    expect(answer.body.error).to.equal('Bad Request');
  },
  'ERR-21 403 on the plan free has no code': async (w) => {
    const { api } = await w.organization('free');
    const answer = await api.request('POST', PATH, bodyOf('gcs'));
    expectError(answer, 403, undefined);
    expect(answer.body.error).to.equal('Forbidden');
  },
  'WH-02 51 rules are refused': async (w) => {
    const rules = Array.from({ length: 51 }, (_, n) => rule({ target: `c${n}` }));
    const answer = await w.api.request('POST', PATH, bodyOf('s3', {}, { fieldMapping: rules }));
    expect(answer.status).to.equal(400);
  },
  'WH-12 length of a bucket': (w) => expectLength(w, ['s3', 'r2', 'gcs'], 'bucket', 3, 63),
  'WH-13 length of a containerName': (w) => expectLength(w, ['azure_blob'], 'containerName', 3, 63),
  'WH-14 length of an accountName': (w) => expectLength(w, ['azure_blob'], 'accountName', 3, 24),
  'AUTH-12 the plan of each organization': async (w) => {
    expect((await (await w.organization('free')).api.request('POST', PATH, bodyOf('s3'))).status).to.equal(403);
    expect((await (await w.organization('pro')).api.request('POST', PATH, bodyOf('s3'))).status).to.equal(201);
  },
});
