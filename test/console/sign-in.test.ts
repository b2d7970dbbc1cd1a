import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { makeConsoleCode } from '../../db/organizations/keys.ts';
import { consoleWorld, describeConsole, onPage, seen } from '../support/programs/console.ts';
import { until } from '../support/until.ts';

const UNAUTHORIZED = /Failed to load resource.* 401/;

describeConsole('signing in to the console', ({ hookyard }) => {
  it('takes an API key, and says when one is not valid', async () => {
    const { token } = await consoleWorld();
    await onPage('/events', { token: null, expected: UNAUTHORIZED }, async (page) => {
      await page.getByLabel(/^API key/).fill('whr_not-a-key-at-all-0123456789');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await seen(page, /Invalid API key/);
      await page.getByLabel(/^API key/).fill(token);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('heading', { name: 'Events', level: 1, exact: true }).waitFor();
      expect(await page.context().cookies()).to.deep.equal([]);
    });
  });

  it('exchanges the code of a link once, and takes it out of the address (AUTH-23, AUTH-24)', async () => {
    const code = await makeConsoleCode(hookyard.pool, hookyard.organizationId, 'a test');
    const stored = await hookyard.pool.query<{ code_hash: Buffer }>('select code_hash from console_codes');
    expect(stored.rows.map(({ code_hash }) => code_hash.toString('base64url'))).to.not.include(code);
    await onPage(`/#code=${code}`, { token: null }, async (page) => {
      await page.getByRole('button', { name: 'API key and theme' }).click();
      expect(page.url()).to.not.include(code);
      const asked = page.waitForEvent('dialog');
      const signOut = page.getByRole('menuitem', { name: 'Sign out' }).click();
      expect((await asked).message()).to.include('a new sign-in link');
      await (await asked).accept();
      await signOut;
      await page.getByRole('heading', { name: 'Sign in to Hookyard' }).waitFor();
    });
    await onPage(`/#code=${code}`, { token: null, expected: UNAUTHORIZED }, (page) =>
      seen(page, /This sign-in link has already been used/),
    );
    const { data } = await hookyard.client.list<{ name: string; expiresAt: string | null }>('/api/api-keys');
    const made = data.find(({ name }) => name === 'Console sign-in');
    expect(Date.parse(made?.expiresAt ?? '')).to.be.above(Date.now());
  });

  it('refuses a code that is too old (AUTH-23)', async () => {
    const code = await makeConsoleCode(hookyard.pool, hookyard.organizationId, 'a test');
    await hookyard.pool.query("update console_codes set expires_at = now() - interval '1 second'");
    const { status, body } = await hookyard.client.request('POST', '/api/auth/sign-in', { code });
    expect([status, body.code]).to.deep.equal([401, 'UNAUTHORIZED']);
  });

  it('ends when the key is revoked, and continues where it was with another', async () => {
    const { token: first } = await consoleWorld();
    const { id, token } = await hookyard.client.create<{ token: string }>('/api/api-keys', { name: 'ends' });
    await onPage('/deliveries?range=7d', { token, expected: UNAUTHORIZED }, async (page) => {
      await page.getByRole('heading', { name: 'Deliveries', level: 1, exact: true }).waitFor();
      await hookyard.client.delete(`/api/api-keys/${id}`);
      await page.keyboard.press('r');
      await seen(page, 'Your API key is no longer valid');
      await page.getByLabel(/^API key/).fill(first);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('heading', { name: 'Deliveries', level: 1, exact: true }).waitFor();
      expect(page.url()).to.include('range=7d');
    });
  });

  it('keeps two keys of one organization apart, and signs out of one', async () => {
    const { token } = await consoleWorld();
    const dana = await hookyard.client.create<{ token: string }>('/api/api-keys', { name: 'Dana', scopes: ['read'] });
    const own = await hookyard.client.get<{ key: { name: string } }>('/api/auth/me');
    const organization = (page: Page) => page.getByRole('button', { name: /Default$/ }).click();
    const item = (page: Page, name: string) => page.getByRole('menuitem', { name: `Default (${name})` });
    await onPage('/', { token }, async (page) => {
      await organization(page);
      await page.getByRole('menuitem', { name: 'Sign in with another API key' }).click();
      await page.getByLabel(/^API key/).fill(dana.token);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await organization(page);
      await item(page, 'Dana').waitFor();
      await item(page, own.key.name).click();
      await organization(page);
      await item(page, 'Dana').click();
      await page.getByRole('button', { name: 'API key and theme' }).click();
      await seen(page, 'Dana · read');
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: `Continue as Default (${own.key.name})` }).waitFor();
      expect(await page.getByRole('button', { name: /Dana/ }).count()).to.equal(0);
    });
  });

  it('says that the API is away, and continues when it is back', async () => {
    const { port } = await consoleWorld();
    await onPage('/deliveries', { expected: /Failed to load resource/ }, async (page) => {
      await page.getByRole('heading', { name: 'Deliveries', level: 1, exact: true }).waitFor();
      await hookyard.api.stop();
      await page.keyboard.press('r');
      await page.getByText('The API is not responding').first().waitFor();
      await hookyard.startApi({ HOOKYARD_PORT: String(port) });
      await until(
        'the page to continue',
        async () => (await page.getByText('The API is not responding').count()) === 0,
      );
      await page.getByRole('region', { name: 'Deliveries' }).waitFor();
    });
  });
});
