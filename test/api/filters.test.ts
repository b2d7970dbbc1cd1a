import { expect } from 'chai';
import { expectInvalid, type Json } from '../support/api-client.ts';
import { makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { useMade, useOrganization } from '../support/use-hookyard.ts';

const paid = { field: 'payload.kind', operator: 'equals', value: 'paid' };

describe('Filters', () => {
  const organization = useOrganization();
  const destination = useMade('a destination', () => makeDestination(organization));
  const post = (body: object) => organization.api.request('POST', '/api/filters', body);
  const make = (extra: object = {}) =>
    organization.api.create<Json & { slug: string }>('/api/filters', { name: 'Paid', conditions: [paid], ...extra });
  const routeWith = async (extra: object) =>
    makeRoute(organization, (await makeSource(organization)).id, [destination.id], extra);

  const wrong: [string, Json[], string][] = [
    ['an unknown operator', [paid, { ...paid, operator: 'like' }], 'conditions.1.operator'],
    ['a bad pattern', [{ ...paid, operator: 'matches', value: '(' }], 'conditions.0.value'],
    ['a bad path', [{ ...paid, field: 'a[' }], 'conditions.0.field'],
    ['eleven patterns', Array(11).fill({ ...paid, operator: 'regex', value: 'x' }), 'conditions'],
  ];
  for (const [what, conditions, path] of wrong) {
    it(`answer 400 to ${what}`, async () => {
      expectInvalid(await post({ name: 'x', conditions }), path, 'INVALID_FILTER');
    });
  }

  describe('tried on a sample', () => {
    const sample = {
      payload: { kind: 'paid', items: [{ sku: 'A' }] },
      headers: { 'X-Shop': 'north' },
      query: { page: '2' },
      method: 'put',
    };
    const conditions = [
      paid,
      { field: 'headers.x-shop', operator: 'equals', value: 'south' },
      { field: 'query.page', operator: 'gt', value: 1 },
      { field: 'method', operator: 'equals', value: 'PUT' },
      { field: 'items[*].sku', operator: 'in', value: 'A,B' },
    ];
    const each = [true, false, true, true, true];
    const shown = conditions.map((condition, n) => ({ ...condition, matches: each[n] }));

    it('tell which condition is met, stored or not', async () => {
      const { id } = await make({ conditions });
      const { post: tried } = organization.api;
      expect(await tried(`/api/filters/${id}/test`, sample)).to.deep.equal({ matches: false, conditions: shown });
      const unstored = await tried('/api/filters/test', { ...sample, conditions, logic: 'OR' });
      expect(unstored).to.deep.equal({ matches: true, conditions: shown });
      const ofText = await tried('/api/filters/test', { conditions: [paid], payload: 'text' });
      expect(ofText).to.include({ matches: false });
    });
    it('refuse conditions that cannot work', async () => {
      const unknown = { ...sample, conditions: [{ ...paid, operator: '?' }] };
      const answer = await organization.api.request('POST', '/api/filters/test', unknown);
      expectInvalid(answer, 'conditions.0.operator', 'INVALID_FILTER');
    });
  });

  describe('used by routes', () => {
    it('and inline conditions take the place of each other', async () => {
      const { id } = await make();
      const route = await routeWith({ filterConditions: [paid] });
      const path = `/api/routes/${route.id}`;
      const named = await organization.api.patch(path, { filterId: id });
      expect(named).to.deep.include({ filterId: id, filterConditions: null });
      const inline = await organization.api.patch(path, { filterConditions: [paid] });
      expect(inline).to.deep.include({ filterId: null, filter: null, filterConditions: [paid] });
      const both = { filterId: id, filterConditions: [paid] };
      expectInvalid(await organization.api.request('PATCH', path, both), 'filterId');
    });

    it('are never deleted while a route takes them', async () => {
      const { id: sourceId } = await makeSource(organization);
      for (let round = 0; round < 5; round += 1) {
        const { id } = await make();
        const target = await makeDestination(organization);
        const body = { name: 'x', sourceId, destinationIds: [target.id], filterId: id };
        const [created, deleted] = await Promise.all([
          organization.api.request('POST', '/api/routes', body),
          organization.api.request('DELETE', `/api/filters/${id}`),
        ]);
        expect([
          [201, 409],
          [400, 204],
        ]).to.deep.include([created.status, deleted.status]);
      }
    });
  });
});
