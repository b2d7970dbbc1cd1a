import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { type Answer, expectError, expectInvalid, type Json } from '../support/api-client.ts';
import { late, useOrganization } from '../support/use-hookyard.ts';

const SIGNING_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

interface Kind {
  path: (base: string) => string;
  /** A body with secrets, if it has some, and two others of it; the second leaves out what the first has. */
  bodies: [Json, Json];
  /** What the second leaves in its default. */
  defaults: Json;
  /** What stays when the second leaves it out: it protects the record. */
  kept?: Json;
  /** What a replacement may not change. */
  fixed?: { change: Json; member: string };
}

const described = { description: 'Declared' };
const undescribed = { description: null };

const ofSources: Omit<Kind, 'path'> = {
  bodies: [
    {
      ...{ name: 'Orders', ...described, allowPaths: true, concealed: true, ingestToken: 'required', enabled: false },
      verificationConfig: { type: 'github', secret: 'whispered to both sides' },
      idempotencyKey: { signature: true, windowSeconds: 60 },
    },
    { name: 'Orders of the shop' },
  ],
  defaults: { ...undescribed, allowPaths: false, enabled: true, idempotencyKey: null, handshake: null },
  kept: { verificationConfig: { type: 'github' }, concealed: true, ingestToken: 'required' },
};

const KINDS: Record<string, Kind> = {
  source: { path: (base) => `${base}/sources`, ...ofSources },
  'source at its flat path': { path: () => '/api/sources', ...ofSources },
  destination: {
    path: () => '/api/destinations',
    bodies: [
      {
        ...{ name: 'CRM', url: 'https://crm.example/hooks', ...described, method: 'PUT', headers: { 'X-A': '1' } },
        ...{ authType: 'bearer', authConfig: { token: 'whispered to the CRM' }, signingSecret: SIGNING_SECRET },
        ...{ retryPolicy: { maxRetries: 1 }, forwardQuery: true, maxConcurrency: 3, enabled: false },
      },
      { name: 'The CRM', url: 'https://crm.example/other' },
    ],
    defaults: {
      ...{ ...undescribed, method: 'POST', headers: {} },
      ...{ forwardQuery: false, maxConcurrency: null, enabled: true },
      retryPolicy: { maxRetries: 5, initialDelay: 1000, maxDelay: 60_000, backoffMultiplier: 2 },
    },
    kept: { authType: 'bearer', authConfig: { token: '•••• CRM' }, signingSecret: `••••${SIGNING_SECRET.slice(-4)}` },
    fixed: { change: { type: 's3', config: {} }, member: 'type' },
  },
  filter: {
    path: () => '/api/filters',
    bodies: [
      { name: 'Paid', ...described, logic: 'OR', conditions: [{ field: 'kind', operator: 'equals', value: 1.5 }] },
      { name: 'Kind', conditions: [{ field: 'kind', operator: 'exists' }] },
    ],
    defaults: { ...undescribed, logic: 'AND' },
  },
  schema: {
    path: () => '/api/schemas',
    bodies: [
      { name: 'Order', ...described, schema: { type: 'object', required: ['id'] } },
      { name: 'Any order', schema: { type: 'object' } },
    ],
    defaults: { ...undescribed, schema: { type: 'object' } },
  },
  transform: {
    path: () => '/api/transforms',
    bodies: [
      { name: 'Same', ...described, type: 'jsonata', code: '$', outputContentType: 'application/xml' },
      { name: 'The id', type: 'javascript', code: 'export default ({ id }) => id;' },
    ],
    defaults: { ...undescribed, outputContentType: null },
  },
};

const tagOf = ({ headers }: Answer): string => headers.get('etag') ?? 'none';
const ifMatch = (tag: string) => ({ headers: { 'If-Match': tag } });

const newSlug = () => newId('src').slice(-20);

