// Nothing is changed over the API without its record. What a record holds: audit-log-contents.test.ts.
import { expect } from 'chai';
import { makeConsoleCode } from '../../db/organizations/keys.ts';
import { targets } from '../support/requests/right-bodies.ts';
import { ingest, makeSource, type SourceRecord } from '../support/api-records.ts';
import { auditRecordsOf } from '../support/organizations/audit-log.ts';
import { makeTenantRecords, type TenantRecords } from '../support/organizations/tenant-records.ts';
import { OF_PATH, operations } from '../support/organizations/tenant-requests.ts';
import { wholeDatabase } from '../support/organizations/whole-database.ts';
import { useHookyard, useOrganization } from '../support/use-hookyard.ts';

const SIGN_IN = '/api/auth/sign-in';
// They only threads.
const TRIES = /\/(?:test|validate|sample)$/;
const changes = operations().filter(
  ({ method, path }) =>
    method !== 'GET' && path.startsWith('/api/') && !(TRIES.test(path) && !path.startsWith('/api/destinations')),
);

describe('The audit log', () => {
  const { testInstance, receiver } = useHookyard({});
  // Without a worker, so that no row changes by itself.
  const organization = useOrganization(() => ({ service: testInstance.api, pool: testInstance.pool }));
  let own: TenantRecords;
  /** What no route uses, so that it can be deleted. */
  const unused: Record<string, string> = {};
  /** A delivery that has ended, so that it can be replayed. */
  let ended: string;
  /** Of a sign-in link: still good when it could not be exchanged. */
  let code: string;
  before(async () => {
    own = await makeTenantRecords(organization, 'auditedbakery');
    const bodies = {
      filters: { conditions: [{ field: 'a', operator: 'exists' }] },
      schemas: { schema: {} },
      transforms: { type: 'jsonata', code: '$' },
    };
    for (const [kind, body] of Object.entries(bodies)) {
      unused[kind] = (await organization.api.create(`/api/${kind}`, { name: `Unused ${kind}`, ...body })).id;
    }
    const received = await organization.api.get<SourceRecord>(`${organization.base}/sources/${own.source[0]}`);
    const event = await ingest(organization, received, '{}');
    const { rows } = await testInstance.pool.query<{ id: string }>(
      `update deliveries set status = 'failed', finished_at = now() where event_id = $1 returning id`,
      [event],
    );
    ended = rows[0]?.id ?? '';
    // So that there is something to rotate.
    const verificationConfig = { type: 'github', secret: 'shared with the baker' };
    const source = `${organization.base}/sources/${own.source[0]}`;
    await organization.api.patch(source, { verificationConfig, ingestToken: 'optional' });
    const signingSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    await organization.api.patch(`/api/destinations/${own.destination[0]}`, { signingSecret });
    code = await makeConsoleCode(testInstance.pool, organization.id, 'a start');
  });

  /** Requests of an operation that are right; what they change is what the operation is for. */
  function rightRequest({ method, path }: (typeof changes)[number]) {
    if (path === SIGN_IN) return { path, body: { code } };
    const [word = ''] = Object.keys(OF_PATH).filter((name) => path.includes(`/${name}/{id}`));
    const forReplay = path === '/api/deliveries/{id}/replay' && ended;
    const id = forReplay || (method === 'DELETE' && unused[word]) || own[OF_PATH[word] ?? 'source'].at(0) || '';
    const endpoint = path.replaceAll(/\{(\w+)\}/g, ':$1');
    const usual = targets.find((target) => target.method === method && target.path === endpoint)?.body ?? undefined;
    const filled = path
      .replace('{orgId}', organization.id)
      .replace('{id}', id)
      .replace('{key}', own.orderKey[0] ?? '')
      .replace(/\{(slug|name)\}/, 'declared');
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

    it('nothing is sent', async () => {
      const endpoint = receiver.endpoint();
      const [id] = own.destination;
      const { rows } = await testInstance.pool.query('select url from destinations where id = $1', [id]);
      const point = (to: string) =>
        testInstance.pool.query('update destinations set url = $2, version = version + 1 where id = $1', [id, to]);
      await point(endpoint.url);
      const answer = await organization.api.request('POST', `/api/destinations/${id}/test`);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(500);
      expect(endpoint.requests).to.have.length(0);
      await point(rows[0].url);
    });

    it('payloads and secrets are not read', async () => {
      const reads = [
        `${organization.base}/events/${own.event[0]}/payload`,
        `${organization.base}/events/${own.event[0]}?includePayload=true`,
        `${organization.base}/sources/${own.source[0]}/refusals?includePayload=true`,
        `/api/deliveries/${own.delivery[0]}/request`,
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
        const records = await auditRecordsOf(testInstance.pool, answer);
        const found = `${answer.status} ${JSON.stringify(answer.body)} ${JSON.stringify(records)}`;
        expect(records, found).to.have.lengthOf(1);
        const [record] = records;
        expect(record, found).to.include({
          organization_id: organization.id,
          // Without a key: the link is the operator's.
          actor: path === SIGN_IN ? 'operator' : 'key',
          address: '127.0.0.1',
          user_agent: 'auditor/1',
          outcome: answer.status < 400 ? 'done' : 'refused',
        });
        expect(record?.action, found).to.match(/^[a-z][A-Za-z]+$/);
        // That of an ordering key is no record's.
        const made = /^[a-z]{3}_/.test(String(answer.body.id)) ? [answer.body.id] : [];
        if (answer.status < 300) expect(record?.recordIds, found).to.include.members(made);
      });
    }

    it('has the record of a change in the transaction of the change', async () => {
      const source = await makeSource(organization);
      const { id } = await organization.api.create('/api/filters', {
        name: 'Same transaction',
        conditions: [{ field: 'a', operator: 'exists' }],
      });
      for (const [table, record] of Object.entries({ sources: source.id, filters: id })) {
        const { rows } = await testInstance.pool.query(
          `select r.xmin = a.xmin as same from ${table} r join audit_records a on a.record_ids @> array[r.id] where r.id = $1`,
          [record],
        );
        expect(rows, table).to.deep.equal([{ same: true }]);
      }
    });
  });
});

