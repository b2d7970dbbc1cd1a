// The overview: what needs somebody, where figures lead, and what an empty installation begins with.
import { expect } from 'chai';
import { breaker } from '../support/workflows/circuits.ts';
import {
  consoleWorld,
  emptyOrganization,
  expectUsable,
  JOURNEY_MS,
  keyWith,
  onPage,
  requireChromium,
  seen,
} from '../support/programs/console.ts';
import { until } from '../support/until.ts';

const MANY = 100;

describe('the overview of the console', function () {
  this.timeout(JOURNEY_MS);
  before(async function () {
    await requireChromium(this);
  });

  it('shows an open circuit, however many routes there are, what is held, and since when', async () => {
    const { records, receiver, hookyard } = await consoleWorld();
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
    const open = await hookyard.client.list('/api/routes?circuitState=open&pageSize=1');
    const halfOpen = await hookyard.client.list('/api/routes?circuitState=half_open&pageSize=1');
    const circuits = open.pagination.total + halfOpen.pagination.total;
    await until('the failure to be in the rate of its destination', async () => {
      const { data } = await hookyard.client.list<{ successRate: number }>('/api/destinations?search=Kiln that fails');
      return data[0]?.successRate === 0;
    });
    await onPage('/', async (page) => {
      await seen(page, `Circuits that are not closed: ${circuits}`);
      await page.getByRole('link', { name: 'First of many' }).waitFor();
      await page.getByRole('link', { name: 'waits since' }).waitFor();
      await page.getByRole('link', { name: 'Kiln that fails' }).waitFor();
      await seen(page, '0 % of its deliveries succeeded lately');
      const times = await page.getByLabel('Figures of').locator('option').allTextContents();
      expect(times).to.deep.equal(['Last hour', 'Last 24 hours', 'Last 7 days', 'Last 30 days']);
      await expectUsable(page);
    });
    await hookyard.client.post(`/api/routes/${route.id}/reset-circuit`, {});
  });

  it('leads from each figure to the list of what it counts, by keys too', async () => {
    const { records, receiver } = await consoleWorld();
    const made = await records.deliver(receiver.endpoint(500).url, '{"n":1}', 'failed');
    const refusing = await records.source({
      name: 'Refusing shop',
      verificationConfig: { type: 'github', secret: 'x'.repeat(20) },
    });
    expect((await records.post(refusing, '{"from":"nobody"}')).status).to.equal(401);
    await onPage('/?range=1h', async (page) => {
      const deliveries = page.getByRole('region', { name: 'Deliveries', exact: true });
      await until('the failure to be drawn', async () => /[1-9]\d* failed/.test(await deliveries.innerText()));
      await deliveries.getByText('Deliveries as a table').focus();
      await page.keyboard.press('Enter');
      await deliveries
        .getByRole('link', { name: /^\d+ failed, / })
        .last()
        .focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Deliveries', level: 1 }).waitFor();
      expect(page.url())
        .to.match(/status=failed/)
        .and.match(/from=.*to=/);
      await page.getByRole('link', { name: made.delivery.id }).waitFor();
    });
    await onPage('/', async (page) => {
      const refused = page.getByRole('region', { name: 'Refused webhooks', exact: true });
      await until('the refusal to be counted', async () => /[1-9]\d* refused/.test(await refused.innerText()));
      await refused.getByText('Refused webhooks as a table').click();
      await refused
        .getByRole('link', { name: /^\d+ refused, / })
        .last()
        .click();
      await page.getByRole('heading', { name: 'Refused webhooks', level: 1 }).waitFor();
      await expectUsable(page);
      await page.getByRole('link', { name: 'Refusing shop' }).click();
      await page.getByRole('heading', { name: 'Source Refusing shop', level: 1 }).waitFor();
      expect(page.url()).to.match(/from=.*to=/);
      await page.getByRole('cell', { name: 'signature', exact: true }).first().waitFor();
      await seen(page, /1 were refused/);
      await page.getByRole('button', { name: 'All times' }).click();
      await seen(page, /1 were refused since/);
    });
  });

  it('leads from an empty installation to a first webhook', async () => {
    const { receiver } = await consoleWorld();
    const endpoint = receiver.endpoint(200);
    const { token, api, base } = await emptyOrganization();
    const work = async (page: Parameters<typeof seen>[0]) => {
      await seen(page, 'No webhook goes anywhere yet');
      await expectUsable(page);
      await page.getByRole('link', { name: 'Set up a first webhook' }).click();
      await page.getByRole('heading', { name: 'First webhook', level: 1 }).waitFor();
      await page.getByRole('combobox', { name: 'Who sends?' }).fill('GitHub');
      await page.getByRole('option', { name: 'GitHub', exact: true }).click();
      await page.getByLabel('Deliver to').fill(endpoint.url);
      await page.getByLabel('Secret').fill('a-secret-of-the-sender-0123456789');
      await page.getByRole('button', { name: /Make source/ }).click();
      await page.getByRole('textbox', { name: 'A sample payload' }).getByText('refs/heads/main').waitFor();
      await page.getByRole('button', { name: 'Send it' }).click();
      await page.getByRole('link', { name: 'Answered 200' }).waitFor();
      await expectUsable(page);
    };
    await onPage('/', work, { token });
    const { data } = await api.list<{ name: string }>('/api/destinations');
    expect(data.map(({ name }) => name)).to.deep.equal(['Orders receiver']);
    expect(endpoint.requests.map(({ headers }) => headers['x-github-event'])).to.deep.equal(['push']);
    const { data: sources } = await api.list<{ provider: string }>(`${base}/sources`);
    expect(sources.map(({ provider }) => provider)).to.deep.equal(['github']);
  });

  it('says what a key that may not read routes sees', async () => {
    const token = await keyWith('events:read');
    await onPage('/', (page) => seen(page, 'This key may not read deliveries, so there are no figures.'), { token });
  });
});
