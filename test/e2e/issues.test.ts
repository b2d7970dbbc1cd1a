import { expect } from 'chai';
import { setLimits } from '../../db/organizations/organizations.ts';
import { expectError } from '../support/api-client.ts';
import { makeSource } from '../support/api-records.ts';
import { breaker, switchedEndpoint } from '../support/workflows/circuits.ts';
import { send } from '../support/requests/http-client.ts';
import { Issues } from '../support/messages/issues.ts';
import type { SourceView } from '../support/records.ts';
import { createOrganization } from '../support/service.ts';
import { startTakingStore } from '../support/warehouse/taking-store.ts';
import { until } from '../support/until.ts';
import { useHookyard, useStarted } from '../support/use-hookyard.ts';
import { execute, selectValue } from '../support/database/sql.ts';

const SECRET = 'a secret of sixteen bytes';
const WRONG = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
// Its circuit stays closed, whatever fails.
const PATIENT = { circuitFailureThreshold: 100 };

describe('issues', () => {
  const store = useStarted(startTakingStore);
  const { testInstance, records, receiver, circuits } = useHookyard({
    settings: { tuning: { issueRecoverySeconds: 1 } },
  });
  let issues: Issues;
  let urls: string[];
  before(async () => {
    const first = testInstance.api.url;
    await Promise.all([testInstance.startWorker(), testInstance.startApi()]);
    urls = [first, testInstance.api.url];
    issues = new Issues(testInstance.client);
  });

  const failed = async (source: SourceView) => records.deliveryWith('failed', await records.accepted(source, '{}'));
  const delivered = async (source: SourceView) =>
    records.deliveryWith('delivered', await records.accepted(source, '{}'));

  describe('of deliveries', () => {
    it('open with the first delivery that is exhausted, count, and resolve themselves', async () => {
      const { endpoint, answer } = switchedEndpoint(receiver, 500);
      const { source, route, destination } = await records.pipe(endpoint.url, { route: PATIENT });
      const first = await failed(source);
      const opened = await issues.untilOpen({ routeId: route.id });
      expect(opened).to.include({ kind: 'delivery_failing', cause: 'HTTP_500', count: 1, sourceId: null });
      expect(opened).to.include({ destinationId: destination.id, routeId: route.id, resolvedAt: null });
      expect(opened).to.include({ source: null }).and.to.have.nested.property('route.id', route.id);
      expect(opened).to.include({ sampleDeliveryId: first.id, sampleEventId: first.eventId });
      const second = await failed(source);
      const counted = await issues.untilCounted(opened.id, 2);
      expect(counted).to.include({ sampleDeliveryId: second.id, state: 'open', changedAt: opened.changedAt });
      answer({ status: 200 });
      await delivered(source);
      const resolved = await issues.untilResolved(opened.id);
      expect(resolved).to.include({ count: 2, resolvedAt: resolved.changedAt });
      answer({ status: 500 });
      await failed(source);
      const again = await issues.untilOpen({ routeId: route.id }, 3);
      expect(again).to.include({ id: opened.id, openedAt: opened.openedAt, resolvedAt: null });
      expect((await issues.list({ sourceId: source.id })).map(({ id }) => id)).to.deep.equal([opened.id]);
    });

    it('say why there was no answer', async () => {
      const closed = await records.pipe('http://127.0.0.1:1/', { route: PATIENT });
      await failed(closed.source);
      expect(await issues.untilOpen({ routeId: closed.route.id })).to.include({ cause: 'CONNECTION_FAILED' });
      const { promise, resolve } = Promise.withResolvers<void>();
      const silent = await records.pipe(receiver.endpoint({ after: promise }).url, {
        ...{ route: PATIENT, destination: { timeoutMs: 1000 } },
      });
      await failed(silent.source);
      expect(await issues.untilOpen({ routeId: silent.route.id })).to.include({ cause: 'TIMEOUT' });
      resolve();
    });
  });

  it('of a circuit open and end with it', async () => {
    const { source, route } = await records.pipe(receiver.endpoint(500).url, { route: breaker() });
    await failed(source);
    const last = await failed(source);
    await circuits.untilState(route, 'open');
    const issue = await issues.untilOpen({ routeId: route.id, kind: 'circuit_open' });
    expect(issue).to.include({ cause: 'FAILURE_THRESHOLD', count: 1, destinationId: null });
    expect(issue).to.include({ sampleDeliveryId: last.id, sampleEventId: last.eventId });
    await circuits.reset(route);
    expect(await issues.get(issue.id)).to.include({ state: 'resolved' });
  });

  it('of a transform open with its first failure, and end when it works', async () => {
    const transform = await testInstance.client.create('/api/transforms', {
      ...{ name: 'Reshape', type: 'javascript', code: 'export default () => { throw new Error("no") }' },
    });
    const { source, route } = await records.pipe(receiver.endpoint().url, { route: { transformId: transform.id } });
    const delivery = await failed(source);
    const issue = await issues.untilOpen({ routeId: route.id });
    expect(issue).to.include({ kind: 'transform_failing', cause: 'EXCEPTION', destinationId: null });
    expect(issue).to.include({ sampleDeliveryId: delivery.id, count: 1 });
    await testInstance.client.patch(`/api/transforms/${transform.id}`, {
      code: 'export default ({ payload }) => payload',
    });
    expect(await issues.retry(issue.id)).to.include({ deliveriesCreated: 1, more: false });
    await issues.untilResolved(issue.id);
  });

  it('of a schema open with the first webhook that it refuses, and end with one that it takes', async () => {
    const schema = await testInstance.client.create('/api/schemas', {
      ...{ name: 'Order', schema: { type: 'object', required: ['order'] } },
    });
    const { source, route } = await records.pipe(receiver.endpoint().url, { route: { schemaId: schema.id } });
    const eventId = await records.accepted(source, '{"no":"order"}');
    const issue = await issues.untilOpen({ routeId: route.id });
    expect(issue).to.include({ kind: 'schema_refusing', cause: 'SCHEMA_MISMATCH', sampleEventId: eventId });
    await testInstance.client.patch(`/api/schemas/${schema.id}`, { schema: { type: 'object' } });
    expect(await issues.retry(issue.id)).to.include({ deliveriesCreated: 1 });
    await records.accepted(source, '{"order":1}');
    await issues.untilResolved(issue.id);
  });

  it('of signatures are counted over all processes', async () => {
    const source = await records.source({ verificationConfig: { type: 'github', secret: SECRET } });
    const { pathname } = new URL(source.webhookUrl);
    const refused = async (process: number, times: number) => {
      for (let n = 0; n < times; n += 1)
        expect((await send('POST', `${urls[process]}${pathname}`, WRONG, '{}')).status).to.equal(401);
    };
    const counted = () => selectValue<number>(testInstance.pool)`select failures from issue_streaks
      where source_id = ${source.id}`;
    await refused(0, 3);
    await refused(1, 1);
    await until('four to be counted', async () => (await counted()) === 4);
    expect(await issues.list({ sourceId: source.id }), 'these are not enough').to.deep.equal([]);
    await refused(1, 1);
    const issue = await issues.untilOpen({ sourceId: source.id }, 5);
    expect(issue).to.include({ kind: 'signature_failing', cause: 'INVALID_SIGNATURE', count: 5, routeId: null });
    const retried = await testInstance.client.request('POST', `/api/issues/${issue.id}/retry`);
    expectError(retried, 409, 'INVALID_STATE', /no failed deliveries to replay/);
    await testInstance.client.patch(`${testInstance.base}/sources/${source.id}`, {
      verificationConfig: { type: 'none' },
    });
    await records.accepted(source, '{}');
    await issues.untilResolved(issue.id);
  });

  it('of a warehouse open when its store refuses, and end with the first file', async () => {
    store.answer(403);
    const lake = await testInstance.client.create('/api/destinations', store.lake());
    const source = await records.source();
    await records.route(source.id, [lake.id]);
    const eventId = await records.accepted(source, '{"in":"the lake"}');
    const issue = await issues.untilOpen({ destinationId: lake.id });
    expect(issue).to.include({ kind: 'warehouse_not_writable', cause: 'PERMISSION', routeId: null });
    store.answer(200);
    // A change of the destination brings the next try.
    await testInstance.client.patch(`/api/destinations/${lake.id}`, { config: { batchWindowSeconds: 2 } });
    await records.deliveryWith('delivered', eventId);
    await issues.untilResolved(issue.id);
  });

  it('of the webhooks of a month open with the first that is too much, and end when there may be more', async () => {
    const { api: service, pool } = testInstance;
    const of = await createOrganization({ service, pool });
    const { slug } = await makeSource(of);
    const own = new Issues(of.api);
    const webhook = () => send('POST', `${service.url}/ingest/${of.slug}/${slug}`, {}, '{}');
    await setLimits(pool, of.id, { eventsPerMonth: 2 });
    const statuses = [await webhook(), await webhook(), await webhook()].map(({ status }) => status);
    expect(statuses).to.deep.equal([200, 200, 429]);
    const issue = await own.untilOpen({ kind: 'quota_reached' });
    expect(issue).to.include({ cause: 'eventsPerMonth', count: 1, sourceId: null, routeId: null, destinationId: null });
    expect((await webhook()).body).to.include({ limit: 'eventsPerMonth' });
    await own.untilCounted(issue.id, 2);
    // Others go by after the time in which those that have recovered are resolved: this has not.
    await until(
      'rounds of resolving',
      () => selectValue<boolean>(pool)`select last_seen_at < now() - interval '8 seconds' as long from issues
        where id = ${issue.id}`,
    );
    expect(await own.get(issue.id), 'the month is not over').to.include({ state: 'open' });
    await setLimits(pool, of.id, { eventsPerMonth: 3 });
    await until('the raised limit', async () => (await webhook()).status === 200);
    await own.untilResolved(issue.id);
  });

  it('of other refusals open after five, because anybody can cause them', async () => {
    const source = await records.source({ enabled: false });
    const refused = async () => expect((await records.post(source, '{}')).status).to.equal(403);
    for (let n = 0; n < 4; n += 1) await refused();
    await until(
      'four to be counted',
      () => selectValue<boolean>(testInstance.pool)`select failures = 4 as four from issue_streaks
        where source_id = ${source.id}`,
    );
    expect(await issues.list({ sourceId: source.id }), 'these are not enough').to.deep.equal([]);
    await refused();
    const issue = await issues.untilOpen({ sourceId: source.id }, 5);
    expect(issue).to.include({ kind: 'ingest_refused', cause: 'DISABLED', sampleEventId: null });
    await testInstance.client.patch(`${testInstance.base}/sources/${source.id}`, { enabled: true });
    await records.accepted(source, '{}');
    await issues.untilResolved(issue.id);
  });

  describe('are steered', () => {
    async function failing() {
      const { endpoint, answer } = switchedEndpoint(receiver, 500);
      const pipe = await records.pipe(endpoint.url, { route: PATIENT });
      await failed(pipe.source);
      return { ...pipe, answer, endpoint, issue: await issues.untilOpen({ routeId: pipe.route.id }) };
    }

    it('by their state', async () => {
      const { source, answer, issue, route } = await failing();
      const acknowledged = await issues.set(issue.id, 'acknowledged');
      expect(acknowledged).to.include({ state: 'acknowledged', count: 1, resolvedAt: null });
      expect(await issues.set(issue.id, 'acknowledged'), 'nothing changes').to.deep.equal(acknowledged);
      await failed(source);
      expect(await issues.untilCounted(issue.id, 2)).to.include({ state: 'acknowledged' });
      expect(await issues.list({ routeId: route.id, state: 'open' })).to.deep.equal([]);
      expect(await issues.list({ routeId: route.id, state: 'acknowledged', kind: 'circuit_open' })).to.deep.equal([]);
      expect(await issues.set(issue.id, 'resolved')).to.include({ state: 'resolved' });
      await execute(testInstance.pool)`
        update issues set resolved_at = now() - interval '2 hours' where id = ${issue.id}`;
      await failed(source);
      const again = await issues.untilOpen({ routeId: route.id });
      const refused = await testInstance.client.request('PATCH', `/api/issues/${issue.id}`, { state: 'open' });
      expectError(refused, 409, 'INVALID_STATE');
      expectError(
        await testInstance.client.request('PATCH', `/api/issues/${issue.id}`, { state: 'gone' }),
        400,
        'VALIDATION_ERROR',
      );
      answer({ status: 200 });
      await delivered(source);
      await issues.untilResolved(again.id);
      expect(await issues.set(again.id, 'open'), 'it opens again').to.include({ state: 'open', resolvedAt: null });
    });

    it('by a retry of the deliveries that they hold', async () => {
      const { source, answer, endpoint, issue, route } = await failing();
      await failed(source);
      await failed(source);
      answer({ status: 502 });
      await failed(source);
      const ofRoute = () => issues.list({ routeId: route.id });
      await until('the issue of the other answer', async () => (await ofRoute()).length === 2);
      answer({ status: 200 });
      const sent = endpoint.requests.length;
      const dry = await issues.retry(issue.id, { dryRun: true });
      expect(dry).to.include({ deliveriesFound: 3, deliveriesCreated: 0, more: false });
      expect(await issues.retry(issue.id)).to.include({ deliveriesFound: 3, deliveriesCreated: 3, more: false });
      await until('them to arrive', () => endpoint.requests.length === sent + 3);
      expect(await issues.retry(issue.id), 'they were replayed').to.include({ deliveriesCreated: 0 });
      await issues.untilResolved(issue.id);
      const [another] = (await ofRoute()).filter(({ cause }) => cause === 'HTTP_502');
      expect(await issues.retry(another?.id ?? '')).to.include({ deliveriesCreated: 1 });
    });
  });
});
