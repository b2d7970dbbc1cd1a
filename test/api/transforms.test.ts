import { expect } from 'chai';
import { type Answer, expectError, expectInvalid, type Json } from '../support/api-client.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const IDENTITY = 'export default function (event) {\n  return event.payload;\n}';

describe('Transforms', () => {
  const organization = useOrganization();
  const make = (extra: object = {}) =>
    organization.api.create('/api/transforms', { name: 'Same again', type: 'javascript', code: IDENTITY, ...extra });
  const post = (body: object): Promise<Answer> => organization.api.request('POST', '/api/transforms', body);

  it('names the member that is wrong', async () => {
    expectInvalid(await post({ name: 'x', type: 'javascript', code: '  ' }), 'code');
    for (const outputContentType of ['', 'xml', 'text/plain\r\nX: y', 'text/plain; charset', 'a'.repeat(300)]) {
      const answer = await post({ name: 'x', type: 'javascript', code: IDENTITY, outputContentType });
      expectInvalid(answer, 'outputContentType');
    }
    const typed = await make({ outputContentType: 'text/csv; charset=utf-8; header="a b"' });
    expect(typed.outputContentType).to.equal('text/csv; charset=utf-8; header="a b"');
  });

  describe('refuses code that cannot be compiled, with line and column', () => {
    const broken: [type: string, code: string, line: number, column: number][] = [
      // Others: test/conformance/transforms.test.ts and transform-functions.test.ts.
      ['javascript', 'export default function (event) {\n  return event.;\n}', 2, 16],
      ['jsonata', '{\n  "id": $uuid()\n}', 2, 13],
      ['liquid', 'one\n  {% include "footer" %}', 2, 3],
    ];
    for (const [type, code, line, column] of broken) {
      it(`${type}: ${JSON.stringify(code)}`, async () => {
        const answer = await post({ name: 'x', type, code });
        expectError(answer, 400, 'INVALID_TRANSFORM');
        expect((answer.body.details as Json[])[0]).to.include({ path: 'code', line, column });
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
      const expected = { success: true, output: '1 3 PUT', outputContentType: 'text/plain; charset=utf-8' };
      expect(answer).to.deep.include(expected);
    });

    it('and shows what went wrong', async () => {
      const trial = (code: string) =>
        organization.api.post('/api/transforms/test', { type: 'javascript', code, payload: {} });
      const thrown = await trial('export default function (event) {\n  return event.payload.a.b;\n}');
      expect(thrown).to.deep.include({ success: false, outputContentType: null });
      expect(thrown.error).to.deep.include({ line: 2 });
      for (const code of ['export default () => null', 'export default () => { for (;;); }'])
        expect(await trial(code)).to.include({ success: false });
      expect(await trial('export default')).to.have.nested.property('error.line', 1);
    });
  });
});
