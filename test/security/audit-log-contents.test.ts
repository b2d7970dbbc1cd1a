// What the audit log holds and shows: names and no values, reads of payloads and secrets, refusals.
import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { createClient, expectError, expectInvalid } from '../support/api-client.ts';
import { clientWith, ingest, makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { type AuditRecord, auditRecordsOf } from '../support/organizations/audit-log.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { wholeDatabase } from '../support/organizations/whole-database.ts';
import { useHookyard, useMade } from '../support/use-hookyard.ts';

describe('The audit log, read', () => {
  const { testInstance } = useHookyard({});
  const newOrganization = () => createOrganization({ service: testInstance.api, pool: testInstance.pool });
  // Without a worker, so that no row changes by itself.
  const organization = useMade('an organization', newOrganization);

  async function recordsOfOrganization(id: string): Promise<AuditRecord[]> {
    const { rows } = await testInstance.pool.query('select * from audit_records where organization_id = $1', [id]);
    return rows as AuditRecord[];
  }

  describe('in the database', () => {
    it('holds names of members and no values', async () => {
      const secret = 'quince-marmalade-0123456789';
      const unknown = { [`${secret}-unknown`]: secret };
      const verificationConfig = { type: 'github', secret, ...unknown };
      const source = { name: `${secret} name`, slug: 'named-members', verificationConfig, ...unknown };
      const auth = { authType: 'bearer', authConfig: { token: secret } };
      const headers = { [`X-${secret}`]: secret };
      const requests = [
        ['POST', `${organization.base}/sources`, source],
        ['POST', '/api/destinations', { name: secret, url: `https://${secret}.example`, headers, ...auth }],
        ['POST', '/api/routes', { name: secret, sourceId: secret, destinationIds: [secret] }],
        ['DELETE', `/api/routes/${secret}`, undefined],
      ] as const;
      for (const [method, path, body] of requests) {
        await organization.api.request(method, path, body, { headers: { 'User-Agent': 'x'.repeat(3000) } });
      }
      const rows = (await wholeDatabase(testInstance.pool)).filter(({ table }) => table === 'audit_records');
      expect(JSON.stringify(rows)).to.not.include(secret);
      const { data } = await organization.api.list<AuditRecord>('/api/audit?action=createSource');
      expect(data[0]?.members).to.deep.equal(['name', 'slug', 'verificationConfig.type', 'verificationConfig.secret']);
    });

    it('has every read of payloads and secrets, and no other', async () => {
      const source = await makeSource(organization);
      const event = await ingest(organization, source, '{"hidden":1}');
      const read = async (path: string) => {
        const answer = await organization.api.request('GET', path);
        expect(answer.status, path).to.equal(200);
        return (await auditRecordsOf(testInstance.pool, answer)).map(({ action, recordIds }) => [action, recordIds]);
      };
      const events = `${organization.base}/events`;
      const refusals = `${organization.base}/sources/${source.id}/refusals`;
      for (const [path, action, recordIds] of [
        [`${events}/${event}/payload`, 'getEventPayload', [event]],
        [`${events}/${event}?includePayload=true`, 'getEvent', [event]],
        [`${events}?search=hidden`, 'listEvents', []],
        [`${refusals}?includePayload=true`, 'listRefusals', [source.id]],
      ] as const)
        expect(await read(path), path).to.deep.equal([[action, recordIds]]);
      const exported = await read('/api/destinations/export?includeSensitive=true');
      expect(exported.map(([action]) => action)).to.deep.equal(['exportDestinations']);
      const others = ['/api/destinations/export', '/api/audit', '/api/api-keys'];
      for (const path of [events, `${events}/${event}`, refusals, ...others])
        expect(await read(path), path).to.be.empty;
    });

    it('has reads that show the token of an ingest address, and no other reads of sources', async () => {
      const owner = await newOrganization();
      const source = await makeSource(owner, { ingestToken: 'required' });
      const open = await makeSource(owner);
      const paths = [`${owner.base}/sources`, `${owner.base}/sources/${source.id}`, `${owner.base}/sources/${open.id}`];
      const read = async (api: TestOrganization['api']) => {
        const found = [];
        for (const path of paths) found.push(await auditRecordsOf(testInstance.pool, await api.request('GET', path)));
        return found.map((records) => records.map(({ action, recordIds }) => ({ action, recordIds })));
      };
      const recordIds = [source.id];
      expect(await read(owner.api)).to.deep.equal([
        [{ action: 'listSources', recordIds }],
        [{ action: 'getSource', recordIds }],
        [],
      ]);
      expect(await read(await clientWith(owner, 'read'))).to.deep.equal([[], [], []]);
    });

    it('has the repeat of a request that showed a new key', async () => {
      const headers = { 'Idempotency-Key': 'shows-it-again' };
      const ask = () => organization.api.request('POST', '/api/api-keys', { name: 'Twice' }, { headers });
      const [first, second] = [await ask(), await ask()];
      expect(second.body.token).to.equal(first.body.token);
      const [record] = await auditRecordsOf(testInstance.pool, second);
      expect(record).to.include({ action: 'createApiKey', outcome: 'done', code: 'REPEATED' });
    });

    it('has what was refused, and why', async () => {
      const { token, id } = await organization.api.create<{ token: string }>('/api/api-keys', {
        name: 'Reader',
        scopes: ['read'],
      });
      const reader = createClient(organization.api.url, token);
      const destination = await makeDestination(organization);
      const answer = await reader.request('DELETE', `/api/destinations/${destination.id}`);
      expectError(answer, 403, 'FORBIDDEN');
      const [record] = await auditRecordsOf(testInstance.pool, answer);
      expect(record).to.include({ key_id: id, outcome: 'refused', status: 403, code: 'FORBIDDEN' });
      expect(record?.recordIds).to.deep.equal([destination.id]);
    });

    it('has the first of many equal refusals in a minute, and every change', async () => {
      const flooding = await newOrganization();
      const path = `${flooding.base}/sources`;
      for (let n = 0; n < 30; n += 1) expectInvalid(await flooding.api.request('POST', path, {}), 'name');
      for (let n = 0; n < 30; n += 1) {
        expectError(await flooding.api.request('DELETE', `${path}/src_${n}`), 404, 'RESOURCE_NOT_FOUND');
      }
      for (let n = 0; n < 5; n += 1) await makeSource(flooding);
      await (await clientWith(flooding, 'read', 'write')).request('POST', path, {});
      const records = await recordsOfOrganization(flooding.id);
      const count = (action: string, outcome: string) =>
        records.filter((record) => record.action === action && record.outcome === outcome).length;
      // The minute may have changed meanwhile.
      expect(count('createSource', 'refused'), 'one of each key').to.be.within(2, 4);
      expect(count('deleteSource', 'refused')).to.be.within(1, 2);
      expect(count('createSource', 'done')).to.equal(5);
    });

    it('has one row with the number and some ids of many records', async () => {
      const destinations = Array.from({ length: 150 }, (_, n) => ({ name: `Many ${n}`, url: 'https://many.example' }));
      const answer = await organization.api.request('POST', '/api/destinations/import', {
        destinations,
        conflictStrategy: 'rename',
      });
      const records = await auditRecordsOf(testInstance.pool, answer);
      expect(records).to.have.lengthOf(1);
      expect(records[0]?.recordIds).to.have.lengthOf(100);
      expect(records[0]).to.include({ action: 'importDestinations', recordCount: 150 });
    });

    it('has what operators do, and the first key', async () => {
      const { rows } = await testInstance.pool.query(
        `select action, address from audit_records where actor = 'operator' and organization_id = $1`,
        [testInstance.organizationId],
      );
      expect(rows).to.deep.equal([{ action: 'createApiKey', address: null }]);
    });
  });

  describe('read over the API', () => {
    let other: TestOrganization;
    let filter: { id: string };
    let route: { id: string };
    before(async () => {
      other = await newOrganization();
      filter = await other.api.create('/api/filters', { name: 'F', conditions: [{ field: 'a', operator: 'exists' }] });
      await other.api.patch(`/api/filters/${filter.id}`, { description: 'changed' });
      const source = await makeSource(other);
      route = await makeRoute(other, source.id, [(await makeDestination(other)).id]);
      await other.api.request('POST', '/api/filters', {});
    });
    const actions = async (query: string) =>
      (await other.api.list<AuditRecord>(`/api/audit?${query}`)).data.map(({ action }) => action);

    it('is that of the own organization, newest first, in pages', async () => {
      expect(await actions('')).to.deep.equal([
        'createFilter',
        'createRoute',
        'createDestination',
        'createSource',
        'updateFilter',
        'createFilter',
      ]);
      expect(await actions('page=2&pageSize=4')).to.deep.equal(['updateFilter', 'createFilter']);
    });

    it('is filtered by record, action, kind, outcome, key and time', async () => {
      expect(await actions(`recordId=${filter.id}`)).to.deep.equal(['updateFilter', 'createFilter']);
      expect(await actions(`recordId=${newId('src')}`)).to.deep.equal([]);
      expect(await actions('action=createRoute')).to.deep.equal(['createRoute']);
      expect(await actions('resource=routes')).to.deep.equal(['createRoute']);
      expect(await actions('outcome=refused')).to.deep.equal(['createFilter']);
      const { data } = await other.api.list<AuditRecord & { at: string; keyId: string }>(
        `/api/audit?recordId=${route.id}`,
      );
      const [made] = data;
      expect(await actions(`keyId=${made?.keyId}`)).to.have.lengthOf(6);
      expect(await actions(`keyId=${newId('key')}`)).to.be.empty;
      expect(await actions(`from=${made?.at}&to=${made?.at}`)).to.include('createRoute');
      expect(await actions('to=2020-01-01T00:00:00Z')).to.be.empty;
    });
  });
});
