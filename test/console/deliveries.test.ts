// The work of an operator: a first webhook, yesterday's failures, a destination that fails.
import { expect } from 'chai';
import { consoleWorld, expectUsable, JOURNEY_MS, onPage, requireChromium, seen } from '../support/programs/console.ts';
import { failingHarbour } from '../support/requests/harbour.ts';
import { until } from '../support/until.ts';

describe('the console', () => {
  before(async function () {
    await requireChromium(this);
  });

  it('leads from nothing to a first webhook that arrived', async () => {
    const { receiver, url } = await consoleWorld();
    const endpoint = receiver.endpoint(200);
    await onPage('/start', async (page) => {
      await page.getByLabel('Source name').fill('Console shop');
      await page.getByLabel('Destination URL').fill(endpoint.url);
      await page.getByRole('button', { name: 'Create connection' }).click();
      await page.getByRole('textbox', { name: 'Sample payload' }).waitFor();
      await page.getByRole('button', { name: 'Send sample' }).click();
      await page.getByRole('link', { name: 'Response 200' }).waitFor();
      // Others that arrive are shown, too: a provider's, for example.
      const { pathname } = new URL(String(await page.locator('code').first().textContent()));
      await fetch(url + pathname, { method: 'POST', body: JSON.stringify({ other: 1 }) });
      await page.getByRole('link', { name: 'Response 200' }).nth(1).click();
      await page.getByRole('heading', { name: 'Delivery', level: 1, exact: true }).waitFor();
      await seen(page, 'order.paid');
    });
    expect(endpoint.requests).to.have.length(2);
  });

  it('finds the failures of one destination, shows why, and replays all that match', async () => {
    const { records, receiver, hookyard } = await consoleWorld();
    let isWell = false;
    const endpoint = receiver.endpoint(() => (isWell ? { status: 200 } : { status: 503, body: 'closed <b>today</b>' }));
    const { source, destination } = await records.pipe(endpoint.url, { destination: { name: 'Warehouse desk' } });
    const ids = await Promise.all(['1', '2', '3'].map((n) => records.accepted(source, `{"n":${n}}`)));
    await Promise.all(ids.map((id) => records.deliveryWith('failed', id)));
    const query = `destinationId=${destination.id}&status=failed&range=7d`;
    await onPage(`/deliveries?${query}`, async (page) => {
      await seen(page, '1–3 of 3');
      await page.keyboard.press('j');
      await page.keyboard.press('o');
      await page.getByRole('heading', { name: 'Delivery', level: 1, exact: true }).waitFor();
      await page.getByRole('heading', { name: 'Request', exact: true }).waitFor();
      await seen(page, 'closed <b>today</b>');
      await page.goBack();
      await seen(page, 'All 3 matching');
      isWell = true;
      await page.getByRole('button', { name: 'Replay', exact: true }).click();
      await page.getByRole('button', { name: 'Replay 3' }).click();
      await seen(page, /Finished: 3 replayed, 0 skipped, 0 left/);
    });
    await until('the replays to arrive', async () => {
      const path = `/api/deliveries?destinationId=${destination.id}&status=delivered`;
      return (await hookyard.client.list(path)).pagination.total === 3;
    });
  });

  // As docs/console.md has it: "Repair a destination that fails".
  it('leads an operator from the overview to a destination that fails, and through its repair', async () => {
    const { records } = await consoleWorld();
    const { route, held, taken } = await failingHarbour(await consoleWorld(), 'Harbour');
    await onPage('/', async (page) => {
      const click = (role: 'link' | 'button', name: string) =>
        page.getByRole(role, { name, exact: true }).first().click();
      await page.locator(`a[href*="/deliveries"][href*="${route.id}"]`).click();
      await page.getByRole('cell', { name: 'Held' }).waitFor();
      await page.goBack();
      await seen(page, 'Orders to the Harbour › Harbour desk');
      await click('link', 'Deliveries failing: HTTP 401');
      await page.getByRole('heading', { name: 'Deliveries failing: HTTP 401', level: 1, exact: true }).waitFor();
      const issue = page.url();
      await click('link', 'last failed delivery');
      await seen(page, 'which token?');
      await seen(page, /Fix the cause, then replay the delivery/);
      await click('link', 'Harbour desk');
      await seen(page, 'Deliveries held by 1 route');
      await click('button', 'Send test webhook');
      await seen(page, 'Test failed');
      await click('button', 'Edit');
      await page.getByLabel('Token').fill('right');
      await click('button', 'Save');
      await seen(page, /Check it with “Send test webhook”/);
      await click('button', 'Send test webhook');
      await seen(page, 'Test succeeded');
      await seen(page, '2 failed deliveries');
      await expectUsable(page);
      await page.getByRole('link', { name: 'Orders to the Harbour' }).first().click();
      await click('button', 'Resume now');
      await click('button', 'Resume deliveries');
      await records.eventWith('delivered', held);
      await page.goto(issue);
      await click('button', 'Retry failed deliveries');
      await seen(page, /2 failed deliveries/);
      await click('button', 'Retry deliveries');
      await seen(page, /2 delivered, 0 in progress, 0 failed/);
      await expectUsable(page);
    });
    expect(taken()).to.equal(4);
  });

  it('works with keys alone', async () => {
    const { records, receiver } = await consoleWorld();
    const { eventId } = await records.deliver(receiver.endpoint(200).url, '{"keys":"alone"}', 'delivered');
    await onPage('/', async (page) => {
      await page.getByRole('heading', { name: 'Overview', level: 1, exact: true }).waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'detached' });
      await page.keyboard.press('/');
      await page.getByLabel('Search', { exact: true }).fill(eventId);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Event', level: 1, exact: true }).waitFor();
      expect(page.url()).to.include(eventId);
    });
  });

  it('says that a question failed, and never that there is nothing', async () => {
    await onPage(
      '/deliveries?from=not-a-time',
      async (page) => {
        await page.getByRole('alert').first().waitFor();
        expect(await page.getByText('No deliveries').count()).to.equal(0);
      },
      { expected: /Failed to load resource.* 400/ },
    );
  });
}).timeout(JOURNEY_MS);
