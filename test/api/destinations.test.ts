import { expect } from 'chai';
import { type Answer, expectError, expectInvalid, type Json } from '../support/api-client.ts';
import { makeDestination } from '../support/api-records.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const url = 'https://receiver.example/hooks';

describe('Destinations', () => {
  const organization = useOrganization();
  const post = (body: object): Promise<Answer> => organization.api.request('POST', '/api/destinations', body);

  describe('flat family', () => {
    it('creates an http destination with defaults', async () => {
      const destination = await organization.api.create('/api/destinations', { name: 'Acme CRM', url });
      expect(destination.id).to.match(/^dst_/);
      expect(destination).to.deep.include({
        name: 'Acme CRM',
        slug: 'acme-crm',
        type: 'http',
        url,
        method: 'POST',
        headers: {},
        authType: 'none',
        authConfig: {},
        signingSecret: null,
        timeoutMs: 30_000,
        rateLimitPerMinute: null,
        maxConcurrency: null,
        retryPolicy: { maxRetries: 5, initialDelay: 1000, maxDelay: 60_000, backoffMultiplier: 2 },
        enabled: true,
        successRate: null,
        avgLatency: null,
        deliveriesCount: 0,
        lastDeliveryAt: null,
      });
      expect(await organization.api.get(`/api/destinations/${destination.id}`)).to.deep.equal(destination);
    });

    it('lists the summary of each', async () => {
      const { id } = await makeDestination(organization, { name: 'Listed' });
      const { data } = await organization.api.list('/api/destinations?search=listed');
      expect(data).to.deep.equal([
        {
          id,
          name: 'Listed',
          slug: 'listed',
          type: 'http',
          url,
          enabled: true,
          paused: false,
          pausedUntil: null,
          successRate: null,
          avgLatency: null,
          deliveriesCount: 0,
        },
      ]);
    });

    it('replaces headers as a whole, and keeps its type', async () => {
      const { id } = await makeDestination(organization, { headers: { 'X-A': '1', 'X-B': '2' } });
      const updated = await organization.api.patch(`/api/destinations/${id}`, {
        headers: { 'X-C': '3' },
        type: 'http',
      });
      expect(updated.headers).to.deep.equal({ 'X-C': '3' });
      expectInvalid(await organization.api.request('PATCH', `/api/destinations/${id}`, { type: 's3' }), 'type');
    });

    it('merges a partial retryPolicy over the defaults and over the stored one', async () => {
      const created = await organization.api.create<{ retryPolicy: Json }>('/api/destinations', {
        name: 'P',
        url,
        retryPolicy: { maxRetries: 0 },
      });
      const merged = { maxRetries: 0, initialDelay: 1000, maxDelay: 60_000, backoffMultiplier: 2 };
      expect(created.retryPolicy).to.deep.equal(merged);
      const updated = await organization.api.patch(`/api/destinations/${created.id}`, { retryPolicy: { maxDelay: 5 } });
      expect(updated.retryPolicy).to.deep.equal({ ...merged, maxDelay: 5 });
    });

    it('makes slugs of names, with a suffix on conflict, also for creates at the same time', async () => {
      const made = await Promise.all(
        [1, 2, 3].map(() => organization.api.create('/api/destinations', { name: 'Twin Ärger', url })),
      );
      expect(made.map(({ slug }) => slug).toSorted()).to.deep.equal(['twin-arger', 'twin-arger-2', 'twin-arger-3']);
    });

    it('takes a slug of its own, unless it is taken or none', async () => {
      const destination = await organization.api.create('/api/destinations', { name: 'Own', url, slug: 'my-own' });
      expect(destination.slug).to.equal('my-own');
      expectError(await post({ name: 'Own', url, slug: 'my-own' }), 409, 'DUPLICATE_SLUG');
      expectInvalid(await post({ name: 'Own', url, slug: 'My Own' }), 'slug', 'INVALID_SLUG');
      const path = `/api/destinations/${(await makeDestination(organization)).id}`;
      expectError(await organization.api.request('PATCH', path, { slug: 'my-own' }), 409, 'DUPLICATE_SLUG');
    });
  });

  describe('organization-scoped family', () => {
    it('lists and deletes the same records', async () => {
      const base = `${organization.base}/destinations`;
      const created = await organization.api.create(base, { name: 'Scoped', url, enabled: false });
      expect(await organization.api.get(`${base}/${created.id}`)).to.deep.equal(created);
      const { data } = await organization.api.list(`${base}?enabled=false&search=SCOPED`);
      expect(data.map(({ id, slug }) => [id, slug])).to.deep.equal([[created.id, 'scoped']]);
      await organization.api.delete(`${base}/${created.id}`);
      expectError(await organization.api.request('GET', `${base}/${created.id}`), 404, 'RESOURCE_NOT_FOUND');
      expectError(await organization.api.request('DELETE', `${base}/${created.id}`), 404, 'RESOURCE_NOT_FOUND');
    });

    const members = {
      description: 'Of the sales team',
      slug: 'scoped-in-full',
      method: 'PUT',
      headers: { 'X-A': '1' },
      authType: 'bearer',
      authConfig: { token: 'the token of the CRM' },
      signingSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      timeoutMs: 5000,
      rateLimitPerMinute: 60,
      retryPolicy: { maxRetries: 1, initialDelay: 1, maxDelay: 2, backoffMultiplier: 1 },
      enabled: false,
    };
    const shown = { ...members, type: 'http', authConfig: { token: '•••• CRM' }, signingSecret: '••••LaSw' };

    it('takes every member that the flat family takes, and both show all of them', async () => {
      const base = `${organization.base}/destinations`;
      const made = await organization.api.create(base, { name: 'Whole', url, type: 'http', ...members });
      expect(made).to.deep.include(shown);
      expect(await organization.api.get(`/api/destinations/${made.id}`)).to.deep.equal(made);
      const { id } = await organization.api.create(base, { name: 'Bare', url });
      const sent = { ...members, slug: 'scoped-and-changed' };
      const changed = await organization.api.patch(`${base}/${id}`, sent);
      expect(changed).to.deep.include({ ...shown, slug: sent.slug });
      expect(await organization.api.get(`/api/destinations/${id}`)).to.deep.equal(changed);
      expect(await organization.api.patch(`${base}/${id}`, { description: null })).to.include({ description: null });
      const flat = await organization.api.create('/api/destinations', { name: 'Flat', url, ...members, slug: 'flat' });
      expect(flat).to.deep.include({ ...shown, slug: 'flat' });
      const patched = await organization.api.patch(`/api/destinations/${flat.id}`, { description: null });
      expect(patched).to.have.property('description', null);
      expectError(await organization.api.request('PATCH', `${base}/${id}`, { slug: 'flat' }), 409, 'DUPLICATE_SLUG');
    });

    it('refuses what only a warehouse has', async () => {
      const base = `${organization.base}/destinations`;
      const { id } = await organization.api.create(base, { name: 'Of http', url });
      const config = { bucket: 'acme-events' };
      const { request } = organization.api;
      const refused = await request('POST', base, { name: 'Lake', url, type: 's3', config });
      expectInvalid(refused, 'type');
      expectInvalid(await request('PATCH', `${base}/${id}`, { type: 's3' }), 'type');
      for (const [method, path] of [
        ['POST', base],
        ['PATCH', `${base}/${id}`],
      ] as const) {
        const answer = await request(method, path, { name: 'Lake', url, config });
        expectError(answer, 400, undefined, /^config is only for destinations of type s3/);
      }
    });
  });

  for (const bad of [
    ...['', 'receiver.example', 'ftp://receiver.example', 'http:receiver', 'https://', 'https://u:p@receiver.example'],
    ...['https://a b.example', 'https://receiver.example/\n', 'javascript:alert(1)'],
    `https://receiver.example/${'x'.repeat(2048)}`,
  ]) {
    it(`answers 400 INVALID_URL to ${JSON.stringify(bad).slice(0, 40)} in both families`, async () => {
      for (const path of ['/api/destinations', `${organization.base}/destinations`])
        expectInvalid(await organization.api.request('POST', path, { name: 'x', url: bad }), 'url', 'INVALID_URL');
    });
  }

  it('keeps every change of updates at the same time', async () => {
    const { id } = await makeDestination(organization);
    const changes: Json[] = [{ name: 'At once' }, { timeoutMs: 5 }, { method: 'PATCH' }, { headers: { a: 'b' } }];
    await Promise.all(changes.map((change) => organization.api.patch(`/api/destinations/${id}`, change)));
    expect(await organization.api.get(`/api/destinations/${id}`)).to.deep.include(Object.assign({}, ...changes));
  });
});
