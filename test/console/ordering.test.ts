import { expect } from 'chai';
import { describeConsole, expectUsable, onPage, seen } from '../support/programs/console.ts';

const EVENT = '{"customer":"cus_1042"}';

describeConsole('ordering in the console', ({ records, receiver }) => {
  it('is turned on for a route, and a key that blocks is skipped', async () => {
    let isWell = false;
    const endpoint = receiver.endpoint(() => ({ status: isWell ? 200 : 500 }));
    const { source, destination, route } = await records.pipe(endpoint.url);
    await onPage(`/routes/${route.id}/edit`, async (page) => {
      await page.getByText('Ordering', { exact: true }).click();
      await page.getByLabel('Deliver in order').selectOption('Events with the same key');
      await page.getByLabel('Ordering key').fill('payload.customer');
      await page.getByLabel('Block for').fill('3600');
      await expectUsable(page);
      await page.getByRole('button', { name: 'Save' }).click();
      await seen(page, 'An outage can block ordering keys');
      await page.getByRole('tab', { name: 'Settings' }).click();
      await seen(page, 'payload.customer');
    });
    const first = await records.accepted(source, EVENT);
    await records.deliveryWith('failed', first);
    const second = await records.accepted(source, EVENT);
    await onPage(`/deliveries?destinationId=${destination.id}`, async (page) => {
      await page.getByTitle('Waiting for an earlier event with the key cus_1042').waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('o');
      await seen(page, 'Waiting for an earlier event with the key cus_1042');
      await expectUsable(page);
      await page.getByRole('link', { name: 'cus_1042' }).click();
      const keys = page.getByRole('region', { name: 'Ordering keys' });
      await keys.getByText('Blocked', { exact: true }).waitFor();
      await expectUsable(page);
      isWell = true;
      await keys.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Skip first delivery' }).click();
      await page.getByRole('button', { name: 'Skip delivery', exact: true }).click();
      await keys.getByText('Idle').waitFor();
    });
    const delivery = await records.deliveryWith('delivered', second);
    expect(delivery).to.include({ orderKey: 'cus_1042', sequence: 2, waitsFor: null });
  });
});
