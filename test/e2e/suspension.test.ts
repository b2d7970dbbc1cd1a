import { expect } from 'chai';
import { storeMany } from '../support/database/many-events.ts';
import { circuitWorkflowId, warehouseWorkflowId } from '../../core/temporal/names.ts';
import { resumeOrganization, suspendOrganization } from '../../db/organizations/organizations.ts';
import { circuitStatus, progress, warehouseStatus } from '../../workflows/signals-and-queries.ts';
import { expectError } from '../support/api-client.ts';
import { switchedEndpoint } from '../support/workflows/circuits.ts';
import type { Endpoint } from '../support/receiver.ts';
import { onceMore } from '../support/records.ts';
import { startTakingStore } from '../support/warehouse/taking-store.ts';
import { until } from '../support/until.ts';
import { useHookyard, useStarted } from '../support/use-hookyard.ts';
import { selectRows } from '../support/database/sql.ts';

describe('a suspended organization', () => {
  const { testInstance: suspended, records, receiver, circuits } = useHookyard();
  const { records: others } = useHookyard();
  const store = useStarted(startTakingStore);
  afterEach(() => resume());

  /** Ends when the worker knows it too. */
  async function change(act: typeof suspendOrganization | typeof resumeOrganization, words: string): Promise<void> {
    const lines = () => suspended.logs().split('\n');
    const told = () => lines().filter((line) => line.includes(suspended.organizationId) && line.includes(words)).length;
    const before = told();
    if (await act(suspended.pool, suspended.organizationId))
      await until('the worker to know it', () => told() > before);
  }
  const suspend = () => change(suspendOrganization, 'organizations are suspended');
  const resume = () => change(resumeOrganization, 'no longer suspended');

  /**
   * Deliveries of others go through all stages meanwhile, one after the other, so relays and workers had time for
   * everything.
   */
  async function othersDeliver(count = 4): Promise<void> {
    const pipe = await others.pipe(receiver.endpoint().url);
    for (let n = 0; n < count; n += 1) await others.deliveryWith('delivered', await others.accepted(pipe.source, '{}'));
  }
  const waiting = () =>
    selectRows<{ id: string; resume: string | null }>(suspended.pool)`
      select delivery_id as id, resume from outbox where organization_id = ${suspended.organizationId} order by 1`;
  const eventIds = ({ requests }: Endpoint) => requests.map(({ headers }) => headers['x-hookyard-event-id']);

  it('gets no webhook in, reads everything and changes nothing, from the next request on', async () => {
    const { source } = await records.pipe(receiver.endpoint().url);
    await records.deliveryWith('delivered', await records.accepted(source, '{}'));
    await suspend();
    const refused = await records.post(source, '{}');
    expect([refused.status, refused.body]).to.deep.include.members([403]);
    expect(refused.body).to.include({ error: 'Forbidden', code: 'ORGANIZATION_SUSPENDED' });
    expect(await records.storedEvents(source.id)).to.equal(1);
    expect((await suspended.client.list(`${suspended.base}/events`)).pagination.total).to.be.at.least(1);
    const change = await suspended.client.request('PATCH', `${suspended.base}/sources/${source.id}`, { name: 'New' });
    expectError(change, 403, 'ORGANIZATION_SUSPENDED');
    expectError(await suspended.client.request('POST', '/api/api-keys', { name: 'x' }), 403, 'ORGANIZATION_SUSPENDED');
    await resume();
    await records.deliveryWith('delivered', await records.accepted(source, '{}'));
  });

  it('lets new deliveries wait in order, and others pass', async () => {
    const endpoint = receiver.endpoint();
    const { source, route, destination } = await records.pipe(endpoint.url);
    await records.deliveryWith('delivered', await records.accepted(source, '{}'));
    await suspend();
    await othersDeliver();
    const ids = await storeMany(suspended.pool, {
      organizationId: suspended.organizationId,
      sourceId: source.id,
      routeId: route.id,
      destinationId: destination.id,
      count: 20,
      status: 'pending',
    });
    await othersDeliver(6);
    expect(endpoint.requests).to.have.length(1);
    expect(await waiting()).to.have.length(20);
    await resume();
    for (const id of ids) await records.deliveryWith('delivered', id);
    expect(eventIds(endpoint).slice(1).toSorted()).to.deep.equal(ids);
    expect(await waiting()).to.deep.equal([]);
  });

  it('lets a retry wait in its workflow, which costs neither an attempt nor a retry', async () => {
    const endpoint = receiver.endpoint(500, 500, 200);
    const { source } = await records.pipe(endpoint.url, { destination: { retryPolicy: onceMore(2, 3000) } });
    const eventId = await records.accepted(source, '{}');
    const { id } = await records.deliveryWith('retrying', eventId);
    await suspend();
    await until('its workflow to wait for its turn', async () =>
      (await waiting()).find((row) => row.id === id && row.resume === 'waiting'),
    );
    await othersDeliver();
    expect(endpoint.requests).to.have.length(1);
    expect(await records.delivery(id)).to.include({ status: 'retrying', attemptCount: 1 });
    await resume();
    // All of its retries are left.
    expect(await records.deliveryWith('delivered', eventId)).to.include({ attemptCount: 3 });
    expect(endpoint.requests).to.have.length(3);
  });

  it('lets what a circuit holds wait, and releases it afterwards', async () => {
    const { endpoint, answer } = switchedEndpoint(receiver, 500);
    const { source, route } = await circuits.opened(endpoint, { circuitProbeSuccessThreshold: 1 });
    const held = [await records.accepted(source, '{}'), await records.accepted(source, '{}')];
    for (const id of held) await records.deliveryWith('circuit_open', id);
    answer({ status: 200 });
    await suspend();
    const before = endpoint.requests.length;
    // Its cooldown ends now.
    await suspended.pool.query('update routes set circuit_cooldown_seconds = 1 where id = $1', [route.id]);
    const handle = suspended.temporal.workflow.getHandle(circuitWorkflowId(route.id));
    await until('its circuit to be half-open and to wait', async () => {
      const found = await handle.query(circuitStatus);
      return found?.state === 'half_open' && found.suspended;
    });
    await othersDeliver();
    expect(endpoint.requests).to.have.length(before);
    await resume();
    for (const id of held) await records.deliveryWith('delivered', id);
  });

  it('lets a replay of events wait, and continues with it', async () => {
    const source = await records.source();
    const ids = [];
    for (let n = 0; n < 4; n += 1) ids.push(await records.accepted(source, '{}'));
    const endpoint = receiver.endpoint();
    const destination = await records.destination(endpoint.url);
    await records.route(source.id, [destination.id]);
    const asked = { sourceId: source.id, ratePerSecond: 1 };
    const replay = await suspended.client.post<{ id: string }>(`${suspended.base}/events/replay`, asked);
    await suspend();
    const handle = suspended.temporal.workflow.getHandle(replay.id);
    await until('it to wait', async () => (await handle.query(progress)).suspended);
    await othersDeliver();
    expect(endpoint.requests.length).to.be.below(4);
    await resume();
    for (const id of ids) await records.deliveryWith('delivered', id);
    expect(new Set(eventIds(endpoint))).to.deep.equal(new Set(ids));
  });

  it('writes no file, and does not count the time against the file', async () => {
    const lake = store.lake({ batchWindowSeconds: 4 });
    const destination = await suspended.client.create('/api/destinations', lake);
    const source = await records.source();
    await records.route(source.id, [destination.id]);
    const eventId = await records.accepted(source, '{"in":"the lake"}');
    await suspend();
    const handle = suspended.temporal.workflow.getHandle(warehouseWorkflowId(destination.id));
    await until('its files to wait', async () => (await handle.query(warehouseStatus))?.state === 'suspended');
    await othersDeliver();
    expect(store.objects).to.have.length(0);
    await resume();
    await records.deliveryWith('delivered', eventId);
    expect(store.objects.join()).to.include(eventId);
  });
});
