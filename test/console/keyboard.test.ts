// The repair of docs/guide/console.md with nothing but a keyboard: each step is reached by Tab, and done with Enter.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { consoleWorld, describeConsole, onPage, seen } from '../support/programs/console.ts';
import { failingHarbour } from '../support/requests/harbour.ts';

/** More than any page of the console has. */
const MOST_STEPS = 200;
const FOCUSED = `(() => {
  const at = document.activeElement;
  if (!at) return '';
  return (at.getAttribute('aria-label') || at.labels?.[0]?.textContent || at.textContent || '').trim();
})()`;

/** Continues with Tab until something with this name has the focus. @throws Error when nothing has */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const met: string[] = [];
  for (let step = 0; step < MOST_STEPS; step += 1) {
    await page.keyboard.press('Tab');
    const focused = String(await page.evaluate(FOCUSED));
    if (typeof name === 'string' ? focused === name : name.test(focused)) return;
    met.push(focused.slice(0, 40));
  }
  throw new Error(`nothing named ${name} is reached by Tab: ${[...new Set(met)].join(' | ')}`);
}

async function press(page: Page, name: string | RegExp): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

describeConsole('the console with a keyboard alone', ({ records }) => {
  it('leads through the repair of a destination', async () => {
    const { issue, held, taken } = await failingHarbour(await consoleWorld(), 'Quay');
    const title = (page: Page, name: string) => page.getByRole('heading', { name, level: 1, exact: true }).waitFor();
    await onPage('/', async (page) => {
      // A pasted id: there may be other issues on the overview.
      await title(page, 'Overview');
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'detached' });
      await page.keyboard.press('/');
      await page.getByLabel('Search', { exact: true }).waitFor();
      await page.keyboard.type(issue.id);
      await page.keyboard.press('Enter');
      await title(page, 'Deliveries failing: HTTP 401');
      await page.getByRole('link', { name: 'latest affected delivery' }).waitFor();
      await press(page, 'latest affected delivery');
      await seen(page, 'which token?');
      await press(page, 'Quay desk');
      await title(page, 'Quay desk');
      await press(page, 'Edit');
      await page.getByLabel('Token').waitFor();
      await tabTo(page, /^Token/);
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type('right');
      // From a field, Enter saves.
      await page.keyboard.press('Enter');
      await title(page, 'Quay desk');
      await page.getByRole('button', { name: 'Send test webhook' }).waitFor();
      await press(page, 'Send test webhook');
      await seen(page, 'Test succeeded');
      await seen(page, '1 route is holding deliveries');
      await seen(page, '2 failed deliveries');
      await press(page, 'Orders to the Quay');
      await title(page, 'Orders to the Quay');
      await page.getByRole('button', { name: 'Resume deliveries' }).waitFor();
      await press(page, 'Resume deliveries');
      await page.getByRole('dialog').waitFor();
      await press(page, 'Resume deliveries');
      await records.eventWith('delivered', held);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.keyboard.press('/');
      await page.getByLabel('Search', { exact: true }).waitFor();
      await page.keyboard.type(issue.id);
      await page.keyboard.press('Enter');
      await title(page, 'Deliveries failing: HTTP 401');
      await page.getByRole('button', { name: 'Replay 2 failed deliveries' }).waitFor();
      await press(page, 'Replay 2 failed deliveries');
      await press(page, 'Replay deliveries');
      await seen(page, '2 of 2 replays delivered');
    });
    expect(taken()).to.equal(4);
  });
});
