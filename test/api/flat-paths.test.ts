// Sources and events without their organization in the path: /api/sources and /api/events are the same operations, on
// the organization of the key. What they do: events.test.ts, events-replay.test.ts, by-slug.test.ts.
import { expect } from 'chai';
import { shortPath } from '../../api/request/operation.ts';
import { createClient, expectError } from '../support/api-client.ts';
import { ingest, makePipeline } from '../support/api-records.ts';
import { managementEndpoints, pathOf } from '../support/requests/endpoints.ts';
import { useMade, useOrganization } from '../support/use-hookyard.ts';

describe('The flat paths of sources and events', () => {
  const organization = useOrganization();
  const other = useOrganization();
  const made = useMade('a source and an event', async () => {
    const { source } = await makePipeline(organization);
    return { sources: source.id, events: await ingest(organization, source, '{"order":42}') };
  });

  for (const endpoint of managementEndpoints()) {
    const flat = shortPath(endpoint.path);
    if (flat === null) continue;
    const { method } = endpoint;
    it(`${method} ${flat} answers as with the organization, and only to a key of it`, async () => {
      const id = method === 'GET' && made[flat.startsWith('/api/sources') ? 'sources' : 'events'];
      const params = { orgId: organization.id, ...(id && { id }) };
      const body = method === 'GET' || method === 'DELETE' ? undefined : { name: 5 };
      const ask = (path: string, api = organization.api) => api.request(method, pathOf({ method, path }, params), body);
      const [short, long] = [await ask(flat), await ask(endpoint.path)];
      const { requestId: _one, ...shown } = short.body;
      const { requestId: _other, ...expected } = long.body;
      expect([short.status, shown]).to.deep.equal([long.status, expected]);
      if (id && flat.includes('{id}')) expectError(await ask(flat, other.api), 404, 'RESOURCE_NOT_FOUND');
      expectError(await ask(flat, createClient(organization.api.url, null)), 401, 'UNAUTHORIZED');
    });
  }

  it('change what the others show', async () => {
    const { api, base } = organization;
    const { id } = await api.create('/api/sources', { name: 'Shop', slug: 'shop' });
    await api.patch(`/api/sources/${id}`, { enabled: false });
    expect(await api.get(`${base}/sources/${id}`)).to.include({ enabled: false });
    await api.delete(`/api/sources/${id}`);
    expectError(await api.request('GET', `${base}/sources/${id}`), 404, 'RESOURCE_NOT_FOUND');
  });
});
