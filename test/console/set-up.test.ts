import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { choose, copied, describeConsole, expectUsable, onPage, seen } from '../support/programs/console.ts';
import { until } from '../support/until.ts';

const REFUSED = /Failed to load resource.* 400/;

describeConsole('the pages of routes and of what they refer to', ({ hookyard, records, receiver }) => {
  it('make a route, change it, pause and resume it, disable it, and delete it', async () => {
    const source = await records.source({ name: 'Shop of routes' });
    const destination = await records.destination(receiver.endpoint(200).url, { name: 'Desk of routes' });
    await onPage(`/routes?sourceId=${source.id}`, { expected: REFUSED }, async (page) => {
      await seen(page, /No matching routes/);
      await page.getByRole('button', { name: 'New route' }).click();
      await page.getByRole('heading', { name: 'New route', level: 1, exact: true }).waitFor();
      await page.getByLabel('Name', { exact: false }).first().fill('Shop to desk');
      await page.getByRole('combobox', { name: 'Destinations', exact: false }).first().click();
      await page.getByRole('option', { name: 'Desk of routes' }).click();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'New destination' }).click();
      await inDialog(page).getByLabel('Name', { exact: false }).first().fill('Shelf of routes');
      await inDialog(page).getByLabel('URL', { exact: false }).fill(receiver.endpoint(200).url);
      await inDialog(page).getByRole('button', { name: 'Create destination' }).click();
      await inDialog(page).waitFor({ state: 'detached' });
      await page.getByText('Shelf of routes').first().waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await inDialog(page).getByRole('button', { name: 'Keep editing' }).click();
      await page.getByRole('button', { name: 'Create route' }).click();
      await page.getByRole('heading', { name: 'Shop to desk', level: 1, exact: true }).waitFor();
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await page.getByText('Advanced').click();
      await page.getByLabel('Priority').fill('99999999999');
      await page.getByRole('button', { name: 'Save' }).click();
      await seen(page, /needs? your attention/);
      await page.getByLabel('Priority').fill('7');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: 'Shop to desk', level: 1, exact: true }).waitFor();
      await choose(page, 'Pause');
      await inDialog(page).getByLabel('Reason').fill('The desk is moved');
      await expectUsable(page);
      await inDialog(page).getByRole('button', { name: 'Pause route' }).click();
      await seen(page, 'Route paused');
      await seen(page, /The desk is moved/);
      await expectUsable(page);
      await page.getByRole('button', { name: 'Resume', exact: true }).click();
      await inDialog(page)
        .getByLabel(/Rate limit/)
        .fill('5');
      await inDialog(page).getByRole('button', { name: 'Resume route' }).click();
      await page.getByRole('button', { name: 'Resume', exact: true }).waitFor({ state: 'detached' });
      await choose(page, 'Disable');
      await inDialog(page).getByRole('button', { name: 'Disable route' }).click();
      await seen(page, 'Route disabled');
      await choose(page, 'Delete');
      await inDialog(page).getByRole('button', { name: 'Delete route' }).click();
      await page.getByRole('heading', { name: 'Routes', level: 1, exact: true }).waitFor();
    });
    const path = `/api/routes?destinationId=${destination.id}`;
    expect((await hookyard.client.list(path)).pagination.total).to.equal(0);
  });

  it('list routes by what the address says, and let them be copied', async () => {
    const { source, route } = await records.pipe(receiver.endpoint(200).url, { route: { name: 'Copied, "route"' } });
    await records.pipe(receiver.endpoint(200).url, { route: { name: 'Another route' } });
    await onPage(`/routes?sourceId=${source.id}&enabled=true`, async (page) => {
      await seen(page, '1–1 of 1');
      const csv = await copied(page, 'Copy rows as CSV');
      expect(csv.split(/\r?\n/)[1]).to.include('"Copied, ""route"""').and.include(route.id);
      const call = await copied(page, 'Copy as curl');
      expect(call).to.include(`/api/routes?`).and.include(`sourceId=${source.id}`).and.include('enabled=true');
    });
  });

  it('show what each destination would get of a past event, and the rules in the order in which they apply', async () => {
    const schema = await hookyard.client.create<{ id: string }>('/api/schemas', { name: 'Any', schema: {} });
    const { source, route, destination } = await records.pipe(receiver.endpoint(200).url, {
      route: { schemaId: schema.id, filterConditions: [{ field: 'payload.kind', operator: 'exists' }] },
    });
    const eventId = await records.accepted(source, '{"kind":"order.paid"}');
    await onPage(`/routes/${route.id}?tab=preview&event=${eventId}`, async (page) => {
      const requests = page.getByRole('region', { name: 'Request preview' });
      await requests.getByRole('heading', { name: destination.name }).waitFor();
      expect(await requests.innerText())
        .to.match(/\bPOST\b/)
        .and.include(eventId);
      const result = await page.getByRole('heading', { level: 3 }).allInnerTexts();
      expect(result.slice(0, 3)).to.deep.equal(['Schema', 'Filter', 'Transform']);
      await expectUsable(page);
    });
    await onPage(`/routes/${route.id}`, async (page) => {
      const flow = page.getByRole('list', { name: 'Route flow' });
      await flow.getByText('Schema').waitFor();
      expect(await flow.innerText()).to.match(/Source.*Schema.*Filter.*Destination/s);
    });
  });

  it('make a filter that is tried on a real event', async () => {
    const { source } = await records.pipe(receiver.endpoint(200).url);
    const eventId = await records.accepted(source, '{"kind":"order.paid","total":12}');
    await onPage(`/filters/new?event=${eventId}`, async (page) => {
      await page.getByLabel('Name', { exact: false }).first().fill('Dear orders');
      await page.getByLabel('Field').fill('payload.total');
      await page.getByLabel('Operator').selectOption('gt');
      await page.getByLabel('Value').fill('100');
      await seen(page, /Event filtered out/);
      await page.getByLabel('Value').fill('10');
      await seen(page, /Event matches/);
      await expectUsable(page);
      await page.getByRole('button', { name: 'Create filter' }).click();
      await page.getByRole('heading', { name: 'Dear orders', level: 1, exact: true }).waitFor();
    });
    const { data } = await hookyard.client.list<{ id: string; conditions: unknown }>('/api/filters?search=dear');
    expect(data[0]?.conditions).to.deep.equal([{ field: 'payload.total', operator: 'gt', value: 10 }]);
    await onPage('/filters?search=dear', async (page) => {
      await page.getByRole('link', { name: 'Dear orders' }).click();
      await choose(page, 'Delete');
      await inDialog(page).getByRole('button', { name: 'Delete filter' }).click();
      await page.getByRole('heading', { name: 'Rules', level: 1, exact: true }).waitFor();
    });
  });

  it('mend a transform with the real event at the line that is wrong, and replay it', async () => {
    const transform = await hookyard.client.create<{ id: string }>('/api/transforms', {
      name: 'Shop to desk',
      type: 'javascript',
      code: 'export default (event) => {\n  return { id: event.payload.order.id };\n};',
    });
    const endpoint = receiver.endpoint(200);
    const route = { transformId: transform.id };
    const { source } = await records.pipe(endpoint.url, { route });
    const eventId = await records.accepted(source, '{"orderId":7}');
    await records.deliveryWith('failed', eventId);
    await onPage(`/transforms/${transform.id}?event=${eventId}`, { expected: REFUSED }, async (page) => {
      await seen(page, /Transform failed/);
      await expectUsable(page);
      await typeCode(page, 'export default (event) => {\n  return { id: ;\n};');
      await seen(page, /^Line 2: /);
      await typeCode(page, 'export default (event) => ({ id: event.payload.orderId })');
      await seen(page, /Transformed in/);
      await page.getByRole('button', { name: 'Save' }).click();
      await until('the code to be stored', async () => {
        const { code } = await hookyard.client.get<{ code: string }>(`/api/transforms/${transform.id}`);
        return code.includes('orderId');
      });
      await page.getByRole('button', { name: 'Replay event' }).click();
      await inDialog(page).getByRole('button', { name: 'Replay event' }).click();
      await seen(page, '1 delivery created');
    });
    await until('the event to arrive', () => Promise.resolve(endpoint.requests.length === 1));
    expect(String(endpoint.requests[0]?.body)).to.equal('{"id":7}');
  });

  it('make a schema, and say which member of an event does not match', async () => {
    const { source } = await records.pipe(receiver.endpoint(200).url);
    const eventId = await records.accepted(source, '{"total":"twelve"}');
    await onPage(`/schemas/new?event=${eventId}`, { expected: REFUSED }, async (page) => {
      await page.getByLabel('Name', { exact: false }).first().fill('Orders with totals');
      // Before it is stored: what is wrong stands at its line, in the schema and in the payload.
      await typeCode(
        page,
        '{\n  "type": "object",\n  "properties": {\n    "total": { "type": "numbr" } } }',
        'JSON Schema',
      );
      await seen(page, /^Line 4: .*\/properties\/total/);
      await typeCode(page, '{"type":"object","properties":{"total":{"type":"number"}}}', 'JSON Schema');
      await seen(page, /Payload does not match/);
      await seen(page, '/total');
      await seen(page, /^Line 2: must be number/);
      await expectUsable(page);
      await typeCode(page, '{"total":12}', 'Payload');
      await seen(page, /Payload matches/);
      await page.getByRole('button', { name: 'Create schema' }).click();
      await page.getByRole('heading', { name: 'Orders with totals', level: 1, exact: true }).waitFor();
    });
    const { pagination } = await hookyard.client.list('/api/schemas?search=orders-with');
    expect(pagination.total).to.equal(1);
  });
});

const inDialog = (page: Page) => page.getByRole('dialog');

async function typeCode(page: Page, code: string, label = 'Code'): Promise<void> {
  const editor = page.getByRole('textbox', { name: label, exact: true });
  await editor.click();
  await page.keyboard.press('ControlOrMeta+a');
  await editor.fill(code);
}
