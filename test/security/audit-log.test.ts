// Who did what: nothing is changed over the API without its record, no payload and no secret is read without one, a record holds
// names and no values, and nobody can change it afterwards.
import { expect } from 'chai';
import { forgetAuditRecords } from '../../db/audit/records.ts';
import { targets } from '../contract/malformed/targets.ts';
import { createPool } from '../../db/pool.ts';
import { asServices } from '../support/stack.ts';
import { createClient, expectError, expectInvalid, type Json } from '../support/api-client.ts';
import { ingest, makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { makeTenantRecords, type TenantRecords } from '../support/tenant-records.ts';
import { operations } from '../support/tenant-requests.ts';
import { wholeDatabase } from '../support/whole-database.ts';

interface AuditRecord extends Json {
  id: string;
  action: string;
  resource: string;
  recordIds: string[];
  recordCount: number;
  members: string[];
  outcome: string;
  status: number | null;
  code: string | null;
}

// They only compute.
const TRIES = /\/(?:test|validate)$/;
const changes = operations().filter(
  ({ method, path }) =>
    method !== 'GET' && path.startsWith('/api/') && !(TRIES.test(path) && !path.startsWith('/api/destinations')),
);

describe('The audit log', () => {
  let testInstance: OwnHookyard;
  let organization: TestOrganization;
  let own: TenantRecords;
  /** What no route uses, so that it can be deleted. */
  const unused: Record<string, string> = {};
  before(async () => {
    // Without a worker, so that no row changes by itself.
    testInstance = await startHookyard();
    organization = await createOrganization({ service: testInstance.api, pool: testInstance.pool });
    own = await makeTenantRecords(organization, 'auditedbakery');
    const bodies = {
      filters: { conditions: [{ field: 'a', operator: 'exists' }] },
      schemas: { schema: {} },
      transforms: { type: 'jsonata', code: '$' },
    };
    for (const [kind, body] of Object.entries(bodies)) {
      unused[kind] = (await organization.api.create(`/api/${kind}`, { name: `Unused ${kind}`, ...body })).id;
    }
    // So that there is something to rotate.
    const verificationConfig = { type: 'github', secret: 'shared with the baker' };
    const source = `${organization.base}/sources/${own.source[0]}`;
    await organization.api.patch(source, { verificationConfig, ingestToken: 'optional' });
    const signingSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    await organization.api.patch(`/api/destinations/${own.destination[0]}`, { signingSecret });
  });
  after(() => testInstance?.close());

  async function recordsOf(requestId: string | null): Promise<AuditRecord[]> {
    const { rows } = await testInstance.pool.query(
      `select *, record_ids as "recordIds", record_count as "recordCount" from audit_records where request_id = $1`,
      [requestId],
    );
    return rows as AuditRecord[];
  }
  async function recordsOfOrganization(id: string): Promise<AuditRecord[]> {
    const { rows } = await testInstance.pool.query('select * from audit_records where organization_id = $1', [id]);
    return rows as AuditRecord[];
  }
  /** Requests of an operation that are right; what they change is what the operation is for. */
  function rightRequest({ method, path }: (typeof changes)[number]) {
    const [word = ''] = Object.keys(OF_WORD).filter((name) => path.includes(`/${name}/{id}`));
    const id = (method === 'DELETE' && unused[word]) || own[OF_WORD[word] ?? 'source'].at(0) || '';
    const endpoint = path.replaceAll(/\{(\w+)\}/g, ':$1');
    const usual = targets.find((target) => target.method === method && target.path === endpoint)?.body ?? undefined;
    const filled = path.replace('{orgId}', organization.id).replace('{id}', id);
    return { path: filled, body: BODIES[`${method} ${path}`]?.(own) ?? usual };
  }

  describe('when records cannot be written', () => {
    const LOCK = 'alter table audit_records add constraint refuses_all check (false) not valid';
    before(() => testInstance.pool.query(LOCK));
    after(() => testInstance.pool.query('alter table audit_records drop constraint refuses_all'));

    /** Everything but what is noted of the caller and of the request itself. */
    async function stored(): Promise<string[]> {
      const rows = await wholeDatabase(testInstance.pool);
      return rows
        .filter(({ table }) => !OF_REQUESTS.includes(table))
        .map(({ table, columns: { last_used_at: _, ...columns } }) => JSON.stringify({ table, columns }))
        .toSorted();
    }

    for (const operation of changes) {
      const { method, path } = operation;
      it(`${method} ${path} changes nothing`, async () => {
        const before = await stored();
        const request = rightRequest(operation);
        const answer = await organization.api.request(method, request.path, request.body);
        expect(await stored(), `${answer.status} ${JSON.stringify(answer.body)}`).to.deep.equal(before);
        if (!NOT_NOW.includes(`${method} ${path}`)) expect(answer.status, JSON.stringify(answer.body)).to.equal(500);
      });
    }

    it('payloads and secrets are not read', async () => {
      const reads = [
        `${organization.base}/events/${own.event[0]}/payload`,
        `${organization.base}/events/${own.event[0]}?includePayload=true`,
        '/api/destinations/export?includeSensitive=true',
      ];
      for (const path of reads) expect((await organization.api.request('GET', path)).status, path).to.equal(500);
    });

    it('everything else is', async () => {
      await organization.api.get(`${organization.base}/events/${own.event[0]}`);
      await organization.api.get('/api/destinations/export');
    });
  });

  describe('otherwise', () => {
    for (const operation of [...changes.filter(isKeeping), ...changes.filter((each) => !isKeeping(each))]) {
      const { method, path } = operation;
      it(`${method} ${path} is recorded`, async () => {
        const request = rightRequest(operation);
        const answer = await organization.api.request(method, request.path, request.body, {
          headers: { 'User-Agent': 'auditor/1' },
        });
        const records = await recordsOf(answer.headers.get('x-request-id'));
        const found = `${answer.status} ${JSON.stringify(answer.body)} ${JSON.stringify(records)}`;
        expect(records, found).to.have.lengthOf(1);
        const [record] = records;
        expect(record, found).to.include({
          organization_id: organization.id,
          actor: 'key',
          address: '127.0.0.1',
          user_agent: 'auditor/1',
          outcome: answer.status < 400 ? 'done' : 'refused',
        });
        expect(record?.action, found).to.match(/^[a-z][A-Za-z]+$/);
        const made = typeof answer.body.id === 'string' ? [answer.body.id] : [];
        if (answer.status < 300) expect(record?.recordIds, found).to.include.members(made);
      });
    }

    it('has no dry runs', async () => {
      const replay = { sourceId: own.source[0], dryRun: true };
      const destinations = [{ name: 'Not imported', url }];
      const requests = [
        [`${organization.base}/events/replay`, replay],
        ['/api/destinations/import', { destinations, conflictStrategy: 'skip', validateOnly: true }],
      ] as const;
      for (const [path, body] of requests) {
        const answer = await organization.api.request('POST', path, body);
        expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
        expect(await recordsOf(answer.headers.get('x-request-id')), path).to.be.empty;
      }
    });

    it('has the record of a change in the transaction of the change', async () => {
      const source = await makeSource(organization);
      const { id } = await organization.api.create('/api/filters', {
        name: 'Same transaction',
        conditions: [{ field: 'a', operator: 'exists' }],
      });
      for (const [table, record] of [
        ['sources', source.id],
        ['filters', id],
      ] as const) {
        const { rows } = await testInstance.pool.query(
          `select r.xmin = a.xmin as same from ${table} r join audit_records a on a.record_ids @> array[r.id] where r.id = $1`,
          [record],
        );
        expect(rows, table).to.deep.equal([{ same: true }]);
      }
    });

    it('holds names of members and no values', async () => {
      const secret = 'quince-marmalade-0123456789';
      const requests = [
        [
          'POST',
          `${organization.base}/sources`,
          {
            name: `${secret} name`,
            slug: 'named-members',
            verificationConfig: { type: 'github', secret, [`${secret}-unknown`]: 1 },
            [`${secret}-unknown`]: secret,
          },
        ],
        [
          'POST',
          '/api/destinations',
          {
            name: secret,
            url: `https://${secret}.example`,
            headers: { [`X-${secret}`]: secret },
            authType: 'bearer',
            authConfig: { token: secret },
          },
        ],
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
        return (await recordsOf(answer.headers.get('x-request-id'))).map(({ action, recordIds }) => ({
          action,
          recordIds,
        }));
      };
      const events = `${organization.base}/events`;
      expect(await read(`${events}/${event}/payload`)).to.deep.equal([
        { action: 'getEventPayload', recordIds: [event] },
      ]);
      expect(await read(`${events}/${event}?includePayload=true`)).to.deep.equal([
        { action: 'getEvent', recordIds: [event] },
      ]);
      expect(await read(`${events}?search=hidden`)).to.deep.equal([{ action: 'listEvents', recordIds: [] }]);
      const exported = await read('/api/destinations/export?includeSensitive=true');
      expect(exported.map(({ action }) => action)).to.deep.equal(['exportDestinations']);
      for (const path of [events, `${events}/${event}`, '/api/destinations/export', '/api/audit', '/api/api-keys']) {
        expect(await read(path), path).to.be.empty;
      }
    });

    it('has the repeat of a request that showed a new key', async () => {
      const headers = { 'Idempotency-Key': 'shows-it-again' };
      const ask = () => organization.api.request('POST', '/api/api-keys', { name: 'Twice' }, { headers });
      const [first, second] = [await ask(), await ask()];
      expect(second.body.token).to.equal(first.body.token);
      const [record] = await recordsOf(second.headers.get('x-request-id'));
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
      const [record] = await recordsOf(answer.headers.get('x-request-id'));
      expect(record).to.include({ key_id: id, outcome: 'refused', status: 403, code: 'FORBIDDEN' });
      expect(record?.recordIds).to.deep.equal([destination.id]);
    });

    it('has the first of many equal refusals in a minute, and every change', async () => {
      const flooding = await createOrganization({ service: testInstance.api, pool: testInstance.pool });
      const path = `${flooding.base}/sources`;
      for (let n = 0; n < 30; n += 1) expectInvalid(await flooding.api.request('POST', path, {}), 'name');
      for (let n = 0; n < 30; n += 1) {
        expectError(await flooding.api.request('DELETE', `${path}/src_${n}`), 404, 'RESOURCE_NOT_FOUND');
      }
      for (let n = 0; n < 5; n += 1) await makeSource(flooding);
      const { token } = await flooding.api.create<{ token: string }>('/api/api-keys', { name: 'Another' });
      await createClient(flooding.api.url, token).request('POST', path, {});
      const records = await recordsOfOrganization(flooding.id);
      const count = (action: string, outcome: string) =>
        records.filter((record) => record.action === action && record.outcome === outcome).length;
      // The minute may have changed meanwhile.
      expect(count('createSource', 'refused'), 'one of each key').to.be.within(2, 4);
      expect(count('deleteSource', 'refused')).to.be.within(1, 2);
      expect(count('createSource', 'done')).to.equal(5);
    });

    it('has no webhooks', async () => {
      const source = await makeSource(organization);
      const size = async () => (await testInstance.pool.query('select count(*) as n from audit_records')).rows[0].n;
      const before = await size();
      for (let n = 0; n < 20; n += 1) await ingest(organization, source, '{}');
      expect(await size()).to.equal(before);
    });

    it('has one row with the number and some ids of many records', async () => {
      const destinations = Array.from({ length: 150 }, (_, n) => ({ name: `Many ${n}`, url: 'https://many.example' }));
      const answer = await organization.api.request('POST', '/api/destinations/import', {
        destinations,
        conflictStrategy: 'rename',
      });
      const records = await recordsOf(answer.headers.get('x-request-id'));
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
      other = await createOrganization({ service: testInstance.api, pool: testInstance.pool });
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
      expect(await actions(`recordId=${own.source[0]}`)).to.deep.equal([]);
      expect(await actions('action=createRoute')).to.deep.equal(['createRoute']);
      expect(await actions('resource=routes')).to.deep.equal(['createRoute']);
      expect(await actions('outcome=refused')).to.deep.equal(['createFilter']);
      const { data } = await other.api.list<AuditRecord & { at: string; keyId: string }>(
        `/api/audit?recordId=${route.id}`,
      );
      const [made] = data;
      expect(await actions(`keyId=${made?.keyId}`)).to.have.lengthOf(6);
      expect(await actions(`keyId=${own.apiKey[0]}`)).to.be.empty;
      expect(await actions(`from=${made?.at}&to=${made?.at}`)).to.include('createRoute');
      expect(await actions('to=2020-01-01T00:00:00Z')).to.be.empty;
    });
  });

  describe('is final', () => {
    const refused: [string, string][] = [
      ['an update', `update audit_records set outcome = 'done'`],
      ['a deletion', 'delete from audit_records'],
      ['truncate', 'truncate audit_records'],
      ['the removal of what is younger than 30 days', 'select forget_audit_records(29, 1000)'],
      ['a number of days that is none', 'select forget_audit_records(null, 1000)'],
      [
        'the removal of an organization that exists',
        `select forget_audit_of((select id from organizations limit 1), 1000)`,
      ],
    ];
    for (const [what, statement] of refused) {
      it(`for ${what}, also of the service itself`, async () => {
        const { rows: before } = await testInstance.pool.query('select count(*) as n from audit_records');
        expect(Number(before[0].n)).to.be.greaterThan(0);
        const error = await testInstance.pool.query(statement).then(
          () => null,
          (reason: unknown) => reason,
        );
        expect(error).to.have.property('code').that.is.oneOf(['42501', '22023']);
        const { rows: after } = await testInstance.pool.query('select count(*) as n from audit_records');
        expect(after).to.deep.equal(before);
      });
    }

    it('but for what is older than its retention', async () => {
      const insert = `
        insert into audit_records (id, organization_id, at, actor, action, resource, outcome)
        select 'aud_' || n, $1, now() - make_interval(days => n), 'operator', 'old', 'x', 'done' from generate_series(1, 400) n`;
      await testInstance.pool.query(insert, ['org_of_old_ones']);
      while (await forgetAuditRecords(testInstance.pool, 90));
      const { rows } = await testInstance.pool.query(
        `select count(*)::int as n, min(at) > now() - interval '90 days' as young from audit_records where organization_id = $1`,
        ['org_of_old_ones'],
      );
      expect(rows[0].young).to.equal(true);
      expect(rows[0].n).to.be.within(88, 90);
      expect(await forgetAuditRecords(testInstance.pool, 0)).to.equal(false);
    });

    it('and that of an organization that is gone, of which the deeds of operators stay', async () => {
      const gone = await createOrganization({ service: testInstance.api, pool: testInstance.pool });
      await makeSource(gone);
      await testInstance.pool.query(
        `insert into audit_records (id, organization_id, actor, action, resource, outcome)
         values ('aud_gone', $1, 'operator', 'deleteOrganization', 'organization', 'done')`,
        [gone.id],
      );
      await testInstance.pool.query('delete from organizations where id = $1', [gone.id]);
      await testInstance.pool.query('select forget_audit_of($1, 1000)', [gone.id]);
      const { rows } = await testInstance.pool.query('select action from audit_records where organization_id = $1', [
        gone.id,
      ]);
      expect(rows).to.deep.equal([{ action: 'deleteOrganization' }]);
    });

    it('for the role of the services, whatever it says', async () => {
      const services = createPool(asServices(testInstance.databaseUrl), {
        max: 1,
        statementTimeoutMs: 10_000,
        onError: () => {},
      });
      const tries = [
        'delete from audit_records',
        `update audit_records set outcome = 'done'`,
        'truncate audit_records',
        'alter table audit_records disable trigger all',
        'drop function forget_audit_records',
        'select forget_audit_records(0, 1000)',
      ];
      try {
        await services.query(`set hookyard.forgets_audit = 'on'`);
        for (const statement of tries) {
          const error = await services.query(statement).catch((reason: unknown) => reason);
          expect(error, statement).to.have.property('code').that.is.oneOf(['42501', '22023']);
        }
        await forgetAuditRecords(services, 90);
        // A deletion that is taken back would let the records be forgotten.
        const { id } = await createOrganization({ service: testInstance.api, pool: testInstance.pool });
        await services.query('update organizations set deleted_at = now() where id = $1', [id]);
        const back = await services
          .query('update organizations set deleted_at = null where id = $1', [id])
          .catch((reason: unknown) => reason);
        expect(back).to.have.property('code', '42501');
      } finally {
        await services.end();
      }
    });
  });
});

// Counted in the background, or about requests themselves.
const OF_REQUESTS = ['idempotent_requests', 'audit_records', 'organization_usage'];

// Deleting comes last.
function isKeeping({ method, path }: { method: string; path: string }): boolean {
  return method !== 'DELETE' && !path.endsWith('-delete');
}

/** What `{id}` is of, by the word before it. */
const OF_WORD: Record<string, keyof TenantRecords> = {
  sources: 'source',
  destinations: 'destination',
  routes: 'route',
  events: 'event',
  replays: 'replay',
  deliveries: 'delivery',
  'api-keys': 'apiKey',
  filters: 'filter',
  transforms: 'transform',
  schemas: 'schema',
};

const named = (kind: string) => ({ name: `New ${kind}`, slug: `new-${kind}` });
const described = () => ({ description: 'changed' });
const url = 'https://new.example/';

/** Bodies that do it; for the other operations those of the malformed requests do. */
const BODIES: Record<string, (own: TenantRecords) => unknown> = {
  'POST /api/organizations/{orgId}/sources': () => named('source'),
  'PATCH /api/organizations/{orgId}/sources/{id}': described,
  'POST /api/destinations': () => ({ ...named('destination'), url }),
  'PATCH /api/destinations/{id}': () => ({ timeoutMs: 5000 }),
  'POST /api/organizations/{orgId}/destinations': () => ({ ...named('other'), url }),
  'PATCH /api/organizations/{orgId}/destinations/{id}': described,
  'POST /api/routes': (own) => ({ name: 'New', sourceId: own.source[0], destinationIds: [own.destination[1]] }),
  'PATCH /api/routes/{id}': described,
  'PATCH /api/filters/{id}': described,
  'PATCH /api/schemas/{id}': described,
  'PATCH /api/transforms/{id}': described,
  'POST /api/leases': (own) => ({ ids: [own.route[0]], seconds: 3600 }),
  'DELETE /api/destinations/bulk': (own) => ({ ids: [own.failover[0]] }),
  'POST /api/routes/bulk-pause': (own) => ({ routeIds: [own.route[0]], isActive: false }),
  'POST /api/routes/bulk-delete': (own) => ({ routeIds: [own.route[0]] }),
  'POST /api/destinations/import': () => ({
    destinations: [{ name: 'Imported', url: 'https://imported.example' }],
    conflictStrategy: 'rename',
  }),
  'POST /api/routes/import': (own) => ({
    routes: [{ name: 'Imported', sourceSlug: own.sourceSlug[0], destinationSlugs: [own.failoverSlug[0]] }],
    conflictStrategy: 'rename',
  }),
  'POST /api/organizations/{orgId}/events/{id}/replay': () => ({}),
  'POST /api/organizations/{orgId}/events/bulk/replay': (own) => ({ eventIds: [own.event[0]] }),
  'POST /api/organizations/{orgId}/events/replay': (own) => ({ sourceId: own.source[0], ratePerSecond: 1 }),
};

/** Refused in the state that the records are in. */
const NOT_NOW = ['POST /api/deliveries/{id}/retry', 'POST /api/notification-recipients/resend'];
