// A key that may only look: no page of the console has a button for it that changes something, however it comes there.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { describeConsole, keyWith, onPage, seen } from '../support/programs/console.ts';
import { addressOf, type ConsolePage, consolePages, type Ids, oneOfEach } from '../support/programs/console-pages.ts';

/** Buttons that change nothing. A new one is either added here, or is not there for this key. */
const LOOKS = [
  /^(Copy|Investigate|View|Follow live|Newer|Older|Count|Continue|Show all|Download|Clear|Columns|Save filter|More filters|Filters|Export)/,
  // A form that asks the API and stores nothing, files for oneself, and the end of the session.
  /^(Sign out.*|Try again)$/,
];

describeConsole('a key that may only read', () => {
  let pages: ConsolePage[];
  let ids: Ids;
  let token: string;
  before(async () => {
    pages = await consolePages();
    ({ ids } = await oneOfEach());
    token = await keyWith('read');
  });

  const buttonsOf = async (page: Page) => {
    const texts = await page.locator('#page button:not(.chip):not([role="tab"])').allTextContents();
    return texts.map((text) => text.trim()).filter((text) => text !== '' && !LOOKS.some((look) => look.test(text)));
  };

  it('sees no button that changes something, on any page, by any address', async () => {
    const found: Record<string, string[]> = {};
    await onPage('/', { token }, async (page) => {
      for (const row of pages) {
        const address = addressOf(row, ids);
        await page.goto(new URL(`/console${address}`, page.url()).href);
        await page.getByRole('heading', { level: 1, exact: true }).waitFor();
        await page.waitForLoadState('networkidle');
        const start = page.locator('#page').getByRole('link', { name: /test webhook/ });
        const buttons = [...(await buttonsOf(page)), ...(await start.allTextContents())];
        if (buttons.length > 0) found[row.path] = buttons;
        if (row.scope?.endsWith(':write')) await seen(page, 'Your API key has no access to this page');
      }
    });
    expect(found).to.deep.equal({});
  });

  it('is told what it may not see either', async () => {
    await onPage(`/routes/${ids.routes}`, { token: await keyWith('events:read') }, async (page) => {
      await seen(page, 'Your API key has no access to this page');
      await seen(page, 'routes:read');
      expect(await page.getByRole('link', { name: 'Routes', exact: true }).count()).to.equal(0);
    });
  });
});
