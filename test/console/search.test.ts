import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { describeConsole, expectUsable, onPage, seen } from '../support/programs/console.ts';
import type { SourceView } from '../support/records.ts';

const MORE_THAN_A_PAGE = 55;

describeConsole('finding events and deliveries in the console', ({ hookyard, records, receiver }) => {
  let source: SourceView;
  let destinationId: string;
  before(async () => {
    const made = await records.pipe(receiver.endpoint(503).url, {
      destination: { name: 'Desk that is closed' },
      route: { circuitFailureThreshold: 100 },
    });
    ({ source } = made);
    destinationId = made.destination.id;
    const sent = [];
    for (let n = 1; n <= MORE_THAN_A_PAGE; n += 1)
      sent.push(await records.accepted(source, `{"word":"haystack","n":${n}}`));
    await Promise.all(sent.map((id) => records.deliveryWith('failed', id)));
  });

  /** The questions for a list that a page asks meanwhile. */
  function asked(page: Page, list: string): string[] {
    const found: string[] = [];
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      // The page itself has such an address, too.
      if (pathname.endsWith(list) && !pathname.startsWith('/console')) found.push(search);
    });
    return found;
  }

  it('asks by cursor for what has to be searched, counts only when asked, and continues', async () => {
    await onPage('/', async (page) => {
      const questions = asked(page, '/events');
      await page.goto(new URL(`/console/events?search=haystack&sourceId=${source.id}`, page.url()).href);
      await page.locator('[data-shown="50"]').waitFor();
      expect(questions.filter((one) => one.includes('search='))).to.satisfy((all: string[]) =>
        all.every((one) => one.includes('cursor=') && !/[?&]page=/.test(one) && !one.includes('withTotal')),
      );
      await page.getByRole('button', { name: 'Count all' }).click();
      await page.locator(`[data-count="${MORE_THAN_A_PAGE}"]`).waitFor();
      await page.getByRole('button', { name: 'Older' }).click();
      await page.locator('[data-shown="5"]').waitFor();
      await seen(page, /5 more shown, end of results/);
      await page.getByRole('button', { name: 'Newest' }).click();
      await page.locator('[data-shown="50"]').waitFor();
    });
    await onPage('/', async (page) => {
      const questions = asked(page, '/api/deliveries');
      const query = `codeClass=5xx&destinationId=${destinationId}&range=7d`;
      await page.goto(new URL(`/console/deliveries?${query}`, page.url()).href);
      await page.locator('[data-shown="50"]').waitFor();
      expect(questions.some((one) => one.includes('codeClass=5xx') && one.includes('cursor=first'))).to.equal(true);
      expect(questions.some((one) => one.includes('codeClass=5xx') && /[?&]page=/.test(one))).to.equal(false);
      await page.getByRole('button', { name: 'Replay matching deliveries…' }).click();
      await page.getByRole('button', { name: `Replay ${MORE_THAN_A_PAGE}` }).waitFor();
    });
  });

  it('takes several statuses, a code and a lane', async () => {
    await onPage(`/deliveries?destinationId=${destinationId}&range=7d`, async (page) => {
      await seen(page, '1–50 of 55');
      await page.getByRole('combobox', { name: 'Status' }).click();
      await page.getByRole('option', { name: 'Failed', exact: true }).click();
      await page.getByRole('option', { name: 'Cancelled', exact: true }).click();
      await page.keyboard.press('Escape');
      await page.waitForURL(/status=failed(,|%2C)cancelled/);
      await seen(page, '1–50 of 55');
      await page.getByLabel('Status code', { exact: true }).fill('500');
      await page.keyboard.press('Enter');
      await page.locator('[data-shown="0"]').waitFor();
      await page.getByLabel('Status code', { exact: true }).fill('503');
      await page.keyboard.press('Enter');
      await page.locator('[data-shown="50"]').waitFor();
      await page.getByRole('button', { name: 'More filters' }).click();
      await page.getByLabel('Lane').selectOption('express');
      await page.waitForURL(/lane=express/);
    });
  });

  it('saves all that match as a file', async () => {
    await onPage(`/deliveries?destinationId=${destinationId}&range=7d`, async (page) => {
      await seen(page, '1–50 of 55');
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export', exact: true }).first().click();
      await page.getByRole('menuitem', { name: /Download all as CSV/ }).click();
      const download = await saved;
      await seen(page, `${MORE_THAN_A_PAGE} rows saved`);
      expect(download.suggestedFilename()).to.equal('deliveries.csv');
      const lines = readFileSync(await download.path(), 'utf8')
        .trimEnd()
        .split('\r\n');
      expect(lines).to.have.length(MORE_THAN_A_PAGE + 1);
      expect(lines[1]).to.include(destinationId);
    });
  });

  it('says that names, routes or a payload could not be loaded', async () => {
    const { eventId, destination } = await records.deliver(receiver.endpoint(200).url, '{"n":1}', 'delivered');
    const broken = { expected: /Failed to load resource.* (404|500|503)/ };
    const fail = (page: Page, what: string) =>
      page.route(what, (route) => route.fulfill({ status: 500, json: { message: 'It is on fire', error: 'x' } }));
    const reload = async (page: Page, path: string) => {
      await page.goto(new URL(`/console${path}`, page.url()).href);
      await page.getByRole('heading', { level: 1, exact: true }).waitFor();
    };
    await onPage('/settings', broken, async (page) => {
      await fail(page, '**/payload');
      await reload(page, `/events/${eventId}`);
      await seen(page, 'Cannot copy as curl: It is on fire');
      await fail(page, '**/api/routes?*');
      await reload(page, `/destinations/${destination.id}`);
      await seen(page, 'It is on fire');
      await fail(page, '**/api/organizations/*/sources?*');
      await reload(page, '/events');
      await page.getByRole('combobox', { name: 'Source' }).click();
      await seen(page, 'Could not load the list: It is on fire');
    });
  });

  it('offers every record of a list, not only the newest hundred', async () => {
    const { url } = receiver.endpoint(200);
    const first = await records.deliver(url, '{"n":1}', 'delivered', { destination: { name: 'Older than a hundred' } });
    for (let made = 0; made < 100; made += 10) {
      await Promise.all(Array.from({ length: 10 }, () => records.destination(url, { name: 'One of many' })));
    }
    await onPage('/deliveries', async (page) => {
      await page.getByRole('combobox', { name: 'Destination' }).fill('Older than');
      await page.getByRole('option', { name: 'Older than a hundred' }).click();
      await seen(page, '1–1 of 1');
      expect(page.url()).to.include(first.destination.id);
    });
  });

  it('shows what a delivery was replayed from, and what came of it', async () => {
    const { delivery } = await records.deliver(receiver.endpoint(200).url, '{"n":1}', 'delivered');
    const replay = (id: string) => hookyard.client.post<{ deliveryId: string }>(`/api/deliveries/${id}/replay`, {});
    const second = await replay(delivery.id);
    await records.eventWith('delivered', delivery.eventId);
    const third = await replay(second.deliveryId);
    await onPage(`/deliveries/${second.deliveryId}`, async (page) => {
      const chain = page.getByRole('region', { name: 'Failovers and replays' });
      await chain.getByRole('link', { name: delivery.id }).waitFor();
      await chain.getByText('replay of this delivery').waitFor();
      await expectUsable(page);
      await chain.getByRole('link', { name: third.deliveryId }).click();
      await chain.getByRole('link', { name: second.deliveryId }).waitFor();
    });
  });
});
