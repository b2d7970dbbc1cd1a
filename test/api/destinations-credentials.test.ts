import { expect } from 'chai';
import { type Answer, type ApiClient, expectInvalid, type Json } from '../support/api-client.ts';
import { clientWith, makeDestination } from '../support/api-records.ts';
import { testPool } from '../support/service.ts';
import { makeWarehouse, warehouseConfigs, type WarehouseRecord } from '../support/warehouse/warehouse-records.ts';
import type { ImportResult } from './exchange/destination-files.ts';
import { useMade, useOrganization } from '../support/use-hookyard.ts';

const url = 'https://receiver.example/hooks';

describe('Credentials of destinations', () => {
  const organization = useOrganization();
  const post = (body: object): Promise<Answer> => organization.api.request('POST', '/api/destinations', body);

  const cases: [string, Record<string, string>, Record<string, string>][] = [
    ['basic', { username: 'user', password: 'secret-password' }, { username: 'user', password: '••••word' }],
    ['bearer', { token: 'secret-token' }, { token: '••••oken' }],
    ['api_key', { headerName: 'X-Api-Key', key: 'secret-key-1' }, { headerName: 'X-Api-Key', key: '••••ey-1' }],
    [
      'custom_header',
      { headerName: 'X-Mine', headerValue: 'secret-value' },
      { headerName: 'X-Mine', headerValue: '••••alue' },
    ],
  ];
  for (const [authType, authConfig, redacted] of cases) {
    it(`redacts ${authType} and keeps a redacted value that is sent back`, async () => {
      const asked = { name: 'Auth', url, authType, authConfig };
      const destination = await organization.api.create('/api/destinations', asked);
      expect(destination).to.deep.include({ authType, authConfig: redacted });
      const path = `/api/destinations/${destination.id}`;
      const stored = async () =>
        (await testPool().query('select auth_config from destinations where id = $1', [destination.id])).rows[0]
          .auth_config;
      expect(await stored()).to.match(/^v1\./);
      const updated = await organization.api.patch(path, { authConfig: redacted });
      expect(updated).to.deep.include({ authType, authConfig: redacted });
      expect(JSON.stringify(await organization.api.list('/api/destinations'))).to.not.include('secret-');
    });
  }

  it('keeps the credentials that a PUT leaves out, and removes them when it says so', async () => {
    const put = (body: object) =>
      organization.api.request('PUT', '/api/destinations/by-slug/kept', { name: 'Kept', url, ...body });
    const signingSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const credentials = { authType: 'bearer', authConfig: { token: 'secret-token' }, signingSecret };
    const { body: made } = await put(credentials);
    const path = `/api/destinations/${String(made.id)}`;
    const next = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
    await organization.api.post(`${path}/rotate-secret`, { secret: next });
    const before = await organization.api.get(path);
    const { authConfig, signingSecret: shown } = before;
    const masked = { authType: 'bearer', authConfig, signingSecret: shown };
    for (const body of [{}, { authType: 'bearer' }, { authConfig: { token: 'secret-token' } }, masked]) {
      const again = await put(body);
      expect([again.status, again.body]).to.deep.equal([200, before]);
    }
    expectInvalid(await put({ authType: 'basic' }), 'authConfig.username');
    const without = await put({ authType: 'none', signingSecret: null });
    expect(without.body).to.deep.include({ authType: 'none', authConfig: {}, signingSecret: null });
    expect(without.body.previousSigningSecretUntil).to.equal(null);
  });

  it('drops the credentials with authType none', async () => {
    const { id } = await makeDestination(organization, { authType: 'bearer', authConfig: { token: 'secret-token' } });
    const updated = await organization.api.patch(`/api/destinations/${id}`, { authType: 'none' });
    expect(updated).to.deep.include({ authType: 'none', authConfig: {} });
    const refused = await organization.api.request('PATCH', `/api/destinations/${id}`, { authType: 'bearer' });
    expectInvalid(refused, 'authConfig.token');
  });

  it('redacts the signing secret, keeps it when it comes back redacted, and removes it with null', async () => {
    const signingSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const destination = await organization.api.create('/api/destinations', { name: 'Signed', url, signingSecret });
    expect(destination.signingSecret).to.equal('••••LaSw');
    const path = `/api/destinations/${destination.id}`;
    expect((await organization.api.patch(path, { signingSecret: '••••LaSw' })).signingSecret).to.equal('••••LaSw');
    expect((await organization.api.patch(path, { signingSecret: null })).signingSecret).to.equal(null);
    expectInvalid(await organization.api.request('PATCH', path, { signingSecret: '••••LaSw' }), 'signingSecret');
  });

  const wrong: [string, object, string][] = [
    ['an unknown authType', { authType: 'digest' }, 'authType'],
    ['bearer without config', { authType: 'bearer' }, 'authConfig.token'],
    ['basic without password', { authType: 'basic', authConfig: { username: 'u' } }, 'authConfig.password'],
    ['a secret that is no text', { authType: 'bearer', authConfig: { token: { toString: 1 } } }, 'authConfig.token'],
    [
      'a redacted secret with nothing stored',
      { authType: 'bearer', authConfig: { token: '••••oken' } },
      'authConfig.token',
    ],
    [
      'a header name that is none',
      { authType: 'api_key', authConfig: { headerName: 'a b', key: 'k' } },
      'authConfig.headerName',
    ],
    ['a token with a line break', { authType: 'bearer', authConfig: { token: 'a\r\nb' } }, 'authConfig.token'],
    ['a signing secret without whsec_', { signingSecret: 'secret' }, 'signingSecret'],
    ['a header value that is no text', { headers: { 'X-A': 5 } }, 'headers.X-A'],
    ['a Host header', { headers: { Host: 'evil' } }, 'headers.Host'],
  ];
  for (const [what, members, path] of wrong) {
    it(`answers 400 to ${what}`, async () => {
      expectInvalid(await post({ name: 'x', url, ...members }), path);
    });
  }

  describe('on their way to another host', () => {
    const auth = { authType: 'bearer', authConfig: { token: 'secret-token' } };
    const REDACTED = '***REDACTED***';
    const masked = { token: '••••oken' };
    const elsewhere = [
      'https://other.example/hooks',
      'https://receiver.example:8443/hooks',
      'http://receiver.example/',
    ];
    const scopes = ['destinations:write', 'destinations:read'];
    const writer = useMade('a writer', () => clientWith(organization, ...scopes));
    const seer = useMade('a writer that sees secrets', () => clientWith(organization, ...scopes, 'secrets:read'));
    let made = 0;
    async function stored(members: Json = auth) {
      made += 1;
      const slug = `host-${made}`;
      const { id } = await organization.api.create('/api/destinations', { name: slug, slug, url, ...members });
      return { id, slug, path: `/api/destinations/${id}`, ownPath: `${organization.base}/destinations/${id}` };
    }
    type Stored = Awaited<ReturnType<typeof stored>>;
    const importOf = async (api: ApiClient, item: Json): Promise<Answer> => {
      const body = { destinations: [item], conflictStrategy: 'overwrite' };
      const answer = await api.request<ImportResult>('POST', '/api/destinations/import', body);
      return { ...answer, status: answer.body.success ? 200 : 403, body: { message: answer.body.errors.join() } };
    };
    const ways: Record<string, (api: ApiClient, of: Stored, members: Json) => Promise<Answer>> = {
      'PATCH without authConfig': (api, { path }, members) => api.request('PATCH', path, members),
      'PATCH with the secret masked': (api, { path }, members) =>
        api.request('PATCH', path, { authConfig: masked, ...members }),
      'PATCH of the organization': (api, { ownPath }, members) => api.request('PATCH', ownPath, members),
      'PUT by slug': (api, { slug }, members) =>
        api.request('PUT', `/api/destinations/by-slug/${slug}`, {
          ...{ name: slug, url, authType: 'bearer', authConfig: masked },
          ...members,
        }),
      'PUT by slug without credentials': (api, { slug }, members) =>
        api.request('PUT', `/api/destinations/by-slug/${slug}`, { name: slug, url, ...members }),
      'an import with REDACTED': (api, { slug }, members) =>
        importOf(api, { name: slug, slug, authType: 'bearer', authConfig: REDACTED, ...members }),
      'an import without authConfig': (api, { slug }, members) => importOf(api, { name: slug, slug, ...members }),
    };
    for (const [way, send] of Object.entries(ways)) {
      it(`are refused to a key that may not see them: ${way}`, async () => {
        const destination = await stored();
        for (const other of elsewhere) {
          const refused = await send(writer, destination, { url: other });
          expect(refused.status, other).to.equal(403);
          expect(refused.body.message, other).to.match(/send authConfig with its token again.*secrets:read/);
        }
        expect(await organization.api.get(destination.path)).to.deep.include({ url });
        expect((await send(writer, destination, { url: `${url}/deeper?x=1` })).status, 'the same host').to.equal(200);
        const again = { url: elsewhere[0], authType: 'bearer', authConfig: { token: 'secret-token' } };
        expect((await send(writer, destination, again)).status, 'sent once more').to.equal(200);
        expect((await send(seer, destination, { url })).status, 'a key that may see them').to.equal(200);
        expect((await send(organization.api, destination, { url: elsewhere[1] })).status, 'write').to.equal(200);
      });
    }

    it('need nothing where there are none, or they are dropped', async () => {
      const plain = await stored({});
      expect((await writer.request('PATCH', plain.path, { url: elsewhere[0] })).status).to.equal(200);
      const dropped = await stored();
      const answer = await writer.request('PATCH', dropped.path, { url: elsewhere[0], authType: 'none' });
      expect(answer.body).to.deep.include({ url: elsewhere[0], authConfig: {} });
      const signed = await stored({ signingSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' });
      expect((await writer.request('PATCH', signed.path, { url: elsewhere[0] })).status).to.equal(200);
    });

    // Of every type: test/core/warehouse-config.test.ts.
    it('are refused to a key that may not see them: a warehouse', async () => {
      const warehouse = await makeWarehouse(organization, 's3');
      const { id, slug, config } = warehouse as WarehouseRecord & { slug: string };
      const path = `/api/destinations/${id}`;
      const other = 'https://store.attacker.example';
      const put = { name: slug, type: 's3', config: { ...config, endpoint: other } };
      const item = { ...put, slug, config: { ...put.config, secretAccessKey: REDACTED } };
      const answers = {
        'PATCH with the endpoint alone': await writer.request('PATCH', path, { config: { endpoint: other } }),
        'PATCH with the secret masked': await writer.request('PATCH', path, { config: put.config }),
        PUT: await writer.request('PUT', `/api/destinations/by-slug/${slug}`, put),
        'an import': await importOf(writer, item),
      };
      for (const [way, { status, body }] of Object.entries(answers)) {
        expect(status, `${way}: ${JSON.stringify(body)}`).to.equal(403);
        expect(body.message, way).to.match(/send config with its secretAccessKey again/);
      }
      expect((await organization.api.get<{ config: Json }>(path)).config).to.deep.equal(config);
      const bucket = { config: { prefix: 'other/' } };
      expect((await writer.request('PATCH', path, bucket)).status, 'the same host').to.equal(200);
      const again = { config: { endpoint: other, secretAccessKey: warehouseConfigs.s3.secretAccessKey } };
      expect((await writer.request('PATCH', path, again)).status, 'sent once more').to.equal(200);
      expect((await seer.request('PATCH', path, { config: { endpoint: `${other}:8443` } })).status).to.equal(200);
    });
  });
});
