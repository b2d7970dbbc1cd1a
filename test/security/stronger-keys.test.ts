// A key is never the way to a stronger one: it neither makes nor revokes one with more scopes, from more addresses or
// for longer.
import { expect } from 'chai';
import { type ApiClient, createClient, expectError, expectInvalid } from '../support/api-client.ts';
import { askFrom } from '../support/requests/http-client.ts';
import { createOrganization, testPool } from '../support/service.ts';
import { useEach } from '../support/use-hookyard.ts';
import { wholeDatabase } from '../support/organizations/whole-database.ts';

interface NewKey {
  id: string;
  token: string;
  scopes: string[];
  allowedAddresses: string[] | null;
  expiresAt: string | null;
}

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

describe('Keys that manage keys', () => {
  const organization = useEach(createOrganization);
  const create = (body: object) => organization.api.create<NewKey>('/api/api-keys', { name: 'K', ...body });
  const use = ({ token }: { token: string }): ApiClient => createClient(organization.api.url, token);
  const ask = (client: ApiClient, body: object) => client.request('POST', '/api/api-keys', { name: 'More', ...body });

  it('make none with a scope that they lack', async () => {
    const weak = use(await create({ scopes: ['keys:read', 'keys:write', 'events:read'] }));
    for (const scopes of [['read'], ['events:read', 'secrets:read'], undefined]) {
      expectError(await ask(weak, { scopes }), 403, 'FORBIDDEN', /so it cannot create a key with that scope/);
    }
    const { body } = await ask(weak, { scopes: ['events:read', 'keys:read'] });
    expect(body.scopes).to.deep.equal(['events:read', 'keys:read']);
  });

  it('make none that lives longer, and one that ends with them when nothing is said', async () => {
    const mine = await create({ expiresAt: inHours(2) });
    expectError(await ask(use(mine), { expiresAt: inHours(3) }), 403, 'FORBIDDEN', /expiresAt/);
    expectError(await ask(use(mine), { expiresAt: null }), 403, 'FORBIDDEN', /expiresAt/);
    expect((await ask(use(mine), {})).body.expiresAt).to.equal(mine.expiresAt);
    expect((await ask(use(mine), { expiresAt: inHours(1) })).status).to.equal(201);
  });

  it('make none for addresses beyond their own, and one for their own when nothing is said', async () => {
    const mine = await create({ allowedAddresses: ['127.0.0.0/24', '2001:db8::/32'] });
    // What else is beyond: test/core/access.test.ts.
    for (const allowedAddresses of [null, ['127.0.0.0/8'], ['127.0.0.1', '2001:db9::1']]) {
      expectError(await ask(use(mine), { allowedAddresses }), 403, 'FORBIDDEN', /allowedAddresses/);
    }
    expect((await ask(use(mine), {})).body.allowedAddresses).to.deep.equal(mine.allowedAddresses);
    const narrower = await ask(use(mine), { allowedAddresses: ['127.0.0.16/28', '2001:db8:1::7'] });
    expect(narrower.body.allowedAddresses).to.deep.equal(['127.0.0.16/28', '2001:db8:1::7/128']);
  });

  it('revoke none that is stronger', async () => {
    const weak = use(await create({ scopes: ['keys:write', 'events:read'], allowedAddresses: ['127.0.0.0/8'] }));
    const stronger = [
      await create({}),
      await create({ scopes: ['events:read', 'events:write'], allowedAddresses: ['127.0.0.1'] }),
      await create({ scopes: ['events:read'] }),
      await create({ scopes: ['events:read'], allowedAddresses: ['0.0.0.0/0'] }),
    ];
    for (const { id } of stronger) {
      expectError(await weak.request('DELETE', `/api/api-keys/${id}`), 403, 'FORBIDDEN');
    }
    for (const key of stronger.slice(0, 3)) await use(key).get('/api/auth/me');
    const { id } = await create({ scopes: ['events:read'], allowedAddresses: ['127.1.0.0/16'] });
    await weak.delete(`/api/api-keys/${id}`);
  });

  it('do not revoke the last one that may create keys, even two at a time', async () => {
    const { data } = await organization.api.list<{ id: string }>('/api/api-keys');
    const own = `/api/api-keys/${data[0]?.id}`;
    await create({ scopes: ['read'] });
    const ending = await create({ expiresAt: inHours(1) });
    await testPool().query("update api_keys set expires_at = now() - interval '1 s' where id = $1", [ending.id]);
    expectError(await organization.api.request('DELETE', own), 409, 'LAST_KEY', /create such a key first/);
    const other = await create({ scopes: ['read', 'write'] });
    const answers = await Promise.all([
      organization.api.request('DELETE', `/api/api-keys/${other.id}`),
      use(other).request('DELETE', own),
    ]);
    const statuses = answers.map(({ status }) => status).toSorted();
    // The later one was refused, or its key was gone by then.
    expect(statuses[0]).to.equal(204);
    expect(statuses[1]).to.be.oneOf([401, 409]);
  });

  it('that end soon revoke none that ends later', async () => {
    const soon = use(await create({ expiresAt: inHours(1) }));
    const later = [await create({}), await create({ scopes: ['events:read'], expiresAt: inHours(2) })];
    for (const { id } of later) {
      expectError(await soon.request('DELETE', `/api/api-keys/${id}`), 403, 'FORBIDDEN', /later expiresAt/);
    }
    for (const key of later) await use(key).get('/api/auth/me');
    const { id } = await create({ expiresAt: inHours(0.5) });
    await soon.delete(`/api/api-keys/${id}`);
  });

  it('revoke one that may create keys only if another stays that ends no earlier and has all of its addresses', async () => {
    const { data } = await organization.api.list<{ id: string }>('/api/api-keys');
    const own = `/api/api-keys/${data[0]?.id}`;
    const ending = await create({ expiresAt: inHours(1) });
    const narrow = await create({ allowedAddresses: ['127.0.0.0/8'] });
    await create({ scopes: ['read'] });
    expectError(await organization.api.request('DELETE', own), 409, 'LAST_KEY', /create such a key first/);
    await organization.api.delete(`/api/api-keys/${ending.id}`);
    await organization.api.delete(`/api/api-keys/${narrow.id}`);
    await create({ scopes: ['keys:write'] });
    await organization.api.delete(own);
  });

  it('revoke themselves under the same rule', async () => {
    const ending = await create({ expiresAt: inHours(1), allowedAddresses: ['127.0.0.0/8'] });
    await use(ending).delete(`/api/api-keys/${ending.id}`);
  });

  it('are held to their addresses', async () => {
    const key = await create({ allowedAddresses: ['127.0.0.2', '10.0.0.0/8'] });
    const url = `${organization.api.url}/api/auth/me`;
    const refused = await askFrom('127.0.0.1', url, key.token);
    expect(refused.status).to.equal(403);
    expect(refused.body.message).to.match(/127\.0\.0\.1/);
    const taken = await askFrom('127.0.0.2', url, key.token);
    expect(taken.status).to.equal(200);
    expect(taken.body).to.have.nested.property('key.allowedAddresses').that.deep.equals(['127.0.0.2/32', '10.0.0.0/8']);
    // Who writes such a header may be anyone.
    const claimed = await use(key).request('GET', '/api/auth/me', undefined, {
      headers: { 'X-Forwarded-For': '127.0.0.2', Forwarded: 'for=127.0.0.2', 'X-Real-IP': '127.0.0.2' },
    });
    expectError(claimed, 403, 'FORBIDDEN');
  });

  it('that are stolen leave one record a minute and no more when they are used from elsewhere', async () => {
    const key = await create({ allowedAddresses: ['10.0.0.0/8'] });
    for (let n = 0; n < 20; n += 1) expectError(await use(key).request('GET', '/api/auth/me'), 403, 'FORBIDDEN');
    const rows = await wholeDatabase(testPool());
    const records = rows.filter(({ table, columns }) => table === 'audit_records' && columns.key_id === key.id);
    // The minute may have changed meanwhile.
    expect(records.length).to.be.within(1, 2);
    expect(records[0]?.columns).to.include({ action: 'useKey', outcome: 'refused', address: '127.0.0.1' });
  });

  it('refuse what is no address, and an empty list, which could mean none or all', async () => {
    const wrong = await ask(organization.api, { allowedAddresses: ['127.0.0.1', '10.0.0.0/33'] });
    expectInvalid(wrong, 'allowedAddresses.1');
    expectInvalid(await ask(organization.api, { allowedAddresses: [] }), 'allowedAddresses');
  });
});
