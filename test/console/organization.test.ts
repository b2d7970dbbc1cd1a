import { expect } from 'chai';
import { consoleWorld, copied, describeConsole, expectUsable, onPage, seen } from '../support/programs/console.ts';

describeConsole('the pages of the organization', ({ hookyard, records, receiver }) => {
  it('make a key whose token is shown once, and revoke it', async () => {
    const { url } = await consoleWorld();
    let token = '';
    const answer = (path: string) => fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
    await onPage('/events', async (page) => {
      await page.getByRole('heading', { name: 'Events', level: 1, exact: true }).waitFor();
      await page.keyboard.press('/');
      await page.getByLabel('Search', { exact: true }).fill('invite');
      await page.getByText('API keys', { exact: true }).first().click();
      await page.getByRole('button', { name: 'New API key' }).click();
      await page.getByLabel('Name', { exact: false }).first().fill('Made in the console');
      await page.getByLabel('Access').selectOption('some');
      await page.getByRole('combobox', { name: 'Scopes' }).click();
      // It begins with all that a reader may see.
      await page.getByRole('option', { name: 'filters:read' }).click();
      await page.keyboard.press('Escape');
      await page.getByLabel('Expires').selectOption('date');
      await page.getByLabel(/^Last day/).fill('2099-12-06');
      await seen(page, 'Expires 2099-12-06 23:59:59 UTC');
      await expectUsable(page);
      await page.getByRole('button', { name: 'Create API key' }).click();
      token = (await page.getByLabel('API key', { exact: true }).textContent()) ?? '';
      expect(await copied(page, 'Copy sign-in instructions'))
        .to.include(`${url}/console/`)
        .and.include('2099-12-06 23:59:59 UTC')
        .and.include(token);
      await expectUsable(page);
      expect([(await answer('/api/routes')).status, (await answer('/api/filters')).status]).to.deep.equal([200, 403]);
      await page.getByRole('link', { name: 'All API keys' }).click();
      await page.getByRole('cell', { name: 'Made in the console' }).waitFor();
      expect(await page.getByText(token).count()).to.equal(0);
      const row = page.getByRole('row').filter({ hasText: 'Made in the console' });
      await row.getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('button', { name: 'Revoke key' }).click();
      await row.waitFor({ state: 'detached' });
    });
    expect((await answer('/api/routes')).status).to.equal(401);
    const { data } = await hookyard.client.list<{ name: string }>('/api/api-keys?pageSize=100');
    expect(data.map(({ name }) => name)).to.not.include('Made in the console');
  });

  it('find who did something in the audit log', async () => {
    const source = await records.source({ name: 'Audited' });
    await onPage(`/audit?recordId=${source.id}&range=1h`, async (page) => {
      await page.getByRole('cell', { name: 'Create source' }).click();
      await page.getByRole('dialog').getByRole('link', { name: source.id }).waitFor();
      await expectUsable(page);
    });
  });

  it('show what is used of each limit', async () => {
    await onPage('/usage', async (page) => {
      await page.getByRole('cell', { name: 'Events per month' }).waitFor();
      await page.getByRole('cell', { name: 'Alert channels', exact: true }).waitFor();
    });
  });

  it('import a file after a trial that changes nothing, and export it again', async () => {
    const destinations = [
      { name: 'From a file', slug: 'from-a-file', type: 'http', url: receiver.endpoint(200).url },
      { name: 'Wrong', slug: 'wrong-one', type: 'http', url: 'not-an-address' },
    ];
    const count = async () => (await hookyard.client.list('/api/destinations?search=from a file')).pagination.total;
    await onPage('/exchange', async (page) => {
      const section = page.getByRole('region', { name: 'Import destinations' });
      const choose = async (text: string) => {
        const chooser = page.waitForEvent('filechooser');
        await section.getByLabel('File').click();
        await (await chooser).setFiles({ name: 'file.json', mimeType: 'application/json', buffer: Buffer.from(text) });
      };
      await choose('{"routes":[]}');
      await section.getByRole('button', { name: 'Dry run' }).click();
      await seen(page, /contains no destinations/);
      await choose(JSON.stringify({ version: '1.0', destinations }));
      await section.getByRole('button', { name: 'Dry run' }).click();
      await seen(page, 'Dry run: expected results (nothing was changed)');
      await seen(page, /1 imported, .*1 failed/);
      await expectUsable(page);
      expect(await count()).to.equal(0);
      await section.getByRole('button', { name: 'Import', exact: true }).click();
      await seen(page, 'Import finished');
      expect(await count()).to.equal(1);
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download destinations' }).click();
      expect((await saved).suggestedFilename()).to.equal('default-destinations.json');
    });
  });

  it('say what one is signed in with, and who gets mails', async () => {
    const route = { notifyEmails: 'desk@example.com', notifyOnFailure: true };
    await records.pipe(receiver.endpoint(200).url, { route });
    await onPage('/settings', async (page) => {
      await page.getByRole('cell', { name: 'desk@example.com' }).waitFor();
      await seen(page, 'Business');
      await page.getByRole('button', { name: 'API key and theme' }).click();
      await page.getByRole('menuitem', { name: 'Dark' }).click();
      await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    });
  });
});
