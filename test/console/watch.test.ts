import { expect } from 'chai';
import { choose, describeConsole, expectUsable, onPage, seen } from '../support/programs/console.ts';
import { Issues } from '../support/messages/issues.ts';
import { until } from '../support/until.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

describeConsole('the pages of issues, alert channels and replays', ({ hookyard, records, receiver }) => {
  it('lead from an issue to its cause, and deliver again what failed', async () => {
    const issues = new Issues(hookyard.client);
    let isWell = false;
    const endpoint = receiver.endpoint(() => ({ status: isWell ? 200 : 500 }));
    const { source, route } = await records.pipe(endpoint.url, { route: { name: 'Failing route' } });
    const eventId = await records.accepted(source, '{"n":1}');
    await records.deliveryWith('failed', eventId);
    const issue = await issues.untilOpen({ routeId: route.id });
    await onPage(`/issues?state=open&routeId=${route.id}`, async (page) => {
      await seen(page, '1–1 of 1');
      await page.getByRole('link', { name: 'Deliveries failing' }).click();
      await page.getByRole('heading', { name: 'Deliveries failing: HTTP 500', level: 1, exact: true }).waitFor();
      await page.getByRole('link', { name: '1 failed delivery' }).waitFor();
      await seen(page, 'Affected deliveries: 1 failed');
      await page.getByRole('button', { name: 'Resolve' }).click();
      await seen(page, '1 failed delivery not replayed');
      await page.getByRole('button', { name: 'Reopen' }).click();
      await page.getByRole('button', { name: 'Acknowledge' }).click();
      await page.getByRole('button', { name: 'Reopen' }).waitFor();
      isWell = true;
      await page.getByRole('button', { name: 'Replay 1 failed delivery' }).click();
      await page.getByRole('button', { name: 'Replay deliveries' }).click();
      await seen(page, '1 delivery created');
      await seen(page, 'Replay delivered');
    });
    expect((await issues.get(issue.id)).state).to.equal('acknowledged');
    await records.eventWith('delivered', eventId);
  });

  it('make an alert channel, test it, see that it fails, mend it, and delete it', async () => {
    let isWell = false;
    const endpoint = receiver.endpoint(() => ({ status: isWell ? 200 : 403, body: 'not <b>allowed</b>' }));
    await onPage('/alert-channels/new', { expected: /Failed to load resource.* 400/ }, async (page) => {
      await page.getByLabel('Name', { exact: false }).first().fill('Desk alerts');
      await page.getByLabel('Type').selectOption('webhook');
      await page.getByRole('textbox', { name: 'URL', exact: true }).fill(endpoint.url);
      await page.getByRole('textbox', { name: 'Secret', exact: true }).fill('not a secret');
      await page.getByRole('combobox', { name: 'Kinds' }).click();
      await page.getByRole('option', { name: 'Limit reached' }).click();
      await page.keyboard.press('Escape');
      await expectUsable(page);
      await page.getByRole('button', { name: 'Create alert channel' }).click();
      await seen(page, /needs? your attention/);
      await page.getByRole('textbox', { name: 'Secret', exact: true }).fill(SECRET);
      await page.getByRole('button', { name: 'Create alert channel' }).click();
      await page.getByRole('heading', { name: 'Desk alerts', level: 1, exact: true }).waitFor();
      await page.getByRole('button', { name: 'Send test message' }).click();
      await seen(page, 'Message not delivered');
      await seen(page, 'not <b>allowed</b>');
      isWell = true;
      await page.getByRole('button', { name: 'Send test message' }).click();
      await seen(page, 'Message delivered');
      await expectUsable(page);
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await page.getByLabel('Threshold (failures)').fill('3');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: 'Desk alerts', level: 1, exact: true }).waitFor();
    });
    const { data } = await hookyard.client.list('/api/alert-channels?search=desk%20alerts');
    expect(data[0]).to.include({ type: 'webhook', afterCount: 3, throttleMinutes: 15 });
    expect(data[0]?.kinds).to.deep.equal(['quota_reached']);
    await onPage('/alert-channels?search=desk%20alerts', async (page) => {
      await page.getByRole('link', { name: 'Desk alerts' }).click();
      await choose(page, 'Delete');
      await page.getByRole('button', { name: 'Delete alert channel' }).click();
      await page.getByRole('heading', { name: 'Alert channels', level: 1, exact: true }).waitFor();
    });
    expect((await hookyard.client.list('/api/alert-channels?search=desk%20alerts')).pagination.total).to.equal(0);
  });

  it('count the events of a replay first, and show how far it is', async () => {
    const endpoint = receiver.endpoint(200);
    const { source } = await records.pipe(endpoint.url, { source: { name: 'Replayed' } });
    const ids = await Promise.all(['1', '2', '3'].map((n) => records.accepted(source, `{"n":${n}}`)));
    await Promise.all(ids.map((id) => records.eventWith('delivered', id)));
    await onPage(`/replays/new?sourceId=${source.id}&range=1h`, async (page) => {
      expect(await page.getByRole('button', { name: 'Start replay' }).isDisabled()).to.equal(true);
      await page.getByRole('button', { name: 'Count events' }).click();
      await seen(page, '3 matching events');
      await page.getByRole('button', { name: 'Replay 3 events' }).click();
      await page.getByRole('heading', { name: 'Replay', level: 1, exact: true }).waitFor();
      await seen(page, 'Completed');
      await seen(page, '3 of 3 done');
      await page.getByRole('link', { name: 'Replays', exact: true }).first().click();
      await seen(page, /source Replayed/);
    });
    await until('the replays to arrive', () => Promise.resolve(endpoint.requests.length === 6));
  });
});
