// Transforms as records (TFM).
import { expect } from 'chai';
import { type Answer, expectError, expectInvalid } from '../support/api-client.ts';
import { makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { createOrganization } from '../support/service.ts';
import { useOrganization } from '../support/use-hookyard.ts';

interface TransformView {
  id: string;
  name: string;
  slug: string;
  type: string;
  code: string;
  outputContentType: string | null;
  routeCount: number;
  version: number;
}

const IDENTITY = 'export default function (event) {\n  return event.payload;\n}';

describe('Transforms', () => {
  const organization = useOrganization();
  const make = (extra: object = {}) =>
    organization.api.create<TransformView>('/api/transforms', {
      name: 'Same again',
      type: 'javascript',
      code: IDENTITY,
      ...extra,
    });
  const post = (body: object): Promise<Answer> => organization.api.request('POST', '/api/transforms', body);

  it('creates, reads, changes and deletes one', async () => {
    const created = await make({ name: 'To the CRM', description: 'for Ann', outputContentType: 'application/xml' });
    expect(created.id).to.match(/^tfm_/);
    expect(created).to.include({
      name: 'To the CRM',
      slug: 'to-the-crm',
      description: 'for Ann',
      type: 'javascript',
      code: IDENTITY,
      outputContentType: 'application/xml',
      routeCount: 0,
    });
    expect(await organization.api.get(`/api/transforms/${created.id}`)).to.deep.equal(created);
    const changed = await organization.api.patch<TransformView>(`/api/transforms/${created.id}`, {
      name: 'Other',
      type: 'jsonata',
      code: 'payload',
      outputContentType: null,
    });
    expect(changed).to.include({ name: 'Other', slug: 'to-the-crm', type: 'jsonata', code: 'payload' });
    expect(changed.outputContentType).to.equal(null);
    expect(changed.version).to.be.above(created.version);
    await organization.api.delete(`/api/transforms/${created.id}`);
    expectError(await organization.api.request('GET', `/api/transforms/${created.id}`), 404, 'RESOURCE_NOT_FOUND');
  });

  it('lists them, newest first, by page and search', async () => {
    const own = await createOrganization();
    for (const name of ['One', 'Two', 'Three']) {
      await own.api.create('/api/transforms', { name, type: 'liquid', code: '{{ payload }}' });
    }
    const names = async (query: string) =>
      (await own.api.list<TransformView>(`/api/transforms${query}`)).data.map(({ name }) => name);
    expect(await names('')).to.deep.equal(['Three', 'Two', 'One']);
    expect(await names('?pageSize=2&page=2')).to.deep.equal(['One']);
    expect(await names('?search=TW')).to.deep.equal(['Two']);
    const { pagination } = await own.api.list('/api/transforms?pageSize=2');
    expect(pagination).to.deep.equal({ total: 3, page: 1, pageSize: 2 });
  });

  it('gives slugs that are free, and refuses one that is taken', async () => {
    await make({ name: 'Twice' });
    expect((await make({ name: 'Twice' })).slug).to.equal('twice-2');
    expectError(await post({ name: 'x', slug: 'twice', type: 'javascript', code: IDENTITY }), 409, 'DUPLICATE_SLUG');
    expectInvalid(
      await post({ name: 'x', slug: 'No Slug', type: 'javascript', code: IDENTITY }),
      'slug',
      'INVALID_SLUG',
    );
  });

  it('names the member that is wrong', async () => {
    expectInvalid(await post({ type: 'javascript', code: IDENTITY }), 'name');
    expectInvalid(await post({ name: 'x', type: 'python', code: IDENTITY }), 'type');
    expectInvalid(await post({ name: 'x', type: 'javascript' }), 'code');
    expectInvalid(await post({ name: 'x', type: 'javascript', code: '  ' }), 'code');
    for (const outputContentType of ['', 'xml', 'text/plain\r\nX: y', 'text/plain; charset', 'a'.repeat(300)]) {
      expectInvalid(
        await post({ name: 'x', type: 'javascript', code: IDENTITY, outputContentType }),
        'outputContentType',
      );
    }
    const typed = await make({ outputContentType: 'text/csv; charset=utf-8; header="a b"' });
    expect(typed.outputContentType).to.equal('text/csv; charset=utf-8; header="a b"');
  });

  describe('refuses code that cannot be compiled, with line and column', () => {
    const broken: [type: string, code: string, line: number, column: number][] = [
      ['javascript', 'export default function (event) {\n  return event.;\n}', 2, 16],
      ['javascript', 'export const a = 1;', 1, 1],
      ['jsonata', '{\n  "a": payload.\n}', 3, 1],
      ['liquid', 'one\n  {{ payload | unknown_filter }}', 2, 3],
      ['liquid', 'one\n  {% include "footer" %}', 2, 3],
      ['jsonata', '{\n  "id": $uuid()\n}', 2, 13],
      ['javascript', 'export default async () => {\n  await fetch("https://shop.example");\n};', 2, 9],
    ];
    for (const [type, code, line, column] of broken) {
      it(`${type}: ${JSON.stringify(code)}`, async () => {
        const answer = await post({ name: 'x', type, code });
        expectError(answer, 400, 'INVALID_TRANSFORM', new RegExp(`line ${line}, column ${column}\\b`));
        expect(answer.body).to.have.nested.property('details[0].path', 'code');
        expect(answer.body).to.have.nested.property('details[0].line', line);
        expect(answer.body).to.have.nested.property('details[0].column', column);
      });
    }

    it('code that does not end', async () => {
      expectError(await post({ name: 'x', type: 'javascript', code: 'for (;;);' }), 400, 'INVALID_TRANSFORM', /500 ms/);
    });

    it('on an update, whether the code changes or its language', async () => {
      const { id } = await make();
      const patch = (body: object) => organization.api.request('PATCH', `/api/transforms/${id}`, body);
      expectError(await patch({ code: 'export default' }), 400, 'INVALID_TRANSFORM');
      expectError(await patch({ type: 'jsonata' }), 400, 'INVALID_TRANSFORM');
      expect(await organization.api.get(`/api/transforms/${id}`)).to.include({ type: 'javascript', code: IDENTITY });
    });
  });

  describe('tries one out', () => {
    it('that is stored', async () => {
      const { id } = await make({ code: "export default (e) => ({ n: e.payload.n + 1, kind: e.headers['x-kind'] })" });
      const sample = { payload: { n: 1 }, headers: { 'X-Kind': 'order' } };
      const answer = await organization.api.post(`/api/transforms/${id}/test`, sample);
      expect(answer).to.deep.include({
        success: true,
        output: { n: 2, kind: 'order' },
        outputContentType: 'application/json',
      });
      expect(answer.durationMs).to.be.a('number');
    });

    it('that is not stored', async () => {
      const answer = await organization.api.post('/api/transforms/test', {
        type: 'liquid',
        code: '{{ payload.n }} {{ query.page }} {{ method }}',
        payload: { n: 1 },
        query: 'page=3',
        method: 'PUT',
      });
      expect(answer).to.deep.include({
        success: true,
        output: '1 3 PUT',
        outputContentType: 'text/plain; charset=utf-8',
      });
    });

    it('and shows what went wrong', async () => {
      const trial = (code: string) =>
        organization.api.post('/api/transforms/test', { type: 'javascript', code, payload: {} });
      const thrown = await trial('export default function (event) {\n  return event.payload.a.b;\n}');
      expect(thrown).to.deep.include({ success: false, outputContentType: null });
      expect(thrown.error).to.deep.include({ line: 2 });
      expect(thrown)
        .to.have.nested.property('error.message')
        .that.matches(/cannot read property 'b' of undefined/);
      expect(await trial('export default () => null'))
        .to.have.nested.property('error.message')
        .that.matches(/returned nothing/);
      expect(await trial('export default () => { for (;;); }'))
        .to.have.nested.property('error.message')
        .that.matches(/500 ms/);
      expect(await trial('export default')).to.have.nested.property('error.line', 1);
    });

    it('but not one of another organization', async () => {
      const { id } = await make();
      const other = await createOrganization();
      expectError(await other.api.request('POST', `/api/transforms/${id}/test`, {}), 404, 'RESOURCE_NOT_FOUND');
    });
  });

  it('counts the routes that use it, is shown in them, and cannot be deleted while they do', async () => {
    const { id, name } = await make({ name: 'Used' });
    const source = await makeSource(organization);
    const destination = await makeDestination(organization);
    const route = await makeRoute(organization, source.id, [destination.id], { name: 'Orders', transformId: id });
    expect(route).to.deep.include({ transformId: id, transform: { id, name } });
    expect(await organization.api.get(`/api/transforms/${id}`)).to.include({ routeCount: 1 });
    const refused = await organization.api.request('DELETE', `/api/transforms/${id}`);
    expectError(refused, 409, 'IN_USE', new RegExp(`Orders.*${route.id}`));
    await organization.api.patch(`/api/routes/${route.id}`, { transformId: null });
    await organization.api.delete(`/api/transforms/${id}`);
  });
});
