import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { choose, describeConsole, expectUsable, onPage, seen } from '../support/programs/console.ts';
import { until } from '../support/until.ts';

const TOLD = { expected: /Failed to load resource.* 412/ };
const CHANGED = 'Changed by someone else';

describeConsole('two people who change the same record', ({ hookyard, records, receiver }) => {
  const url = () => receiver.endpoint(200).url;
  const conditions = [{ field: 'payload.a', operator: 'exists' }];
  const kinds: [name: string, api: string, form: string, make: () => Promise<{ id: string }>][] = [
    ['filter', '/api/filters', '', () => hookyard.client.create('/api/filters', { name: 'Two tabs', conditions })],
    ['route', '/api/routes', '/edit', async () => (await records.pipe(url(), { route: { name: 'Two tabs' } })).route],
    ['destination', '/api/destinations', '/edit', () => records.destination(url(), { name: 'Two tabs' })],
  ];
  for (const [name, api, edit, make] of kinds) {
    const shown = (id: string) => `${api.replace('/api', '')}/${id}`;
    const form = (id: string) => `${shown(id)}${edit}`;
    const read = (id: string) =>
      hookyard.client.get<{ name: string; description: string | null; enabled: boolean }>(`${api}/${id}`);

    it(`${name}: what the one has stored is shown to the other, and nothing that was typed is lost`, async () => {
      const { id } = await make();
      const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click();
      const type = (page: Page, text: string) => page.getByLabel('Description', { exact: true }).fill(text);
      await onPage(form(id), TOLD, (ours: Page) =>
        onPage(form(id), async (theirs) => {
          await type(ours, 'ours');
          await type(theirs, 'theirs');
          // It is sent before they store theirs, and arrives after it.
          const change = await heldChange(ours);
          await save(ours);
          await change.sent;
          await save(theirs);
          await until('their change', async () => (await read(id)).description === 'theirs');
          change.goOn();
          await seen(ours, CHANGED);
          expect((await read(id)).description).to.equal('theirs');
          const table = ours.getByRole('region', { name: 'Changed fields' });
          await table.getByRole('cell', { name: 'theirs' }).waitFor();
          await table.getByRole('cell', { name: 'ours' }).waitFor();
          await expectUsable(ours);
          await ours.getByRole('button', { name: 'Keep my changes' }).click();
          await save(ours);
          await until('our change', async () => (await read(id)).description === 'ours');
        }),
      );
    });

    if (name !== 'filter') {
      it(`${name}: it is not disabled as it was before somebody changed it`, async () => {
        const { id } = await make();
        await onPage(shown(id), TOLD, async (page) => {
          const disable = page.getByRole('dialog').getByRole('button', { name: /^Disable / });
          await choose(page, 'Disable');
          const change = await heldChange(page);
          await disable.click();
          await change.sent;
          await hookyard.client.patch(`${api}/${id}`, { name: 'Renamed meanwhile' });
          change.goOn();
          await seen(page, /Changed by someone else/);
          expect((await read(id)).enabled).to.equal(true);
          await seen(page, /Renamed meanwhile/);
          await disable.click();
          await until('it to be disabled', async () => !(await read(id)).enabled);
        });
      });
    }
  }
});

/** Keeps the next change that a page sends until it may continue. */
async function heldChange(page: Page): Promise<{ sent: Promise<void>; goOn: () => void }> {
  const sent = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  await page.route('**/api/**', async (route) => {
    if (route.request().method() === 'PATCH') {
      sent.resolve();
      await gate.promise;
    }
    await route.continue();
  });
  return { sent: sent.promise, goOn: gate.resolve };
}
