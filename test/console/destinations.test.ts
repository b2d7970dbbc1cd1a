import { expect } from 'chai';
import { choose, describeConsole, expectAccessible, expectUsable, onPage, seen } from '../support/programs/console.ts';
import { breaker, switchedEndpoint } from '../support/workflows/circuits.ts';
import { onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

describeConsole('destinations in the console', ({ hookyard, records, receiver }) => {
  it('are found by name, and lead to their page', async () => {
    const { url } = receiver.endpoint(200);
    const found = await records.destination(url, { name: 'Kiln <b>one</b>' });
    await records.destination(url, { name: 'Oven two' });
    await onPage('/destinations', async (page) => {
      await page.getByRole('link', { name: 'Oven two' }).waitFor();
      await page.getByLabel('Name or URL').fill('Kiln');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Oven two' }).waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Kiln <b>one</b>' }).click();
      await page.getByRole('heading', { name: 'Kiln <b>one</b>', level: 1, exact: true }).waitFor();
      expect(page.url()).to.include(found.id);
    });
  });

  it('show how well they take deliveries, and what they answered', async () => {
    const { endpoint, answer } = switchedEndpoint(receiver, 418);
    const { destination } = await records.deliver(endpoint.url, '{"n":1}', 'failed');
    await until('the failure to be in its health', async () => {
      const health = await hookyard.client.get<{ totalDeliveries: number }>(
        `/api/destinations/${destination.id}/health`,
      );
      return health.totalDeliveries === 1;
    });
    await onPage(`/destinations/${destination.id}`, async (page) => {
      const health = page.getByRole('region', { name: 'Health' });
      await health.getByText('0% (0 of 1)').waitFor();
      await health.getByText('418: 1').waitFor();
      await health.getByText('1 (not replayed)').waitFor();
      answer({ status: 200 });
      await page.getByRole('button', { name: 'Replay 1 failed delivery' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Replay 1' }).click();
      await seen(page, /1 replayed/);
      await page.keyboard.press('Escape');
      await health.getByText('1 of 2 deliveries failed recently, none left to replay').waitFor();
      await health.getByText('50.0% (1 of 2, replays included)').waitFor();
      await page.getByRole('link', { name: 'View deliveries' }).click();
      await seen(page, '1–2 of 2');
    });
  });

  it('say that a replay was handed to a failover destination', async () => {
    const { destination, route } = await records.deliver(receiver.endpoint(500).url, '{"n":1}', 'failed');
    const other = await records.destination(receiver.endpoint(200).url);
    await hookyard.client.patch(`/api/routes/${route.id}`, {
      failoverDestinationIds: [other.id],
      failoverAfterAttempts: 1,
    });
    await onPage(`/destinations/${destination.id}`, async (page) => {
      await page.getByRole('button', { name: 'Replay 1 failed delivery' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Replay 1' }).click();
      await seen(page, '1 failed over');
      await seen(page, '0 of 1 replay delivered');
    });
  });

  it('say when a circuit breaker tries again, and that it has closed', async () => {
    const { endpoint, answer } = switchedEndpoint(receiver, 500);
    const { source, route, destination } = await records.pipe(endpoint.url, {
      route: { name: 'Kiln route', ...breaker({ circuitFailureThreshold: 1, circuitProbeSuccessThreshold: 1 }) },
    });
    await records.deliveryWith('failed', await records.accepted(source, '{}'));
    await records.deliveryWith('circuit_open', await records.accepted(source, '{"held":true}'));
    await onPage(`/destinations/${destination.id}`, async (page) => {
      const health = page.getByRole('region', { name: 'Health' });
      await seen(page, '1 route is holding deliveries');
      await page.getByRole('button', { name: 'Resume deliveries' }).click();
      await page
        .getByRole('dialog')
        .getByText(/Next probe in/)
        .waitFor();
      answer({ status: 200 });
      await hookyard.client.patch(`/api/routes/${route.id}/circuit-config`, { circuitCooldownSeconds: 10 });
      await seen(
        page,
        /Circuit breaker closed for route Kiln route after \d successful probes?\. Held deliveries resumed\./,
      );
      await health.getByText('50.0% (1 of 2)').waitFor();
      await health.getByText('0 deliveries').nth(2).waitFor();
    });
  });

  it('are held, not healthy, while a circuit breaker is open', async () => {
    const { endpoint, answer } = switchedEndpoint(receiver, 200);
    const { source, destination } = await records.deliver(endpoint.url, '{"n":1}', 'delivered', {
      destination: { retryPolicy: onceMore(3, 60_000) },
      route: breaker({ circuitFailureThreshold: 1 }),
    });
    await until('the destination to be healthy', async () => {
      const path = `/api/destinations/${destination.id}/health`;
      return (await hookyard.client.get<{ status: string }>(path)).status === 'healthy';
    });
    answer({ status: 503 });
    await records.deliveryWith('circuit_open', await records.accepted(source, '{}'));
    await onPage(`/destinations/${destination.id}`, async (page) => {
      const health = page.getByRole('region', { name: 'Health' });
      await health.getByText('Held', { exact: true }).nth(1).waitFor();
      await health.getByText('100% (1 of 1, held deliveries not counted)').waitFor();
      expect(await health.getByText('Healthy').count()).to.equal(0);
    });
  });

  it('are tested with a payload of their own', async () => {
    const endpoint = receiver.endpoint({ status: 200, body: 'thank <i>you</i>' });
    const { id } = await records.destination(endpoint.url);
    await onPage(`/destinations/${id}`, async (page) => {
      const test = page.getByRole('region', { name: 'Test' });
      await test.getByRole('button', { name: 'Edit payload' }).click();
      const editor = test.getByRole('textbox', { name: 'Test payload' });
      await editor.fill('{"kind": 1');
      await seen(page, 'The payload must be a JSON object');
      expect(await test.getByRole('button', { name: 'Send test webhook' }).isDisabled()).to.equal(true);
      await editor.fill('{"kind": "kiln"}');
      await test.getByRole('button', { name: 'Send test webhook' }).click();
      await test.getByText('Test succeeded').waitFor();
      await test.getByText('thank <i>you</i>').waitFor();
      await expectUsable(page);
    });
    expect(endpoint.requests.map(({ body }) => body.toString())).to.have.lengthOf(1);
    expect(endpoint.requests[0]?.body.toString()).to.include('kiln');
  });

  it('get a new signing secret, which is shown while it is made and never again', async () => {
    const { id } = await records.destination(receiver.endpoint(200).url, { signingSecret: SECRET });
    let secret = '';
    await onPage(`/destinations/${id}`, async (page) => {
      await choose(page, 'Rotate signing secret');
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Generate' }).click();
      secret = await dialog.getByLabel('New secret').inputValue();
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Rotate secret' }).click();
      await seen(page, 'Secret rotated');
      await page.getByRole('tab', { name: 'Settings' }).click();
      await seen(page, 'Previous secret valid until');
      expect(await page.content()).to.not.include(secret);
    });
    expect(secret).to.match(/^whsec_.{40,}$/);
    const stored = await hookyard.client.get<{ signingSecret: string }>(`/api/destinations/${id}`);
    expect(stored.signingSecret.slice(-4)).to.equal(secret.slice(-4));
  });

  it('are made and changed in a form, and secrets stay that are left as they are', async () => {
    const endpoint = receiver.endpoint(200);
    await onPage('/destinations', { expected: /Failed to load resource.* 400/ }, async (page) => {
      await page.getByRole('button', { name: 'New destination' }).click();
      await page.getByRole('heading', { name: 'New destination', level: 1, exact: true }).waitFor();
      await page.getByLabel('Name', { exact: false }).first().fill('Desk of a form');
      await page.getByLabel('URL', { exact: false }).fill('ftp://desk.example');
      await page.getByLabel('Authentication', { exact: true }).selectOption('bearer');
      await page.getByLabel('Token').fill('token-of-the-desk');
      await page.getByRole('button', { name: 'Generate' }).click();
      await expectUsable(page);
      await page.getByRole('button', { name: 'Create destination' }).click();
      await seen(page, /needs? your attention/);
      await page.getByLabel('URL', { exact: false }).fill(endpoint.url);
      await page.getByRole('button', { name: 'Create destination' }).click();
      await page.getByRole('heading', { name: 'Desk of a form', level: 1, exact: true }).waitFor();
      expect(await page.content()).to.not.include('token-of-the-desk');
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await page.getByText('Retries and limits').click();
      await page.getByLabel('Maximum retries').fill('7');
      await page.getByLabel('Method').selectOption('PUT');
      await page.getByText('Request', { exact: true }).click();
      await page.getByLabel('Forward query string').check();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('tab', { name: 'Settings' }).click();
      await page.getByText('Maximum retries').waitFor();
      await page.getByRole('definition').getByText('7', { exact: true }).waitFor();
      await page.getByRole('tab', { name: 'Overview' }).click();
      await page.getByRole('button', { name: 'Send test webhook' }).click();
      await page.getByText('Test succeeded').waitFor();
    });
    expect(endpoint.requests[0]?.headers).to.include({ authorization: 'Bearer token-of-the-desk' });
    expect(endpoint.requests[0]?.headers).to.have.property('webhook-signature');
    const { data } = await hookyard.client.list<{ id: string }>('/api/destinations?search=Desk%20of%20a%20form');
    const stored = await hookyard.client.get(`/api/destinations/${data[0]?.id}`);
    expect(stored).to.deep.include({
      method: 'PUT',
      forwardHeaders: null,
      forwardQuery: true,
      forwardPath: false,
      rateLimitPerMinute: null,
      timeoutMs: 30_000,
    });
  });

  it('that are warehouses are made and changed in the form too', async () => {
    await onPage('/destinations/new', async (page) => {
      await page.getByLabel('Name', { exact: false }).first().fill('Lake of a form');
      await page.getByLabel('Type').selectOption('s3');
      await page.getByLabel('Bucket', { exact: false }).first().fill('lake-of-a-form');
      await page.getByLabel('Region').fill('eu-west-1');
      await page.getByLabel('Access key ID').fill('lake');
      await page.getByLabel('Secret access key').fill('keyOfTheLake0123456789');
      await page.getByLabel('File format').selectOption('parquet');
      await page.getByLabel('Compression').selectOption('snappy');
      await page.getByRole('button', { name: 'Add column' }).click();
      const column = page.getByRole('group', { name: 'Column 1' });
      await column.getByLabel('Path').fill('$.payload.total');
      await column.getByRole('textbox', { name: 'Column' }).fill('total');
      await column.getByLabel('Type').selectOption('number');
      await expectUsable(page);
      await page.getByRole('button', { name: 'Create destination' }).click();
      await page.getByRole('heading', { name: 'Lake of a form', level: 1, exact: true }).waitFor();
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await page.getByLabel('Folder', { exact: true }).fill('webhooks');
      await page.getByLabel('Maximum events').fill('50');
      await page.getByRole('button', { name: 'Save' }).click();
      // The message of the first save may still be there.
      await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
    });
    const { data } = await hookyard.client.list<{ id: string }>('/api/destinations?search=Lake%20of%20a%20form');
    const stored = await hookyard.client.get<{ config: Record<string, unknown>; fieldMapping: unknown }>(
      `/api/destinations/${data[0]?.id}`,
    );
    expect(stored.config).to.include({
      prefix: 'webhooks',
      batchSize: 50,
      batchWindowSeconds: 60,
      fileFormat: 'parquet',
      compression: 'snappy',
      payloadColumn: 'text',
      keyOrder: 'written',
      region: 'eu-west-1',
    });
    expect(stored.config.secretAccessKey).to.match(/^•+6789$/);
    expect(stored.fieldMapping).to.deep.equal([{ source: '$.payload.total', target: 'total', type: 'number' }]);
  });

  it('are disabled and deleted when somebody has agreed', async () => {
    const { destination } = await records.pipe(receiver.endpoint(200).url);
    await onPage(`/destinations/${destination.id}`, { expected: /Failed to load resource.* 404/ }, async (page) => {
      await choose(page, 'Disable');
      await page.getByRole('button', { name: 'Disable destination' }).click();
      await seen(page, 'Destination disabled');
      await choose(page, 'Delete');
      await page.getByRole('dialog').getByText('1 route').waitFor();
      await page.getByRole('button', { name: 'Delete destination' }).click();
      await page.getByRole('heading', { name: 'Destinations', level: 1, exact: true }).waitFor();
    });
    const { status } = await hookyard.client.request('GET', `/api/destinations/${destination.id}`);
    expect(status).to.equal(404);
  });

  it('that are warehouses show their files, those that cannot be written too', async () => {
    // A store that refuses everything.
    const { url } = receiver.endpoint({ status: 403, body: '<Error><Code>AccessDenied</Code></Error>' });
    const config = {
      ...{ bucket: 'kilns', region: 'eu-west-1', endpoint: new URL(url).origin, forcePathStyle: true },
      ...{ accessKeyId: 'kiln', secretAccessKey: 'keyOfTheKiln0123456789', batchWindowSeconds: 1 },
    };
    const destination = await hookyard.client.create<{ id: string }>('/api/destinations', {
      ...{ name: 'Kiln lake', type: 's3', config },
      fieldMapping: [{ source: '$.payload.n', target: 'n', type: 'number' }],
    });
    const source = await records.source();
    await records.route(source.id, [destination.id]);
    await records.accepted(source, '{"n":1}');
    await onPage(`/destinations/${destination.id}`, async (page) => {
      await page.getByRole('tab', { name: 'Files' }).click();
      const files = page.getByRole('region', { name: 'Files' }).first();
      await files.getByRole('cell', { name: '1', exact: true }).first().waitFor();
      await page.getByRole('tab', { name: 'Settings' }).click();
      await page.getByRole('region', { name: 'Field mapping' }).getByText('$.payload.n').waitFor();
      await page.getByRole('tab', { name: 'Overview' }).click();
      await page.getByRole('button', { name: 'Write test file' }).click();
      await seen(page, 'Test failed');
      expect(await page.content()).to.not.include('keyOfTheKiln0123456789');
      await expectUsable(page);
    });
  });
});
