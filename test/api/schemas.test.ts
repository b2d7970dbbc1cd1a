// Schema records, their trial, and how routes use them. That they cannot be deleted in a race is shown for filters.
import { expect } from 'chai';
import { expectInvalid, type Json } from '../support/api-client.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const order = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };

describe('Schemas', () => {
  const organization = useOrganization();
  const post = (body: object) => organization.api.request('POST', '/api/schemas', body);
  const make = (extra: object = {}) =>
    organization.api.create<Json & { slug: string }>('/api/schemas', { name: 'Order', schema: order, ...extra });

  it('raise their version with each change', async () => {
    const { id } = await make();
    const path = `/api/schemas/${id}`;
    const changed = { type: 'object', properties: { other: true } };
    expect(await organization.api.patch(path, { schema: changed })).to.deep.include({ version: 2, schema: changed });
    expect(await organization.api.patch(path, { schema: changed })).to.include({ version: 2 });
    expect(await organization.api.patch(path, { schema: false })).to.include({ version: 3, schema: false });
    expect(await organization.api.get(path)).to.include({ version: 3, schema: false });
    const answer = await organization.api.request('PATCH', path, { schema: { type: 'objekt' } });
    expectInvalid(answer, 'schema', 'INVALID_SCHEMA');
    expect(await organization.api.get(path)).to.include({ version: 3 });
  });

  it('answer 400 INVALID_SCHEMA to what cannot be compiled, and 400 to what is no schema', async () => {
    for (const schema of [{ type: 'objekt' }, { $ref: 'https://example.com/x.json' }, { pattern: '(' }])
      expectInvalid(await post({ name: 'x', schema }), 'schema', 'INVALID_SCHEMA');
    for (const schema of [undefined, null, 'text', 5, []]) expectInvalid(await post({ name: 'x', schema }), 'schema');
  });

  const trial = (body: object) => organization.api.request('POST', '/api/schemas/test', body);
  const ways: [string, (body: object) => ReturnType<typeof trial>][] = [
    ['once they are stored', async (body) => validate((await make()).id, body)],
    ['before they are stored', (body) => trial({ schema: order, ...body })],
  ];
  const validate = (id: string, body: object) => organization.api.request('POST', `/api/schemas/${id}/validate`, body);
  for (const [when, tried] of ways) {
    it(`are tried on a payload, ${when}`, async () => {
      expect((await tried({ payload: { id: 'a' } })).body).to.deep.equal({ valid: true, errors: [] });
      const errors = [{ path: '/id', message: 'must be string' }];
      expect((await tried({ payload: { id: 5 } })).body).to.deep.equal({ valid: false, errors });
      expect((await tried({ payload: null })).body).to.include({ valid: false });
      expectInvalid(await tried({}), 'payload');
    });
  }

  it('are tried without being stored', async () => {
    const { total } = (await organization.api.list('/api/schemas')).pagination;
    expect((await trial({ schema: false, payload: null })).body).to.include({ valid: false });
    expectInvalid(await trial({ schema: { type: 'objekt' }, payload: {} }), 'schema', 'INVALID_SCHEMA');
    expectInvalid(await trial({ payload: {} }), 'schema');
    expect((await organization.api.list('/api/schemas')).pagination.total).to.equal(total);
  });
});
