// The work of an operator: a first webhook, yesterday's failures, an open circuit.
import { expect } from 'chai';
import { consoleWorld, JOURNEY_MS, onPage, requireChromium, seen } from '../support/console.ts';
import { breaker } from '../support/circuits.ts';
import { until } from '../support/until.ts';

describe('the console @turns', () => {
  before(async function () {
    await requireChromium(this);
  });

  it('leads from nothing to a first webhook that arrived', async () => {
    const { receiver, url } = await consoleWorld();
    const endpoint = receiver.endpoint(200);
    await onPage('/start', async (page) => {
      await page.getByLabel('Name of the source').fill('Console shop');
      await page.getByLabel('Deliver to').fill(endpoint.url);
      await page.getByRole('button', { name: /Make source/ }).click();
      await page.getByRole('textbox', { name: 'A sample payload' }).waitFor();
      await page.getByRole('button', { name: 'Send it' }).click();
      await page.getByRole('link', { name: 'Answered 200' }).waitFor();
      // Others that arrive are shown, too: a provider's, for example.
      const { pathname } = new URL(String(await page.locator('code').first().textContent()));
      await fetch(url + pathname, { method: 'POST', body: JSON.stringify({ other: 1 }) });
      await page.getByRole('link', { name: 'Answered 200' }).nth(1).click();
      await page.getByRole('heading', { name: 'Delivery', level: 1 }).waitFor();
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
      await seen(page, '1 to 3 of 3');
      await page.keyboard.press('j');
      await page.keyboard.press('o');
      await page.getByRole('heading', { name: 'Delivery', level: 1 }).waitFor();
      await page.getByRole('heading', { name: 'Sent' }).waitFor();
      await seen(page, 'closed <b>today</b>');
      await page.goBack();
      await seen(page, 'With all 3 that match');
      isWell = true;
      await page.getByRole('button', { name: 'Replay', exact: true }).click();
      await page.getByRole('button', { name: 'Replay 3' }).click();
      await seen(page, /Finished: 3 replayed, 0 refused, 0 left/);
    });
    await until('the replays to arrive', async () => {
      const path = `/api/deliveries?destinationId=${destination.id}&status=delivered`;
      return (await hookyard.client.list(path)).pagination.total === 3;
    });
  });

  it('names routes whose circuit is open, and leads to what they hold', async () => {
    const { records, receiver } = await consoleWorld();
    const { source, route } = await records.pipe(receiver.endpoint(500).url, {
      route: { name: 'To the broken one', ...breaker({ circuitFailureThreshold: 1 }) },
    });
    await records.deliveryWith('failed', await records.accepted(source, '{}'));
    await records.deliveryWith('circuit_open', await records.accepted(source, '{}'));
    await onPage('/', async (page) => {
      await seen(page, /Circuits that are not closed/);
      await seen(page, 'To the broken one');
      await page.locator(`a[href*="${route.id}"]`).click();
      await page.getByRole('cell', { name: 'circuit open' }).waitFor();
    });
  });

  it('works with keys alone', async () => {
    const { records, receiver } = await consoleWorld();
    const { eventId } = await records.deliver(receiver.endpoint(200).url, '{"keys":"alone"}', 'delivered');
    await onPage('/', async (page) => {
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keys' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' });
      await page.keyboard.press('/');
      await page.getByLabel('Search', { exact: true }).fill(eventId);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Event', level: 1 }).waitFor();
      expect(page.url()).to.include(eventId);
    });
  });

  it('says that a question failed, and never that there is nothing', async () => {
    await onPage(
      '/deliveries?from=not-a-time',
      async (page) => {
        await page.getByRole('alert').first().waitFor();
        expect(await page.getByText('No delivery was made').count()).to.equal(0);
      },
      { expected: /Failed to load resource.* 400/ },
    );
  });
}).timeout(JOURNEY_MS);