// Counted in the background, or about requests themselves.
const OF_REQUESTS = ['idempotent_requests', 'audit_records', 'ledger_entries', 'rollups'];

// Deleting comes last.
function isKeeping({ method, path }: { method: string; path: string }): boolean {
  return method !== 'DELETE' && !path.endsWith('-delete');
}

const named = (kind: string) => ({ name: `New ${kind}`, slug: `new-${kind}` });
const described = () => ({ description: 'changed' });
const url = 'https://new.example/';

/** Bodies that do it; for the other operations their examples do. */
const BODIES: Record<string, (own: TenantRecords) => unknown> = {
  'POST /api/organizations/{orgId}/sources': () => named('source'),
  'PATCH /api/organizations/{orgId}/sources/{id}': described,
  'POST /api/destinations': () => ({ ...named('destination'), url }),
  'PATCH /api/destinations/{id}': () => ({ timeoutMs: 5000 }),
  'POST /api/organizations/{orgId}/destinations': () => ({ ...named('other'), url }),
  'PATCH /api/organizations/{orgId}/destinations/{id}': described,
  'POST /api/routes': (own) => ({ name: 'New', sourceId: own.source[0], destinationIds: [own.destination[1]] }),
  'PATCH /api/routes/{id}': described,
  'PUT /api/routes/by-name/{name}': (own) => ({
    ...{ name: 'declared', sourceId: own.source[0], destinationIds: own.failover },
  }),
  'POST /api/routes/{id}/preview': (own) => ({ eventId: own.event[0] }),
  'POST /api/deliveries/bulk': (own) => ({ action: 'replay', routeId: own.route[0] }),
  'POST /api/issues/{id}/retry': () => ({}),
  'PATCH /api/filters/{id}': described,
  'PATCH /api/schemas/{id}': described,
  'PATCH /api/transforms/{id}': described,
  'POST /api/alert-channels': () => ({
    ...{ name: 'New', type: 'webhook' },
    config: { url: 'https://alerts.example', secret: `whsec_${Buffer.alloc(32, 8).toString('base64')}` },
  }),
  'PATCH /api/alert-channels/{id}': () => ({ afterCount: 3 }),
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