describe('Records by slug', () => {
  const organization = useOrganization();
  const api = late(() => organization.api);

  const put = (path: string, body: Json, init: object = {}) => api.request('PUT', path, body, init);

  for (const [name, { path, bodies, defaults, kept, fixed }] of Object.entries(KINDS)) {
    describe(`of a ${name}`, () => {
      const place = () => path(organization.base);
      const at = (slug: string) => `${place()}/by-slug/${slug}`;
      const stored = ({ body }: Answer) => api.get(`${place()}/${String(body.id)}`);

      it('make one, and then make it what the body says, with defaults for what it leaves out', async () => {
        const slug = newSlug();
        const made = await put(at(slug), bodies[0]);
        expect(made.status, JSON.stringify(made.body)).to.equal(201);
        expect(made.body).to.include({ slug, name: bodies[0].name, description: 'Declared' });
        const replaced = await put(at(slug), { ...bodies[1], slug });
        expect(replaced.status, JSON.stringify(replaced.body)).to.equal(200);
        expect(replaced.body).to.deep.include({ ...defaults, ...kept, ...bodies[1], slug, id: made.body.id });
        expect(await stored(made)).to.deep.include({ ...defaults, ...kept, ...bodies[1] });
      });

      it('change nothing when they are repeated', async () => {
        const slug = newSlug();
        await put(at(slug), bodies[1]);
        for (const body of bodies) {
          const first = await put(at(slug), body);
          const before = await stored(first);
          const again = await put(at(slug), body);
          expect([again.status, tagOf(again)]).to.deep.equal([200, tagOf(first)]);
          expect(await stored(again)).to.deep.equal(before);
        }
      });

      it('are one record when several come at the same time', async () => {
        const slug = newSlug();
        const answers = await Promise.all(Array.from({ length: 6 }, () => put(at(slug), bodies[1])));
        expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([200, 200, 200, 200, 200, 201]);
        expect(new Set(answers.map(({ body }) => body.id)).size).to.equal(1);
      });

      it('are made only at the version that is named', async () => {
        const slug = newSlug();
        expectError(await put(at(slug), bodies[0], ifMatch('"1"')), 412, 'PRECONDITION_FAILED');
        const made = await put(at(slug), bodies[0]);
        const replaced = await put(at(slug), bodies[1], ifMatch(tagOf(made)));
        expect(replaced.status).to.equal(200);
        expectError(await put(at(slug), bodies[0], ifMatch(tagOf(made))), 412, 'PRECONDITION_FAILED');
        expect(await stored(made)).to.include({ name: bodies[1].name });
      });

      it('are checked as a create is, and name the slug of the path', async () => {
        const slug = newSlug();
        expectError(await put(at('Not a slug'), bodies[0]), 400, 'INVALID_SLUG');
        expectInvalid(await put(at(slug), { ...bodies[0], slug: 'another' }), 'slug');
        const { name: _without, ...nameless } = bodies[0];
        expectInvalid(await put(at(slug), nameless), 'name');
        const made = await put(at(slug), bodies[0]);
        expectInvalid(await put(at(slug), nameless), 'name');
        if (fixed) expectInvalid(await put(at(slug), { ...bodies[0], ...fixed.change }), fixed.member);
        expect(await stored(made)).to.include({ name: bodies[0].name });
      });
    });
  }

  it('keep the secrets and the token of a source that are not sent, and a rotation that continues', async () => {
    const at = `${organization.base}/sources/by-slug/${newSlug()}`;
    const secret = 'whispered to both sides';
    const body = { name: 'Orders', ingestToken: 'optional', verificationConfig: { type: 'github', secret } };
    const made = await put(at, body);
    const one = `${organization.base}/sources/${String(made.body.id)}`;
    const next = 'the next one of both sides';
    await api.post(`${one}/rotate-secret`, { secret: next });
    const rotating = await api.get(one);
    for (const verificationConfig of [{ type: 'github' }, { type: 'github', secret: next }]) {
      const again = await put(at, { ...body, verificationConfig });
      expect(again.body).to.deep.equal(rotating);
    }
    const changed = await put(at, { ...body, verificationConfig: { type: 'github', secret: 'a third one of both' } });
    expect(changed.body).to.include({ previousSecretUntil: null, webhookUrl: made.body.webhookUrl });
  });

  it('keep the secret of a warehouse that is left out', async () => {
    const lake = `/api/destinations/by-slug/${newSlug()}`;
    const config = { bucket: 'acme-events', region: 'eu-central-1', accessKeyId: 'K' };
    const made = await put(lake, {
      ...{ name: 'Lake', type: 's3', config: { ...config, prefix: 'a', secretAccessKey: 'whispered-to-S3' } },
      fieldMapping: [{ source: '$.payload.id', target: 'id', type: 'string' }],
    });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    const changed = await put(lake, { name: 'Lake', type: 's3', config });
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
    expect(changed.body).to.have.nested.property('config.secretAccessKey', '••••o-S3');
    expect(changed.body.fieldMapping).to.deep.equal([]);
    expect((changed.body.config as Json).prefix).to.not.equal('a');
    expect(tagOf(await put(lake, { name: 'Lake', type: 's3', config }))).to.equal(tagOf(changed));
  });

  describe('of a route, by its name', () => {
    let sourceId: string;
    let destinationIds: string[];
    before(async () => {
      const source = await put(`${organization.base}/sources/by-slug/${newSlug()}`, { name: 'S' });
      const destination = await put(`/api/destinations/by-slug/${newSlug()}`, { name: 'D', url: 'https://d.example/' });
      sourceId = String(source.body.id);
      destinationIds = [String(destination.body.id)];
    });
    const at = (name: string) => `/api/routes/by-name/${encodeURIComponent(name)}`;

    it('make one, replace it, and change nothing when they are repeated', async () => {
      const name = 'Shop / CRM 100 %';
      const conditions = [{ field: 'kind', operator: 'equals', value: 'paid' }];
      const body = { name, sourceId, destinationIds, priority: 3, filterConditions: conditions, lane: 'express' };
      const made = await put(at(name), body);
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      const again = await put(at(name), body);
      expect([again.status, tagOf(again)]).to.deep.equal([200, tagOf(made)]);
      const replaced = await put(at(name), { name, sourceId, destinationIds }, ifMatch(tagOf(made)));
      expect(replaced.body).to.include({ id: made.body.id, filterConditions: null }).and.not.have.property('lane');
      expectError(await put(at(name), body, ifMatch(tagOf(made))), 412, 'PRECONDITION_FAILED');
      await api.delete(`/api/routes/${String(made.body.id)}`);
    });

    it('make one route, however many arrive at once and whichever sources they name', async () => {
      const sources = await Promise.all(
        Array.from({ length: 4 }, () => put(`${organization.base}/sources/by-slug/${newSlug()}`, { name: 'S' })),
      );
      const ids = sources.map(({ body }) => String(body.id));
      for (let round = 0; round < 5; round += 1) {
        const name = `At once ${round}`;
        const answers = await Promise.all(ids.map((id) => put(at(name), { name, sourceId: id, destinationIds })));
        const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other);
        expect(statuses, JSON.stringify(answers.map(({ body }) => body))).to.deep.equal([201, 400, 400, 400]);
        const made = answers.find(({ status }) => status === 201);
        await api.delete(`/api/routes/${String(made?.body.id)}`);
      }
    });

    it('are refused when the name is another, or is that of several, or the source is another', async () => {
      const body = { name: 'Twice', sourceId, destinationIds };
      expectInvalid(await put(at('Once'), body), 'name');
      expectError(await put(at('Twice'), body, ifMatch('"1"')), 412, 'PRECONDITION_FAILED');
      const made = await put(at('Twice'), body);
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      const { body: other } = await put(`${organization.base}/sources/by-slug/${newSlug()}`, { name: 'S' });
      expectInvalid(await put(at('Twice'), { ...body, sourceId: String(other.id) }), 'sourceId');
      expectError(await put(at('Thrice'), { ...body, name: 'Thrice' }), 409, 'DUPLICATE_ROUTE');
      await api.create('/api/routes', { ...body, sourceId: other.id });
      expectError(await put(at('Twice'), body), 409, 'INVALID_STATE');
    });
  });
});
