import { expect } from 'chai';
import { WAREHOUSE_TYPES } from '../../core/warehouse/config.ts';
import { WAREHOUSE_SECRET_FIELD } from '../../core/warehouse/credentials.ts';
import { expectError, type Json } from '../support/api-client.ts';
import { type ImportResult, REDACTED } from './exchange/destination-files.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import {
  makeWarehouse,
  warehouseConfigs,
  warehouseDefaults,
  type WarehouseRecord,
} from '../support/warehouse/warehouse-records.ts';
import { useEach } from '../support/use-hookyard.ts';

const fieldMapping = [{ source: '$.payload.a', target: 'a', type: 'number', default: '0' }];

describe('Export and import of warehouses', () => {
  const from = useEach(createOrganization);
  const to = useEach(createOrganization);
  const exported = async (of: TestOrganization, includeSensitive = false): Promise<Json[]> =>
    (await of.api.get<{ destinations: Json[] }>(`/api/destinations/export?includeSensitive=${includeSensitive}`))
      .destinations;
  const importInto = (of: TestOrganization, destinations: Json[], conflictStrategy = 'skip', options: Json = {}) =>
    of.api.post<ImportResult>('/api/destinations/import', { destinations, conflictStrategy, ...options });
  const only = async (of: TestOrganization): Promise<WarehouseRecord> => {
    const { data } = await of.api.list<{ id: string }>('/api/destinations');
    expect(data).to.have.length(1);
    return of.api.get<WarehouseRecord>(`/api/destinations/${data[0]?.id}`);
  };

  for (const type of WAREHOUSE_TYPES) {
    const secret = WAREHOUSE_SECRET_FIELD[type];

    it(`a file with credentials makes the same ${type} again`, async () => {
      await makeWarehouse(from, type, { prefix: 'in' }, { name: 'Lake', enabled: false, fieldMapping });
      const file = await exported(from, true);
      expect(file[0]).to.deep.include({
        ...{ name: 'Lake', slug: 'lake', type, url: '', authType: 'none', authConfig: {}, isActive: false },
        config: { ...warehouseConfigs[type], ...warehouseDefaults, prefix: 'in' },
        fieldMapping,
      });
      const result = await importInto(to, file);
      expect(result).to.deep.include({ success: true, errors: [], warnings: [] });
      expect(result.destinations[0]?.id).to.match(/^dst_wh_/);
      expect(await exported(to, true)).to.deep.equal(file);
    });

    it(`a file without credentials makes a disabled ${type} that asks for them`, async () => {
      await makeWarehouse(from, type, { prefix: 'in' }, { fieldMapping });
      const file = await exported(from);
      expect(file[0]).to.deep.include({ authConfig: REDACTED, fieldMapping });
      expect(file[0]?.config).to.deep.include({ [secret]: REDACTED, prefix: 'in' });
      expect(JSON.stringify(file)).to.not.include(String(warehouseConfigs[type][secret]).slice(-12));
      const result = await importInto(to, file);
      expect(result.warnings).to.have.length(1);
      const made = await only(to);
      expect(made).to.deep.include({ enabled: false, fieldMapping });
      expect(made.config).to.include({ prefix: 'in' }).and.to.not.have.property(secret);
      const path = `/api/destinations/${made.id}`;
      if (type !== 'r2') {
        // r2 could do with the environment's.
        const early = await to.api.request('PATCH', path, { enabled: true });
        expectError(early, 400, undefined, new RegExp(`^config\\.${secret} `));
        expect(await to.api.post(`${path}/test`)).to.include({ success: false });
        expect((await exported(to, true))[0]?.config, 'the next file says so too').to.include({ [secret]: REDACTED });
      }
      const set = { config: { [secret]: warehouseConfigs[type][secret] }, enabled: true };
      expect(await to.api.patch(path, set)).to.include({ enabled: true });
      expect((await exported(to, true))[0]?.config).to.deep.equal((await exported(from, true))[0]?.config);
    });
  }

  it('a SAS token is hidden as a key is', async () => {
    const sasToken = 'sv=2025-01-05&sr=c&sig=secret-of-the-token';
    await makeWarehouse(from, 'azure_blob', { accountKey: undefined, credentials: 'sas', sasToken }, { name: 'Lake' });
    const file = await exported(from);
    expect(file[0]?.config).to.include({ credentials: 'sas', sasToken: REDACTED });
    expect((await importInto(to, file)).warnings).to.have.length(1);
    const { id } = await only(to);
    const early = await to.api.request('PATCH', `/api/destinations/${id}`, { enabled: true });
    expectError(early, 400, undefined, /^config\.sasToken /);
    await to.api.patch(`/api/destinations/${id}`, { config: { sasToken }, enabled: true });
    expect((await exported(to, true))[0]?.config).to.deep.equal((await exported(from, true))[0]?.config);
  });

  it('an identity has nothing to hide, and is of no use to an organization that it is not for', async () => {
    const config = { bucket: 'events', region: 'eu-central-1', credentials: 'identity' };
    const result = await importInto(to, [{ name: 'Lake', slug: 'lake', type: 's3', config }]);
    expect(result).to.deep.include({ warnings: [], errors: [] });
    const { id, config: stored } = await only(to);
    expect(stored).to.include(config);
    expect((await exported(to))[0]?.config).to.deep.equal(stored);
    expect((await to.api.post(`/api/destinations/${id}/test`)).error).to.match(/HOOKYARD_WAREHOUSE_IDENTITY/);
  });

  it('an item with the interface’s members alone makes a disabled one that asks for everything', async () => {
    const item = { name: 'Lake', slug: 'lake', type: 's3', url: '', method: 'POST', headers: {}, authType: 'none' };
    const result = await importInto(to, [{ ...item, authConfig: REDACTED, timeoutMs: 30_000, isActive: true }]);
    expect(result.warnings).to.have.length(1);
    const made = await only(to);
    expect(made).to.deep.include({ enabled: false, config: {}, fieldMapping: [] });
    const path = `/api/destinations/${made.id}`;
    expectError(await to.api.request('PATCH', path, { enabled: true }), 400, undefined, /^config\.bucket /);
    expect((await exported(to, true))[0]).to.include({ config: REDACTED });
    await to.api.patch(path, { config: warehouseConfigs.s3, enabled: true });
  });

  it('overwrite leaves one disabled that has no credentials yet', async () => {
    await makeWarehouse(from, 'azure_blob', {}, { name: 'Lake' });
    const file = await exported(from);
    await importInto(to, file);
    const again = await importInto(to, file, 'overwrite');
    expect(again.warnings).to.have.length(1);
    expect(await only(to)).to.include({ enabled: false });
    expect((await importInto(to, await exported(from, true), 'overwrite')).warnings).to.deep.equal([]);
    expect(await only(to)).to.include({ enabled: true });
  });

  it('a file without some members makes new ones with the defaults, and leaves those members of others as they are', async () => {
    await makeWarehouse(from, 's3', { payloadColumn: 'json', compression: 'zstd' }, { name: 'Lake' });
    const [item] = await exported(from, true);
    expect(item?.config).to.include({ payloadColumn: 'json', compression: 'zstd' });
    const { payloadColumn: _payloadColumn, compression: _compression, ...config } = (item?.config ?? {}) as Json;
    await importInto(to, [{ ...item, config }]);
    expect((await only(to)).config).to.include({ payloadColumn: 'text', compression: 'none' });
    const { id } = await only(from);
    await from.api.patch(`/api/destinations/${id}`, { config: { batchSize: 7 } });
    const { batchSize: _batchSize, ...others } = config;
    await importInto(from, [{ ...item, config: { ...others, prefix: 'in' } }], 'overwrite');
    const kept = { payloadColumn: 'json', compression: 'zstd', batchSize: 7 };
    expect((await only(from)).config).to.include({ prefix: 'in', ...kept });
    const [hidden] = await exported(from);
    expect(hidden?.config).to.include({ secretAccessKey: REDACTED });
    const result = await importInto(from, [{ ...hidden, name: 'Sea' }], 'overwrite');
    expect(result).to.deep.include({ success: true, warnings: [] });
    expect(await only(from)).to.include({ name: 'Sea', enabled: true });
    const { secretAccessKey } = warehouseConfigs.s3;
    expect((await exported(from, true))[0]?.config).to.include({ secretAccessKey });
  });

  it('does not turn one type into another', async () => {
    await makeWarehouse(to, 's3', {}, { name: 'Lake' });
    await makeWarehouse(from, 'r2', {}, { name: 'Lake' });
    const result = await importInto(to, await exported(from, true), 'overwrite');
    expect(result.errors[0]).to.match(/type /);
    const http = { name: 'Lake', slug: 'lake', url: 'https://receiver.example/' };
    expect((await importInto(to, [http], 'overwrite')).errors[0]).to.match(/type /);
  });
});
