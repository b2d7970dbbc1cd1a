import { expect } from 'chai';
import { type Answer, expectError, type Json } from '../support/api-client.ts';
import { makeDestination, makeSource } from '../support/api-records.ts';
import { late, useOrganization } from '../support/use-hookyard.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const NEXT_SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX';

const HOOKS = { name: 'CRM', url: 'https://crm.example/hooks' };
const LAKE = { bucket: 'events', region: 'eu-west-1', accessKeyId: 'k', secretAccessKey: 'secret-of-it' };
const OPS = { url: 'https://ops.example/hooks', secret: SECRET };

const KINDS: Record<string, [path: string, body: Json]> = {
  source: ['{org}/sources', { name: 'Orders' }],
  destination: ['/api/destinations', HOOKS],
  'warehouse destination': ['/api/destinations', { name: 'Lake', type: 's3', config: LAKE }],
  'destination of the organization': ['{org}/destinations', HOOKS],
  route: ['/api/routes', { name: 'To the CRM' }],
  filter: ['/api/filters', { name: 'Paid', conditions: [{ field: 'method', operator: 'exists' }] }],
  schema: ['/api/schemas', { name: 'Order', schema: { type: 'object' } }],
  transform: ['/api/transforms', { name: 'Same', type: 'jsonata', code: '$' }],
  'alert channel': ['/api/alert-channels', { name: 'Ops', type: 'webhook', config: OPS }],
};

const tagOf = ({ headers }: Answer): string => headers.get('etag') ?? 'none';
const ifMatch = (tag: string) => ({ headers: { 'If-Match': tag } });

describe('ETags of records', () => {
  const organization = useOrganization();
  const api = late(() => organization.api);

  async function create(kind: string): Promise<{ one: string; made: Answer }> {
    const [path, body] = KINDS[kind] ?? expect.fail(kind);
    const place = path.replace('{org}', organization.base);
    const ends = kind === 'route' && {
      sourceId: (await makeSource(organization)).id,
      destinationIds: [(await makeDestination(organization)).id],
    };
    const slug = kind === 'source' && { slug: `orders-${Math.random()}`.replace('.', '-') };
    const made = await api.request('POST', place, { ...body, ...ends, ...slug });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    return { one: `${place}/${String(made.body.id)}`, made };
  }

  for (const kind of Object.keys(KINDS)) {
    describe(`of a ${kind}`, () => {
      it('are in every answer that shows it, and change with it', async () => {
        const { one, made } = await create(kind);
        const first = tagOf(made);
        expect(first).to.match(/^"\d+"$/);
        expect(tagOf(await api.request('GET', one))).to.equal(first);
        const changed = await api.request('PATCH', one, { name: 'Another' });
        expect(changed.status).to.equal(200);
        expect(tagOf(changed))
          .to.match(/^"\d+"$/)
          .and.not.equal(first);
        expect(tagOf(await api.request('GET', one))).to.equal(tagOf(changed));
      });

      it('keep it from being changed or deleted at another version', async () => {
        const { one, made } = await create(kind);
        const changed = await api.request('PATCH', one, { name: 'Another' }, ifMatch(tagOf(made)));
        const late = await api.request('PATCH', one, { name: 'Late' }, ifMatch(tagOf(made)));
        expectError(late, 412, 'PRECONDITION_FAILED');
        expectError(await api.request('DELETE', one, undefined, ifMatch(tagOf(made))), 412, 'PRECONDITION_FAILED');
        expect(await api.get(one)).to.include({ name: 'Another' });
        expect((await api.request('DELETE', one, undefined, ifMatch(tagOf(changed)))).status).to.equal(204);
        expectError(await api.request('GET', one), 404, 'RESOURCE_NOT_FOUND');
        expectError(await api.request('DELETE', one, undefined, ifMatch('"1"')), 404, 'RESOURCE_NOT_FOUND');
        expectError(await api.request('PATCH', one, { name: 'x' }, ifMatch('"1"')), 404, 'RESOURCE_NOT_FOUND');
      });

      it('let one of many changes at the same time through', async () => {
        const { one, made } = await create(kind);
        const names = Array.from({ length: 8 }, (_, n) => `Name ${n}`);
        const answers = await Promise.all(
          names.map((each) => api.request('PATCH', one, { name: each }, ifMatch(tagOf(made)))),
        );
        expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([200, ...Array(7).fill(412)]);
        const won = answers.findIndex(({ status }) => status === 200);
        expect(await api.get(one)).to.include({ name: names[won] });
      });
    });
  }

  it('may be several, weak, or any; other texts match nothing', async () => {
    const { one, made } = await create('destination');
    let tag = tagOf(made);
    for (const header of [() => tag, () => `"0", ${tag}`, () => `W/${tag}`, () => '*', () => ' * ']) {
      const answer = await api.request('PATCH', one, { name: `Name ${header()}` }, ifMatch(header()));
      expect(answer.status, header()).to.equal(200);
      tag = tagOf(answer);
    }
    for (const wrong of [tag.slice(1, -1), tag.slice(1), '""', '"0"', 'W/*', '', `"${tag.slice(1, -1)}0"`, '"1e0"']) {
      expectError(await api.request('PATCH', one, { name: 'x' }, ifMatch(wrong)), 412, 'PRECONDITION_FAILED');
    }
  });

  it('change with bulk changes, settings of the circuit, imports, rotations, and the deletion of a destination', async () => {
    const route = await create('route');
    let tag = tagOf(route.made);
    const changes = async (path: string, act: () => Promise<unknown>) => {
      await act();
      const now = tagOf(await api.request('GET', path));
      expect(now).to.not.equal(tag);
      expectError(await api.request('PATCH', path, { name: 'Late' }, ifMatch(tag)), 412, 'PRECONDITION_FAILED');
      tag = now;
    };
    const id = String(route.made.body.id);
    await changes(route.one, () => api.post('/api/routes/bulk-pause', { routeIds: [id], isActive: false }));
    await changes(route.one, () => api.patch(`${route.one}/circuit-config`, { circuitCooldownSeconds: 7 }));
    const config = { circuitCooldownSeconds: 8 };
    const late = await api.request('PATCH', `${route.one}/circuit-config`, config, ifMatch('"0"'));
    expectError(late, 412, 'PRECONDITION_FAILED');
    await changes(route.one, async () => {
      const { routes } = await api.get<{ routes: Json[] }>(`/api/routes/export?ids=${id}`);
      const changed = routes.map((each) => ({ ...each, priority: 9 }));
      await api.post('/api/routes/import', { routes: changed, conflictStrategy: 'overwrite' });
    });
    const [first] = route.made.body.destinationIds as string[];
    await changes(route.one, () => api.delete(`/api/destinations/${String(first)}`));

    const made = await api.request('POST', '/api/destinations', {
      ...{ name: 'Signed', url: 'https://signed.example/', signingSecret: SECRET },
    });
    const one = `/api/destinations/${String(made.body.id)}`;
    tag = tagOf(made);
    await changes(one, () => api.post(`${one}/rotate-secret`, { secret: NEXT_SECRET, overlapSeconds: 60 }));
  });
});
