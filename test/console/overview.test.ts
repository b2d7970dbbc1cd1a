import { expect } from 'chai';
import { breaker } from '../support/workflows/circuits.ts';
import { describeConsole, emptyOrganization, expectUsable, onPage, seen } from '../support/programs/console.ts';
import { until } from '../support/until.ts';

const MANY = 100;

describeConsole('the overview of the console', ({ hookyard, records, receiver }) => {
  it('shows an open circuit, however many routes there are, what is held, and since when', async () => {
    const { url } = receiver.endpoint(500);
    const { source, route } = await records.pipe(url, {
      destination: { name: 'Kiln that fails' },
      route: { name: 'First of many', ...breaker({ circuitFailureThreshold: 1 }) },
    });
    await records.deliveryWith('failed', await records.accepted(source, '{}'));
    await records.deliveryWith('circuit_open', await records.accepted(source, '{"held":true}'));
    for (let made = 0; made < MANY; made += 10) {
      const ten = Array.from({ length: 10 }, async () => {
        const { id } = await records.destination(url);
        await records.route(source.id, [id], { enabled: false });
      });
      await Promise.all(ten);
    }
    await until('the failure to be in the rate of its destination', async () => {
      const { data } = await hookyard.client.list<{ successRate: number }>('/api/destinations?search=Kiln that fails');
      return data[0]?.successRate === 0;
    });
    await onPage('/', async (page) => {
      await page.getByRole('link', { name: 'First of many' }).waitFor();
      await page.getByRole('link', { name: '1 held delivery' }).first().waitFor();
      await seen(page, /^\d+ deliver(y|ies) held$/);
      await page.getByRole('link', { name: /^Success rate \d.*held.*, not counted/ }).waitFor();
      const line = page.getByRole('link', { name: /^Events received / }).locator('polyline');
      const heights = ((await line.getAttribute('points')) ?? '').split(' ').map((point) => point.split(',')[1]);
      expect(new Set(heights).size, 'the sparkline is flat').to.be.above(1);
      await page.getByRole('link', { name: /^Deliveries waiting .*oldest/ }).waitFor();
      await seen(page, /Kiln that fails/);
      await seen(page, /Next probe in (59|60) min/);
      await page.getByRole('button', { name: /^Time: / }).click();
      const times = (await page.getByRole('menuitem').allTextContents()).map((text) => text.replace('✓', ''));
      await page.keyboard.press('Escape');
      expect(times).to.deep.equal(['Last hour', 'Last 24 hours', 'Last 7 days', 'Last 30 days', 'Custom range…']);
      await expectUsable(page);
    });
    // A resolved issue does not say any more that something is left to do.
    const { data } = await hookyard.client.list<{ id: string }>(`/api/issues?state=open&routeId=${route.id}`);
    await Promise.all(data.map(({ id }) => hookyard.client.patch(`/api/issues/${id}`, { state: 'resolved' })));
    await onPage('/', async (page) => {
      await seen(page, /^1 failed delivery not replayed: Kiln that fails$/);
      expect(await page.getByText('All clear').count()).to.equal(0);
    });
    await hookyard.client.post(`/api/routes/${route.id}/reset-circuit`, {});
  });

  it('leads from each figure to the list of what it counts, by keys too', async () => {
    const made = await records.deliver(receiver.endpoint(500).url, '{"n":1}', 'failed');
    const refusing = await records.source({
      name: 'Refusing shop',
      verificationConfig: { type: 'github', secret: 'x'.repeat(20) },
    });
    expect((await records.post(refusing, '{"from":"nobody"}')).status).to.equal(401);
    await onPage('/?range=1h', async (page) => {
      const deliveries = page.getByRole('region', { name: 'Deliveries', exact: true });
      await until('the failure to be drawn', async () => /[1-9]\d* failed/.test(await deliveries.innerText()));
      await deliveries.getByText('View as table').focus();
      await page.keyboard.press('Enter');
      await deliveries
        .getByRole('link', { name: /^\d+ failed, / })
        .last()
        .focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Deliveries', level: 1, exact: true }).waitFor();
      expect(page.url())
        .to.match(/status=failed/)
        .and.match(/from=.*to=/);
      await page.getByRole('link', { name: made.delivery.id }).first().waitFor();
    });
    await onPage('/', async (page) => {
      const refused = page.getByRole('region', { name: 'Refused webhooks', exact: true });
      await until('the refusal to be counted', async () => /[1-9]\d* refused/.test(await refused.innerText()));
      await refused.getByText('View as table').click();
      await refused
        .getByRole('link', { name: /^\d+ refused, / })
        .last()
        .click();
      await page.getByRole('heading', { name: 'Refused webhooks', level: 1, exact: true }).waitFor();
      await page.getByRole('link', { name: 'Refusing shop' }).click();
      await page.getByRole('heading', { name: 'Refusing shop', level: 1, exact: true }).waitFor();
      expect(page.url()).to.match(/from=.*to=/);
      await page.getByRole('cell', { name: 'Signature', exact: true }).first().waitFor();
      await seen(page, /1 refused/);
      await page.getByRole('button', { name: 'Show all' }).click();
      await seen(page, /1 refused since/);
    });
  });

  it('leads from an empty installation to a first webhook', async () => {
    const endpoint = receiver.endpoint(200);
    const { token, api, base } = await emptyOrganization();
    await onPage('/', { token }, async (page) => {
      await page.getByRole('heading', { name: 'Get started', level: 1, exact: true }).waitFor();
      await expectUsable(page);
      await page.getByRole('combobox', { name: 'Sender' }).fill('GitHub');
      await page.getByRole('option', { name: 'GitHub', exact: true }).click();
      await page.getByLabel('Destination URL').fill(endpoint.url);
      await page.getByLabel('Secret').fill('a-secret-of-the-sender-0123456789');
      await page.getByRole('button', { name: 'Connect' }).click();
      await page.getByRole('textbox', { name: 'Sample payload' }).getByText('refs/heads/main').waitFor();
      await page.getByRole('button', { name: 'Send test webhook' }).click();
      await page.getByRole('link', { name: 'Response 200' }).waitFor();
      await expectUsable(page);
    });
    const { data } = await api.list<{ name: string }>('/api/destinations');
    expect(data.map(({ name }) => name)).to.deep.equal(['Orders receiver']);
    expect(endpoint.requests.map(({ headers }) => headers['x-github-event'])).to.deep.equal(['push']);
    const { data: sources } = await api.list<{ provider: string }>(`${base}/sources`);
    expect(sources.map(({ provider }) => provider)).to.deep.equal(['github']);
  });

  it('says all clear only to a key that may read all that is checked', async () => {
    const { api } = await emptyOrganization();
    const key = async (...scopes: string[]) =>
      (await api.create<{ token: string }>('/api/api-keys', { name: 'Reader', scopes })).token;
    await onPage('/', { token: await key('read') }, (page) => seen(page, /^All clear: /));
    await onPage('/', { token: await key('routes:read', 'destinations:read', 'deliveries:read') }, async (page) => {
      await seen(page, 'Nothing found, but your API key lacks the scopes for some checks');
      expect(await page.getByText('All clear').count()).to.equal(0);
    });
  });
});
