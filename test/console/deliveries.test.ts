import { expect } from 'chai';
import { describeConsole, expectUsable, onPage, seen } from '../support/programs/console.ts';
import { until } from '../support/until.ts';

describeConsole('the console', ({ hookyard, records, receiver }) => {
  it('finds the failures of one destination, shows why, and replays all that match', async () => {
    let isWell = false;
    const endpoint = receiver.endpoint(() => (isWell ? { status: 200 } : { status: 503, body: 'closed <b>today</b>' }));
    const { source, destination } = await records.pipe(endpoint.url, { destination: { name: 'Warehouse desk' } });
    const ids = await Promise.all(['1', '2', '3'].map((n) => records.accepted(source, `{"n":${n}}`)));
    await Promise.all(ids.map((id) => records.deliveryWith('failed', id)));
    const issue = await until('the issue', async () => {
      const path = `/api/issues?destinationId=${destination.id}`;
      return (await hookyard.client.list<{ id: string }>(path)).data[0];
    });
    await onPage(`/issues/${issue.id}`, (page) => seen(page, /^Last response: HTTP 503 closed <b>today<\/b>$/));
    await onPage(`/deliveries?destinationId=${destination.id}&range=7d`, async (page) => {
      await page.getByRole('button', { name: 'Failed, not replayed' }).click();
      await seen(page, '1–3 of 3');
      await page.keyboard.press('j');
      await page.keyboard.press('o');
      await page.getByRole('heading', { name: 'Delivery', level: 1, exact: true }).waitFor();
      await page.getByRole('heading', { name: 'Request', exact: true }).waitFor();
      await seen(page, 'closed <b>today</b>');
      await page.goBack();
      isWell = true;
      await page.getByRole('button', { name: 'Replay 3 deliveries…' }).click();
      await seen(page, '3 deliveries will be replayed');
      await page.getByRole('button', { name: 'Replay 3', exact: true }).click();
      await seen(page, /^Finished: 3 replayed$/);
      await seen(page, '3 of 3 replays delivered');
      await page.getByRole('link', { name: 'View replays' }).click();
      await page.locator('[data-shown="3"]').waitFor();
      expect(page.url()).to.match(/isReplay=true&from=/);
      const list = (query: string) =>
        new URL(`/console/deliveries?destinationId=${destination.id}&${query}`, page.url());
      await page.goto(list('status=failed&replayed=false').href);
      await seen(page, 'No matching deliveries');
      await page.goto(list('status=failed').href);
      await page.getByRole('link', { name: 'Replayed: delivered' }).first().waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('o');
      await seen(page, /^Replayed .* ago: delivered$/);
      expect(await page.getByRole('button', { name: 'Replay', exact: true }).count()).to.equal(0);
      await expectUsable(page);
    });
    await until('the replays to arrive', async () => {
      const path = `/api/deliveries?destinationId=${destination.id}&status=delivered`;
      return (await hookyard.client.list(path)).pagination.total === 3;
    });
  });

  it('says that a question failed, and never that there is nothing', async () => {
    await onPage('/deliveries?from=not-a-time', { expected: /Failed to load resource.* 400/ }, async (page) => {
      await page.getByRole('alert').first().waitFor();
      expect(await page.getByText('No deliveries').count()).to.equal(0);
    });
  });
});
