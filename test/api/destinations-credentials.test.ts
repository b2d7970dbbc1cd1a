// The credentials of destinations: stored encrypted, shown redacted, kept when they come back redacted.
import { expect } from 'chai';
import { type Answer, expectInvalid } from '../support/api-client.ts';
import { makeDestination } from '../support/api-records.ts';
import { createOrganization, type TestOrganization, testPool } from '../support/service.ts';

const url = 'https://receiver.example/hooks';

describe('Credentials of destinations', () => {
  let organization: TestOrganization;
  before(async () => {
    organization = await createOrganization();
  });
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
      const destination = await organization.api.create('/api/destinations', {
        name: 'Auth',
        url,
        authType,
        authConfig,
      });
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

  it('shows bullets alone for a secret shorter than 8 characters', async () => {
    const destination = await organization.api.create('/api/destinations', {
      name: 'Short',
      url,
      authType: 'bearer',
      authConfig: { token: 'short12' },
    });
    expect(destination.authConfig).to.deep.equal({ token: '••••' });
  });

  it('drops the credentials with authType none', async () => {
    const { id } = await makeDestination(organization, { authType: 'bearer', authConfig: { token: 'secret-token' } });
    const updated = await organization.api.patch(`/api/destinations/${id}`, { authType: 'none' });
    expect(updated).to.deep.include({ authType: 'none', authConfig: {} });
    expectInvalid(
      await organization.api.request('PATCH', `/api/destinations/${id}`, { authType: 'bearer' }),
      'authConfig.token',
    );
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
  ];
  for (const [what, members, path] of wrong) {
    it(`answers 400 to ${what}`, async () => {
      expectInvalid(await post({ name: 'x', url, ...members }), path);
    });
  }
});
