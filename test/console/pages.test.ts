// Every page in both themes and at both widths: axe finds nothing, nothing is wider than the window.
import { describeConsole, expectAccessible, expectUsable, onPage } from '../support/programs/console.ts';
import { addressOf, consolePages, type Ids, oneOfEach } from '../support/programs/console-pages.ts';

const pages = await consolePages();
describeConsole('the pages of the console', ({ records, receiver }) => {
  let ids: Ids;
  before(async () => {
    const shop = await records.pipe(receiver.endpoint(200).url);
    for (let order = 1; order <= 12; order += 1) await records.accepted(shop.source, `{"order":{"id":${order}}}`);
    ({ ids } = await oneOfEach());
  });

  for (const row of pages) {
    it(`${row.title}: usable by everyone, in both themes, at 375 pixels too`, async () => {
      await onPage(addressOf(row, ids), (page) => expectUsable(page, 'all'));
    });
  }

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`sign in, ${colorScheme}: usable by everyone`, async () => {
      await onPage('/', { token: null, colorScheme }, async (page) => {
        await page.getByRole('heading', { level: 1, exact: true }).waitFor();
        await expectAccessible(page);
      });
    });
  }
});
