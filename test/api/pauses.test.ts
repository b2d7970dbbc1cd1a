import { expect } from 'chai';
import { expectInvalid } from '../support/api-client.ts';
import { makeDestination, makePipeline, makeRoute, makeSource } from '../support/api-records.ts';
import { NOT_PAUSED } from '../support/workflows/pauses.ts';
import { createOrganization } from '../support/service.ts';
import { useOrganization } from '../support/use-hookyard.ts';

describe('Pauses', () => {
  const organization = useOrganization();
  let paths: string[];
  before(async () => {
    const { route, destination } = await makePipeline(organization);
    paths = [`/api/routes/${route.id}`, `/api/destinations/${destination.id}`];
  });
  const post = (path: string, body?: object) => organization.api.request('POST', path, body);

  it('are begun and ended, with a body or without, again and again', async () => {
    for (const path of paths) {
      const first = await post(`${path}/pause`);
      expect(first.status).to.equal(200);
      expect(first.body).to.include({ paused: true, pausedUntil: null, pauseReason: null });
      const until = '2999-01-01T00:00:00.000Z';
      const again = await organization.api.post(`${path}/pause`, { reason: 'Maintenance', until });
      expect(again).to.include({ paused: true, pausedUntil: until, pauseReason: 'Maintenance' });
      expect(again.pausedSince, 'since the first').to.equal(first.body.pausedSince);
      const { id: _id, ...state } = again;
      expect(await organization.api.get(path)).to.include(state);
      for (const body of [{ releasePerSecond: 5 }, undefined]) {
        const ended = await post(`${path}/resume`, body);
        expect([ended.status, ended.body]).to.deep.equal([200, { id: path.split('/').at(-1), ...NOT_PAUSED }]);
      }
      expect(await organization.api.get(path)).to.include(NOT_PAUSED);
    }
  });

  it('refuse what they cannot use', async () => {
    for (const path of paths) {
      for (const until of ['tomorrow', '2020-01-01T00:00:00Z', 5]) {
        expectInvalid(await post(`${path}/pause`, { until }), 'until');
      }
      for (const reason of ['', ' ', 'x'.repeat(501), 5]) {
        expectInvalid(await post(`${path}/pause`, { reason }), 'reason');
      }
      for (const releasePerSecond of [0, 10_001, 1.5, '5', null]) {
        expectInvalid(await post(`${path}/resume`, { releasePerSecond }), 'releasePerSecond');
      }
    }
  });

  it('are no change of the record: its ETag stays, and a change that was begun before is taken', async () => {
    const { route, destination } = await makePipeline(organization);
    for (const path of [`/api/routes/${route.id}`, `/api/destinations/${destination.id}`]) {
      const tagOf = async () => (await organization.api.request('GET', path)).headers.get('etag') ?? '';
      const tag = await tagOf();
      await post(`${path}/pause`);
      expect(await tagOf()).to.equal(tag);
      const changed = await organization.api.request(
        'PATCH',
        path,
        { name: 'Changed' },
        { headers: { 'If-Match': tag } },
      );
      expect(changed.status).to.equal(200);
      expect(changed.body).to.include({ name: 'Changed', paused: true });
    }
  });

  it('are not in files: an import changes none, and makes none', async () => {
    const own = await createOrganization();
    const source = await makeSource(own, { slug: 'orders' });
    const destination = await makeDestination(own, { slug: 'crm' });
    const route = await makeRoute(own, source.id, [destination.id]);
    const [routePath, destinationPath] = [`/api/routes/${route.id}`, `/api/destinations/${destination.id}`];
    await own.api.post(`${routePath}/pause`, { reason: 'Secret maintenance' });
    await own.api.post(`${destinationPath}/pause`, { reason: 'Secret maintenance' });
    const routes = await own.api.get<{ routes: object[] }>('/api/routes/export');
    const destinations = await own.api.get<{ destinations: object[] }>('/api/destinations/export');
    expect(JSON.stringify([routes, destinations])).to.not.match(/pause|maintenance/i);
    const strategy = { conflictStrategy: 'overwrite' };
    await own.api.post('/api/destinations/import', { ...destinations, ...strategy });
    await own.api.post('/api/routes/import', { ...routes, ...strategy });
    expect(await own.api.get(routePath)).to.include({ paused: true });
    expect(await own.api.get(destinationPath)).to.include({ paused: true });

    const other = await createOrganization();
    await makeSource(other, { slug: 'orders' });
    await other.api.post('/api/destinations/import', { ...destinations, ...strategy });
    await other.api.post('/api/routes/import', { ...routes, ...strategy });
    const [imported] = (await other.api.list('/api/routes')).data;
    expect(imported).to.include(NOT_PAUSED);
  });
});
