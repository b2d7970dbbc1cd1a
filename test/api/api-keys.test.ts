import { expect } from 'chai';
import { createClient, expectError, expectInvalid } from '../support/api-client.ts';
import { startService, testPool } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useOrganization } from '../support/use-hookyard.ts';

interface NewKey {
  id: string;
  token: string;
}

describe('API keys', () => {
  const organization = useOrganization();
  const use = (token: string) => createClient(organization.api.url, token);

  it('creates a key with both scopes and shows its token once', async () => {
    const key = await organization.api.create<NewKey & { scopes: string[] }>('/api/api-keys', { name: 'CI' });
    expect(key.token).to.match(/^whr_[A-Za-z0-9_-]{40,}$/);
    expect(key).to.deep.include({ name: 'CI', scopes: ['read', 'write'], expiresAt: null });
    const me = await use(key.token).get('/api/auth/me');
    expect(me.key).to.deep.equal({
      id: key.id,
      name: 'CI',
      scopes: ['read', 'write'],
      allowedAddresses: null,
      expiresAt: null,
    });
    const { data } = await organization.api.list('/api/api-keys');
    expect(data[0]).to.include({ id: key.id, tokenHint: key.token.slice(-4) });
    expect(JSON.stringify(data)).to.not.include(key.token);
  });

  it('tells when a key was last used', async () => {
    const key = await organization.api.create<NewKey & { lastUsedAt: null }>('/api/api-keys', { name: 'Used' });
    expect(key.lastUsedAt).to.equal(null);
    const shown = async () =>
      (await organization.api.list<{ id: string; lastUsedAt: string | null }>('/api/api-keys')).data.find(
        ({ id }) => id === key.id,
      );
    expect((await shown())?.lastUsedAt).to.equal(null);
    await use(key.token).get('/api/auth/me');
    const first = await until('the use to be noted', async () => (await shown())?.lastUsedAt);
    // Within a minute it is not noted again; after it is.
    await use(key.token).get('/api/auth/me');
    expect((await shown())?.lastUsedAt).to.equal(first);
    await testPool().query(`update api_keys set last_used_at = now() - interval '1 hour' where id = $1`, [key.id]);
    await use(key.token).get('/api/auth/me');
    await until('the later use to be noted', async () => ((await shown())?.lastUsedAt ?? '') >= first);
  });

  it('a key that is replaced by another ends at once in every process', async () => {
    const [one, other] = await Promise.all([startService('api'), startService('api')]);
    const { id, token } = await organization.api.create<NewKey>('/api/api-keys', { name: 'Old' });
    for (const { url } of [one, other]) await createClient(url, token).get('/api/auth/me');
    const next = await createClient(one.url, token).create<NewKey>('/api/api-keys', { name: 'New' });
    for (const { url } of [one, other]) await createClient(url, next.token).get('/api/auth/me');
    await createClient(one.url, next.token).delete(`/api/api-keys/${id}`);
    for (const { url } of [one, other]) {
      expectError(await createClient(url, token).request('GET', '/api/auth/me'), 401, 'UNAUTHORIZED');
      await createClient(url, next.token).get('/api/auth/me');
    }
    expectError(await organization.api.request('DELETE', `/api/api-keys/${id}`), 404, 'RESOURCE_NOT_FOUND');
    const { data } = await organization.api.list('/api/api-keys');
    expect(data.map((key) => key.id)).to.not.include(id);
    await Promise.all([one.stop(), other.stop()]);
  });

  it('refuses a key after its expiry', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const key = await organization.api.create<NewKey & { expiresAt: string }>('/api/api-keys', {
      name: 'E',
      expiresAt,
    });
    expect(key.expiresAt).to.equal(expiresAt);
    await use(key.token).get('/api/auth/me');
    await testPool().query("update api_keys set expires_at = now() - interval '1 second' where id = $1", [key.id]);
    expectError(await use(key.token).request('GET', '/api/auth/me'), 401, 'UNAUTHORIZED');
  });

  const wrong: [string, object, string][] = [
    ['an empty name', { name: '  ' }, 'name'],
    ['an unknown scope', { name: 'x', scopes: ['admin'] }, 'scopes.0'],
    ['an expiry in the past', { name: 'x', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ['a misspelt field, which could restrict it', { name: 'x', scope: ['read'] }, 'scope'],
    ['an expiry that is no time', { name: 'x', expiresAt: 'soon' }, 'expiresAt'],
  ];
  for (const [what, body, path] of wrong) {
    it(`refuses ${what}`, async () => {
      expectInvalid(await organization.api.request('POST', '/api/api-keys', body), path);
    });
  }
});
