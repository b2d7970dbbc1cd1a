import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import type { Answer, Json } from '../support/api-client.ts';
import { deliveryOf, forgetQueued, ingest, makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { useOrganization } from '../support/use-hookyard.ts';

describe('Bulk endpoints', () => {
  const organization = useOrganization();
  after(() => forgetQueued(organization));

  const bulkDelete = (ids: unknown): Promise<Answer> =>
    organization.api.request('DELETE', '/api/destinations/bulk', { ids });
  const status = async (path: string) => (await organization.api.request('GET', path)).status;
  const unknown = (prefix: 'dst' | 'rte') => [newId(prefix), `${prefix}_nonsense`, 'export', ''];

  describe('DELETE /api/destinations/bulk', () => {
    it('deletes what exists, once, and passes over the rest', async () => {
      const [first, second, kept] = await Promise.all([1, 2, 3].map(() => makeDestination(organization)));
      const ids = [first?.id, ...unknown('dst'), second?.id, first?.id];
      const answer = await bulkDelete(ids);
      expect(answer).to.deep.include({ status: 200, body: { success: true, deleted: 2 } });
      expect(await status(`/api/destinations/${first?.id}`)).to.equal(404);
      expect(await status(`/api/destinations/${kept?.id}`)).to.equal(200);
      expect((await bulkDelete(ids)).body).to.deep.equal({ success: true, deleted: 0 });
    });

    it('does what a single delete does: routes lose them in order, open deliveries are cancelled', async () => {
      const made = await Promise.all([1, 2, 3, 4, 5].map(() => makeDestination(organization)));
      const [a, b, c, d, e] = made.map(({ id }) => id) as [string, string, string, string, string];
      const source = await makeSource(organization);
      const route = await makeRoute(organization, source.id, [c, a, b], { failoverDestinationIds: [d, e] });
      const away = await makeSource(organization);
      await makeRoute(organization, away.id, [a]);
      const eventId = await ingest(organization, away, '{}');
      const { id: deliveryId } = await deliveryOf(organization, eventId);
      await bulkDelete([a, d]);
      const view = await organization.api.get(`/api/routes/${route.id}`);
      expect(view).to.deep.include({ destinationIds: [c, b], failoverDestinationIds: [e] });
      expect(await organization.api.get(`/api/deliveries/${deliveryId}`)).to.deep.include({
        status: 'cancelled',
        error: 'The destination was deleted',
      });
    });

    it('lets two that delete the same destinations at once share them', async () => {
      const made = await Promise.all([1, 2, 3, 4, 5, 6].map(() => makeDestination(organization)));
      const ids = made.map(({ id }) => id);
      const answers = await Promise.all([bulkDelete(ids), bulkDelete(ids.toReversed()), bulkDelete(ids)]);
      expect(answers.map((answer) => answer.status)).to.deep.equal([200, 200, 200]);
      const deleted = answers.map((answer) => Number(answer.body.deleted));
      expect(deleted.reduce((sum, count) => sum + count)).to.equal(6);
    });
  });

  describe('POST /api/routes/bulk-pause', () => {
    const pause = (routeIds: unknown, isActive: unknown): Promise<Answer> =>
      organization.api.request('POST', '/api/routes/bulk-pause', { routeIds, isActive });

    it('pauses and resumes what exists, in the order of the request', async () => {
      const destination = await makeDestination(organization);
      const source = await makeSource(organization);
      const first = await makeRoute(organization, source.id, [destination.id], { name: 'First' });
      const second = await makeRoute(organization, (await makeSource(organization)).id, [destination.id], {
        name: 'Second',
        enabled: false,
      });
      const ids = [second.id, ...unknown('rte'), first.id, second.id];
      for (const isActive of [false, true]) {
        const answer = await pause(ids, isActive);
        expect(answer.status).to.equal(200);
        expect(answer.body).to.deep.equal({
          updated: 2,
          routes: [
            { id: second.id, name: 'Second', isActive },
            { id: first.id, name: 'First', isActive },
          ],
        });
        for (const { id } of [first, second]) {
          expect((await organization.api.get(`/api/routes/${id}`)).enabled).to.equal(isActive);
        }
        const event = await organization.api.get<Json>(
          `${organization.base}/events/${await ingest(organization, source, '{}')}`,
        );
        expect(event.deliveriesCount).to.equal(isActive ? 1 : 0);
      }
    });

    it('leaves a route that is so already unchanged', async () => {
      const { id } = await makeRoute(organization, (await makeSource(organization)).id, [
        (await makeDestination(organization)).id,
      ]);
      const before_ = await organization.api.get(`/api/routes/${id}`);
      expect((await pause([id], true)).body.updated).to.equal(1);
      expect(await organization.api.get(`/api/routes/${id}`)).to.deep.equal(before_);
    });
  });

  it('POST /api/routes/bulk-delete deletes what exists and nothing that the routes name', async () => {
    const destination = await makeDestination(organization);
    const source = await makeSource(organization);
    const first = await makeRoute(organization, source.id, [destination.id], { name: 'One' });
    const second = await makeRoute(organization, (await makeSource(organization)).id, [destination.id], {
      name: 'Two',
    });
    const routeIds = [second.id, first.id, ...unknown('rte')];
    expect(await organization.api.post('/api/routes/bulk-delete', { routeIds })).to.deep.equal({
      deleted: 2,
      routes: [
        { id: second.id, name: 'Two' },
        { id: first.id, name: 'One' },
      ],
    });
    expect(await status(`/api/routes/${first.id}`)).to.equal(404);
    expect(await status(`/api/destinations/${destination.id}`)).to.equal(200);
    expect(await status(`${organization.base}/sources/${source.id}`)).to.equal(200);
  });
});
