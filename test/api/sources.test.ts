import { expect } from 'chai';
import { type Answer, expectError, expectInvalid } from '../support/api-client.ts';
import { ingest, makePipeline, makeSource } from '../support/api-records.ts';
import { holdOrganization, waitingFor } from '../support/database/row-lock.ts';
import { testPool } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const WANTED = 'wanted';

describe('Sources', () => {
  const organization = useOrganization();
  let base: string;
  before(async () => {
    base = `${organization.base}/sources`;
  });
  const post = (body: object): Promise<Answer> => organization.api.request('POST', base, body);

  it('creates a source with defaults and its ingest address', async () => {
    const source = await organization.api.create(base, { name: 'Orders', slug: 'orders' });
    expect(source.id).to.match(/^src_/);
    expect(source).to.deep.include({
      name: 'Orders',
      slug: 'orders',
      description: null,
      verificationConfig: { type: 'none' },
      idempotencyKey: null,
      enabled: true,
      eventsCount: 0,
      lastEventAt: null,
    });
    expect(source.webhookUrl).to.match(new RegExp(`^http://localhost:\\d+/ingest/${organization.slug}/orders$`));
    expect(source.updatedAt).to.equal(source.createdAt);
    expect(await organization.api.get(`${base}/${source.id}`)).to.deep.equal(source);
  });

  describe('verification secrets', () => {
    const secret = 'top-secret-value';
    const hmac = {
      type: 'hmac',
      secret,
      header: 'X-Signature',
      algorithm: 'sha512',
      encoding: 'base64',
      prefix: 'v1=',
    };

    it('shows only the type after a create, and all but the secret later', async () => {
      const created = await makeSource(organization, { verificationConfig: hmac });
      expect(created).to.deep.include({ verificationConfig: { type: 'hmac' } });
      const { secret: _secret, ...shown } = hmac;
      expect((await organization.api.get(`${base}/${created.id}`)).verificationConfig).to.deep.equal(shown);
    });

    const keeps: [string, object][] = [
      ['no secret', {}],
      ['the masked secret', { secret: '••••alue' }],
    ];
    for (const [what, sent] of keeps) {
      it(`keeps the stored secret when an update of the same type has ${what}`, async () => {
        const { id } = await makeSource(organization, { verificationConfig: { type: 'github', secret } });
        const updated = await organization.api.patch(`${base}/${id}`, {
          verificationConfig: { type: 'github', ...sent },
        });
        expect(updated.verificationConfig).to.deep.equal({ type: 'github' });
        const stored = await testPool().query('select verification_secret from sources where id = $1', [id]);
        expect(stored.rows[0].verification_secret).to.be.a('string');
      });
    }

    it('needs a secret for a new type', async () => {
      const { id } = await makeSource(organization, { verificationConfig: { type: 'github', secret } });
      const answer = await organization.api.request('PATCH', `${base}/${id}`, {
        verificationConfig: { type: 'stripe' },
      });
      expectInvalid(answer, 'verificationConfig.secret');
    });

    it('needs a secret that a header can carry, where a header has it', async () => {
      for (const spoilt of [`${secret}\n`, `${secret} `]) {
        const verificationConfig = { type: 'header_token', header: 'X-Token', secret: spoilt };
        const sent = { name: 'Spoilt', slug: 'spoilt', verificationConfig };
        expectInvalid(await organization.api.request('POST', base, sent), 'verificationConfig.secret');
      }
    });

    it('removes the secret with the type none, and with null', async () => {
      for (const verificationConfig of [{ type: 'none' }, null]) {
        const { id } = await makeSource(organization, { verificationConfig: { type: 'slack', secret } });
        const updated = await organization.api.patch(`${base}/${id}`, { verificationConfig });
        expect(updated.verificationConfig).to.deep.equal({ type: 'none' });
        const stored = await testPool().query('select verification_secret from sources where id = $1', [id]);
        expect(stored.rows[0].verification_secret).to.equal(null);
      }
    });
  });

  describe('that are put by their slug', () => {
    const at = (slug: string) => `${base}/by-slug/${slug}`;
    const put = (slug: string, body: object) => organization.api.request('PUT', at(slug), body);
    const shown = (id: unknown) => organization.api.get(`${base}/${String(id)}`);
    const github = { type: 'github', secret: 'whispered to both sides' };
    const refused = async (address: unknown) => {
      const path = String(address).slice(String(address).indexOf('/ingest/'));
      const answer = await fetch(`${organization.api.url}${path}`, { method: 'POST', body: '{}' });
      return answer.status;
    };

    it('keep what protects them when it is left out', async () => {
      const guarded = { verificationConfig: github, ingestToken: 'required', concealed: true };
      const made = await put('guarded', { name: 'Guarded', description: 'First', ...guarded });
      await organization.api.post(`${base}/${String(made.body.id)}/rotate-secret`, { secret: 'the next one of both' });
      const before = await shown(made.body.id);
      const again = await put('guarded', { name: 'Guarded' });
      expect(again.body).to.include({ description: null, webhookUrl: made.body.webhookUrl, concealed: true });
      expect(again.body.verificationConfig).to.deep.equal({ type: 'github' });
      expect(again.body.previousSecretUntil).to.equal(before.previousSecretUntil).and.not.equal(null);
      expect(await refused(made.body.webhookUrl)).to.equal(404);
      const open = await put('guarded', { name: 'Guarded', concealed: false, verificationConfig: { type: 'github' } });
      expect(open.body.previousSecretUntil).to.equal(before.previousSecretUntil);
      expect(await refused(made.body.webhookUrl)).to.equal(401);
    });

    it('keep their provider, and take its place only by name', async () => {
      const made = await put('shop', { name: 'Shop', provider: 'shopify', verificationConfig: { secret: 'hush' } });
      for (const body of [{}, { provider: 'shopify' }, { verificationConfig: { provider: 'shopify' } }]) {
        const again = await put('shop', { name: 'Shop', ...body });
        expect([again.status, again.body.provider]).to.deep.equal([200, 'shopify']);
        expect(await refused(made.body.webhookUrl)).to.equal(401);
      }
      for (const config of [{ secret: 'quieter' }, { type: 'provider', secret: 'quieter' }]) {
        const again = await put('shop', { name: 'Shop', verificationConfig: config });
        expect([again.status, again.body.provider]).to.deep.equal([200, 'shopify']);
      }
      expectInvalid(await put('shop', { name: 'Shop', provider: null }), 'verificationConfig');
      expect(await refused(made.body.webhookUrl)).to.equal(401);
    });

    it('are without verification when the body says so', async () => {
      for (const [slug, verificationConfig] of [
        ['open', { type: 'none' }],
        ['open-too', null],
      ] as const) {
        await put(slug, { name: 'Open', verificationConfig: github });
        const open = await put(slug, { name: 'Open', verificationConfig });
        expect(open.body.verificationConfig).to.deep.equal({ type: 'none' });
        expect(await refused(open.body.webhookUrl)).to.equal(200);
      }
    });
  });

  describe('refusals', () => {
    for (const slug of ['', 'Orders', 'or ders', '-orders', 'orders-', 'or--ders', 'örders', 'a/b', 'x'.repeat(64)]) {
      it(`answers 400 INVALID_SLUG to ${JSON.stringify(slug).slice(0, 20)}`, async () => {
        expectInvalid(await post({ name: 'x', slug }), 'slug', 'INVALID_SLUG');
      });
    }
    it('answers 409 DUPLICATE_SLUG to a slug that is taken', async () => {
      await organization.api.create(base, { name: 'First', slug: 'taken' });
      expectError(await post({ name: 'Second', slug: 'taken' }), 409, 'DUPLICATE_SLUG');
    });
    it('lets one of several equal creates at once win', async () => {
      const answers = await Promise.all([1, 2, 3, 4].map(() => post({ name: 'Race', slug: 'race' })));
      expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([201, 409, 409, 409]);
    });
    const changes: [string, string, (id: string) => string, number][] = [
      ['a change', 'PATCH', (id) => `${base}/${id}`, 200],
      ['a replacement', 'PUT', () => `${base}/by-slug/${WANTED}`, 200],
      ['a new token', 'POST', (id) => `${base}/${id}/rotate-token`, 200],
      ['a deletion', 'DELETE', (id) => `${base}/${id}`, 204],
    ];
    for (const [what, method, path, status] of changes) {
      it(`takes ${what} while another with its slug is created: each gets its answer, though they wait for each other`, async () => {
        const source = { name: 'Wanted', slug: WANTED, ingestToken: 'required' };
        const { id } = await organization.api.create(base, source);
        const held = await holdOrganization(testPool(), organization.id);
        const created = post({ ...source, name: 'Wanted too' });
        const [creating] = await until('it to wait', async () => {
          const waiting = await held.waiting();
          return waiting.length === 1 && waiting;
        });
        const body = method === 'PATCH' || method === 'PUT' ? { ...source, name: 'Changed' } : undefined;
        const changed = organization.api.request(method, path(String(id)), body);
        await until('it to wait behind that', async () => (await waitingFor(testPool(), creating)).length === 1);
        await held.release();
        expect((await changed).status).to.equal(status);
        const { status: answer } = await created;
        expect(answer).to.be.oneOf(method === 'DELETE' ? [201, 409] : [409]);
        const { data } = await organization.api.list(`${base}?search=${WANTED}`);
        for (const each of data) await organization.api.delete(`${base}/${String(each.id)}`);
      });
    }

    const secret = 'sixteen-bytes-16';
    const wrong: [string, object, string][] = [
      ['an unknown type', { verificationConfig: { type: 'zip' } }, 'verificationConfig.type'],
      ['no secret', { verificationConfig: { type: 'github' } }, 'verificationConfig.secret'],
      ['an empty secret', { verificationConfig: { type: 'github', secret: '' } }, 'verificationConfig.secret'],
      ['hmac without header', { verificationConfig: { type: 'hmac', secret } }, 'verificationConfig.header'],
      [
        'an unknown algorithm',
        { verificationConfig: { type: 'hmac', secret, header: 'h', algorithm: 'md5' } },
        'verificationConfig.algorithm',
      ],
      ['neither header nor jsonPath', { idempotencyKey: { windowSeconds: 5 } }, 'idempotencyKey'],
      ['both', { idempotencyKey: { header: 'h', jsonPath: 'a', windowSeconds: 5 } }, 'idempotencyKey'],
      ['a wrong jsonPath', { idempotencyKey: { jsonPath: 'a..b', windowSeconds: 5 } }, 'idempotencyKey.jsonPath'],
    ];
    for (const [what, body, path] of wrong) {
      it(`answers 400 to ${what}`, async () => {
        expectInvalid(await post({ name: 'x', slug: 'a', ...body }), path);
      });
    }
  });

  it('updates what was sent and keeps the rest', async () => {
    const { id } = await makeSource(organization, {
      description: 'old',
      idempotencyKey: { header: 'X-Key', windowSeconds: 60 },
      verificationConfig: { type: 'github', secret: 'kept as long as unchanged' },
    });
    const updated = await organization.api.patch(`${base}/${id}`, { name: 'Renamed', enabled: false });
    expect(updated).to.deep.include({
      name: 'Renamed',
      enabled: false,
      description: 'old',
      idempotencyKey: { header: 'X-Key', windowSeconds: 60 },
      verificationConfig: { type: 'github' },
    });
    const cleared = await organization.api.patch(`${base}/${id}`, { description: null, idempotencyKey: null });
    expect(cleared).to.deep.include({ name: 'Renamed', description: null, idempotencyKey: null });
  });

  it('does not change the slug', async () => {
    const { id, slug } = await makeSource(organization);
    expectInvalid(await organization.api.request('PATCH', `${base}/${id}`, { slug: 'another' }), 'slug');
    await organization.api.patch(`${base}/${id}`, { slug, name: 'Same slug' });
  });

  it('signs a sample with its stored secret, which no sample shows', async () => {
    const { slug } = organization;
    const signing = [
      { provider: 'stripe', verificationConfig: { secret: 'whsec_of_the_test_0123456789' } },
      { verificationConfig: { type: 'hmac', secret: 'of the test 0123456789', header: 'X-Signature' } },
    ];
    for (const members of signing) {
      const source = await makeSource(organization, members);
      const { payload, headers } = await organization.api.post(`${base}/${source.id}/sample`, {});
      const sent = { method: 'POST', headers: headers as Record<string, string>, body: String(payload) };
      const answer = await fetch(`${organization.api.url}/ingest/${slug}/${source.slug}`, sent);
      expect(answer.status, JSON.stringify(members)).to.equal(200);
    }
    const verifying = [{ type: 'none' }, { type: 'header_token', secret: 'of the test 0123456789', header: 'X-Token' }];
    for (const verificationConfig of verifying) {
      const { id } = await makeSource(organization, { verificationConfig });
      const answer = await organization.api.request('POST', `${base}/${id}/sample`, {});
      expectError(answer, 409, 'INVALID_STATE');
    }
  });

  it('counts its events', async () => {
    const source = await makeSource(organization);
    await ingest(organization, source, '{}');
    await ingest(organization, source, '{}');
    const shown = await organization.api.get(`${base}/${source.id}`);
    expect(shown.eventsCount).to.equal(2);
    expect(shown.lastEventAt).to.match(/Z$/);
  });

  it('is deleted with its routes, events and deliveries', async () => {
    const { source, route, destination } = await makePipeline(organization);
    const eventId = await ingest(organization, source, '{"a":1}');
    await organization.api.delete(`${base}/${source.id}`);
    for (const path of [
      `${base}/${source.id}`,
      `/api/routes/${route.id}`,
      `${organization.base}/events/${eventId}`,
      `${organization.base}/events/${eventId}/payload`,
      `${organization.base}/events/${eventId}/timeline`,
    ]) {
      expectError(await organization.api.request('GET', path), 404, 'RESOURCE_NOT_FOUND');
    }
    expect((await organization.api.list(`/api/deliveries?eventId=${eventId}`)).data).to.deep.equal([]);
    await organization.api.get(`/api/destinations/${destination.id}`);
    expectError(await organization.api.request('DELETE', `${base}/${source.id}`), 404, 'RESOURCE_NOT_FOUND');
    const sent = await fetch(`${organization.api.url}/ingest/${organization.slug}/${source.slug}`, { method: 'POST' });
    expect(sent.status).to.equal(404);
  });
});
