// POST /api/destinations/{id}/test of warehouses, to real object stores.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { createWarehouses } from '../../outbound/warehouses/index.ts';
import type { Json } from '../support/api-client.ts';
import type { TestOrganization } from '../support/service.ts';
import { useStore } from '../support/warehouse/warehouse-instance.ts';
import { makeWarehouse, type WarehouseRecord } from '../support/warehouse/warehouse-records.ts';
import { providerCases, targetOf } from '../support/warehouse/warehouse-targets.ts';
import { useOrganization, useStarted } from '../support/use-hookyard.ts';

interface Uploaded extends Json {
  success: boolean;
  result: { key: string; size: number; count: number; conversions: Json[]; row: Json };
}

const upload = (organization: TestOrganization, id: string, body?: Json): Promise<Uploaded> =>
  organization.api.post<Uploaded>(`/api/destinations/${id}/test`, body);

const KEY = /_test\/date=\d{4}-\d{2}-\d{2}\/\d{8}T\d{9}Z-bat_[0-9a-z]{26}\.jsonl$/;

for (const provider of providerCases) {
  describe(`Test upload: ${provider.name}`, () => {
    const organization = useOrganization();
    const store = useStore(provider);
    const warehouses = useStarted(async () => createWarehouses({ allow: ['127.0.0.1'] }));

    const make = (config: Json = {}, members: Json = {}): Promise<WarehouseRecord> =>
      organization.api.create<WarehouseRecord>('/api/destinations', {
        name: `Upload ${provider.name}`,
        type: provider.type,
        config: { ...provider.config(store.url), ...config },
        ...members,
      });
    async function head(key: string) {
      const found = await warehouses.head(targetOf(provider, store.url), key, 30_000);
      if (!found.ok || found.value === null) throw new Error(`${key} is not in the store: ${JSON.stringify(found)}`);
      return found.value;
    }

    it('puts a file with a sample event beside where the events will lie', async () => {
      const { id } = await make();
      const answer = await upload(organization, id);
      expect(answer).to.include({ success: true, message: 'The test file was uploaded' });
      expect(answer.result.key)
        .to.match(KEY)
        .and.match(/^_test\//);
      expect(answer.result.count).to.equal(1);
      const stored = await head(answer.result.key);
      expect(stored).to.include({ size: answer.result.size, contentType: 'application/x-ndjson' });
      expect(stored.metadata).to.include({ count: '1' });
    });

    it('writes the payload that is given, mapped and laid out as the destination says', async () => {
      const fieldMapping = [
        { source: '$.payload.order', target: 'order', type: 'number' },
        { source: '$.payload.at', target: 'at', type: 'timestamp' },
      ];
      const { id } = await make({ prefix: '/in/hooks/', fileFormat: 'json', partitionBy: 'source' }, { fieldMapping });
      const answer = await upload(organization, id, { payload: { order: '7', at: 'never' } });
      expect(answer.message).to.equal('The test file was uploaded; 1 value did not fit its column');
      expect(answer.result.key).to.match(/^_test\/in\/hooks\/source=test\/date=.*\.json$/);
      const { event_id: eventId, delivery_id: deliveryId, ...columns } = answer.result.row;
      expect(columns).to.deep.equal({ order: 7, at: null });
      expect(answer.result.conversions).to.deep.equal([{ target: 'at', count: 1, eventId }]);
      const body = `[\n{"event_id":"${String(eventId)}","delivery_id":"${String(deliveryId)}","order":7,"at":null}\n]\n`;
      expect(answer.result).to.include({ size: body.length, count: 1 });
      const sha256 = createHash('sha256').update(body).digest('hex');
      const stored = await head(answer.result.key);
      expect(stored).to.deep.include({ size: body.length, contentType: 'application/json' });
      expect(stored.metadata).to.deep.equal({ count: '1', sha256 });
    });

    it('says what to fix, and works when it is fixed', async () => {
      const { id, config } = await make(provider.noBucket);
      const failed = await upload(organization, id);
      expect(failed).to.include({ success: false, statusCode: 404 });
      expect(failed.error).to.match(/does not exist; create it, or correct its name/);
      expect(failed.message).to.equal(`The test file was not uploaded: ${failed.error}`);
      expect(failed.latency).to.be.a('number');
      expect(failed).to.not.have.property('result');
      // Sent back with its secret redacted, as it was shown.
      const { bucket, containerName } = provider.config();
      const config_ = { ...config, ...(bucket === undefined ? { containerName } : { bucket }) };
      await organization.api.patch(`/api/destinations/${id}`, { config: config_ });
      expect(await upload(organization, id)).to.include({ success: true });
    });
  });
}

describe('Test upload', () => {
  const organization = useOrganization();

  // Addresses that are refused: test/security/outbound.test.ts.
  it('reports a store that cannot be reached', async () => {
    const away = await makeWarehouse(organization, 's3', { endpoint: 'http://127.0.0.1:1' });
    const unreachable = await upload(organization, away.id);
    expect(unreachable).to.include({ success: false, statusCode: null });
    expect(unreachable.error).to.match(/^S3 cannot be reached: .*check endpoint$/);
  });
});
