import { expect } from 'chai';
import { expectError, expectInvalid, type Json } from '../support/api-client.ts';
import { makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const paid = { field: 'payload.kind', operator: 'equals', value: 'paid' };

interface Kind {
  /** Of a create, without the name. */
  body: Json;
  defaults: Json;
  changes: Json;
}

const KINDS: Record<string, Kind> = {
  filter: {
    body: { conditions: [paid] },
    defaults: { logic: 'AND' },
    changes: { logic: 'OR', conditions: [paid, { field: 'headers.x', operator: 'exists' }] },
  },
  schema: { body: { schema: { type: 'object' } }, defaults: { version: 1 }, changes: { schema: false } },
  transform: {
    body: { type: 'javascript', code: 'export default ({ payload }) => payload' },
    defaults: { outputContentType: null },
    changes: { type: 'jsonata', code: 'payload', outputContentType: 'application/xml' },
  },
};

for (const [kind, { body, defaults, changes }] of Object.entries(KINDS)) {
  describe(`Records of the library: ${kind}s`, () => {
    const organization = useOrganization();
    const base = `/api/${kind}s`;
    const post = (members: Json) => organization.api.request('POST', base, { name: 'x', ...body, ...members });
    const make = (name: string) =>
      organization.api.create<Json & { id: string; slug: string }>(base, { name, ...body });

    it('are created with defaults, shown, changed and deleted', async () => {
      const made = await make('Paid orders');
      const common = { name: 'Paid orders', slug: 'paid-orders', description: null, routeCount: 0 };
      expect(made).to.deep.include({ ...common, ...body, ...defaults });
      expect(made.createdAt).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      const path = `${base}/${made.id}`;
      expect(await organization.api.get(path)).to.deep.equal(made);
      const patch = { name: 'Other', slug: 'other', description: 'd', ...changes };
      expect(await organization.api.patch(path, patch)).to.deep.include({ id: made.id, ...patch });
      const cleared = await organization.api.patch(path, { description: null });
      expect(cleared).to.deep.include({ ...patch, description: null });
      await organization.api.delete(path);
      for (const method of ['GET', 'DELETE'])
        expectError(await organization.api.request(method, path), 404, 'RESOURCE_NOT_FOUND');
    });

    it('get a slug of their own', async () => {
      const same = await Promise.all([1, 2, 3].map(() => make('Crème brûlée')));
      const slugs = same.map(({ slug }) => slug).toSorted();
      expect(slugs).to.deep.equal(['creme-brulee', 'creme-brulee-2', 'creme-brulee-3']);
      expectError(await post({ slug: 'creme-brulee' }), 409, 'DUPLICATE_SLUG');
      const { id } = await make('Another');
      const taken = await organization.api.request('PATCH', `${base}/${id}`, { slug: 'creme-brulee' });
      expectError(taken, 409, 'DUPLICATE_SLUG');
      expectInvalid(await post({ slug: 'Not A Slug' }), 'slug', 'INVALID_SLUG');
    });

    it('are expanded in routes and counted, and cannot be deleted while one uses them', async () => {
      const { id, name } = await make('In use');
      const member = `${kind}Id`;
      const destination = await makeDestination(organization);
      const routes: Json[] = [];
      for (let count = 0; count < 2; count += 1) {
        const source = await makeSource(organization);
        routes.push(await makeRoute(organization, source.id, [destination.id], { [member]: id }));
      }
      expect(routes[0]).to.deep.include({ [member]: id, [kind]: { id, name } });
      expect(await organization.api.get(`${base}/${id}`)).to.include({ routeCount: 2 });
      const refused = await organization.api.request('DELETE', `${base}/${id}`);
      expectError(refused, 409, 'IN_USE', new RegExp(`${routes[0]?.id}.*${routes[1]?.id}`));
      for (const route of routes) {
        const path = `/api/routes/${route.id}`;
        for (const unknown of [`${id.slice(0, 4)}unknown`, '', id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))])
          expectInvalid(await organization.api.request('PATCH', path, { [member]: unknown }), member);
        expect(await organization.api.patch(path, { [member]: null })).to.include({ [member]: null, [kind]: null });
      }
      await organization.api.delete(`${base}/${id}`);
    });
  });
}
