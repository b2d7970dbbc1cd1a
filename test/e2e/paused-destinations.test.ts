import { expect } from 'chai';
import { destinationPath, NOT_PAUSED, pause, resume, routePath } from '../support/workflows/pauses.ts';
import { storeAged } from '../support/database/aged-events.ts';
import type { DestinationView, SourceView } from '../support/records.ts';
import { startTakingStore } from '../support/warehouse/taking-store.ts';
import { until } from '../support/until.ts';
import type { BatchView } from '../support/warehouse/warehouse-instance.ts';
import { useHookyard, useStarted } from '../support/use-hookyard.ts';
import { circuitRows } from '../support/rows.ts';
import { execute } from '../support/database/sql.ts';

describe('a paused destination', () => {
  const { testInstance, records, receiver } = useHookyard();
  const store = useStarted(startTakingStore);

  const send = (source: SourceView, body = '{"order":1}') => records.accepted(source, body);
  const deliveryTo = ({ id }: DestinationView, eventId: string, wanted: string) =>
    until(`the delivery of ${eventId} to ${id} to be ${wanted}`, async () => {
      const found = (await records.deliveries(eventId)).findLast(({ destinationId }) => destinationId === id);
      if (found?.status !== wanted) throw new Error(`it is ${found?.status} (${found?.error})`);
      return found;
    });
  const held = async ({ id }: DestinationView) =>
    (await testInstance.client.list(`/api/deliveries?destinationId=${id}&status=circuit_open`)).data;

  it('gets nothing of any route, of failovers and of replays until it is resumed, and then all of it', async () => {
    const [endpoint, other, failing] = [receiver.endpoint(), receiver.endpoint(), receiver.endpoint(500)];
    const destination = await records.destination(endpoint.url, { name: 'Moved' });
    const [well, ill] = await Promise.all([records.destination(other.url), records.destination(failing.url)]);
    const [shared, failingOver] = await Promise.all([records.source(), records.source()]);
    await records.route(shared.id, [destination.id, well.id]);
    await records.route(failingOver.id, [ill.id], {
      failoverDestinationIds: [destination.id],
      failoverAfterAttempts: 1,
    });
    const earlier = await send(shared);
    const { id: earlierId } = await deliveryTo(destination, earlier, 'delivered');

    const paused = await pause(testInstance, destinationPath(destination), { reason: 'It is moved' });
    const { id: _id, ...state } = paused;
    expect(await testInstance.client.get(destinationPath(destination))).to.include({ ...state, paused: true });
    const listed = await testInstance.client.list('/api/destinations?search=Moved');
    expect(listed.data.find(({ id }) => id === destination.id)).to.include({ paused: true, pausedUntil: null });

    const both = await send(shared);
    const over = await send(failingOver);
    await testInstance.client.post(`/api/deliveries/${earlierId}/replay`);
    const waits = await deliveryTo(destination, both, 'circuit_open');
    expect(waits.holdReason).to.match(/^The destination has been paused since .*: It is moved$/);
    const tookOver = await deliveryTo(destination, over, 'circuit_open');
    expect(tookOver.failoverOf).to.match(/^dlv_/);
    await deliveryTo(well, both, 'delivered');
    await until('the replay to be held', async () => (await held(destination)).length === 3);
    expect(endpoint.requests).to.have.length(1);
    const refused = await testInstance.client.request('POST', `/api/deliveries/${waits.id}/retry`);
    expect(refused.body.message).to.contain(`POST ${destinationPath(destination)}/resume`);

    expect(await resume(testInstance, destinationPath(destination), { releasePerSecond: 100 })).to.include(NOT_PAUSED);
    await deliveryTo(destination, both, 'delivered');
    await deliveryTo(destination, over, 'delivered');
    await deliveryTo(destination, earlier, 'delivered');
    await until('all to have arrived', () => endpoint.requests.length === 4);
    expect(endpoint.requests.filter(({ headers }) => headers['x-hookyard-failover'] === 'true')).to.have.length(1);
    await until('its row to be forgotten', async () => {
      const rows = await circuitRows(testInstance.pool, destination.id);
      return rows.length === 0;
    });
  });

  describe('that is a warehouse', () => {
    async function lake(config: object = {}) {
      const destination = await testInstance.client.create<DestinationView>('/api/destinations', store.lake(config));
      const source = await records.source();
      return { destination, source, route: await records.route(source.id, [destination.id]) };
    }
    const isWritten = (eventId: string) => store.objects.join().includes(eventId);

    for (const [what, pathOf] of [
      ['itself', ({ destination }: Awaited<ReturnType<typeof lake>>) => destinationPath(destination)],
      ['by its route', ({ route }: Awaited<ReturnType<typeof lake>>) => routePath(route)],
    ] as const) {
      it(`has no file written when it is paused, ${what}`, async () => {
        const made = await lake();
        await pause(testInstance, pathOf(made));
        const eventIds = [await send(made.source), await send(made.source)];
        for (const id of eventIds) await records.deliveryWith('circuit_open', id);
        expect(eventIds.some(isWritten)).to.equal(false);
        await resume(testInstance, pathOf(made));
        for (const id of eventIds) await records.deliveryWith('delivered', id);
        expect(eventIds.every(isWritten)).to.equal(true);
      });
    }

    it('has its retries and its full files after a pause that was longer than both last', async () => {
      const made = await lake({ batchSize: 2, batchWindowSeconds: 300 });
      await pause(testInstance, destinationPath(made.destination));
      // Held for two days; a file is tried for one.
      const held = [await storeAged(testInstance, made, 2), await storeAged(testInstance, made, 2)];
      for (const { id } of held) await records.deliveryWith('circuit_open', id);
      await execute(testInstance.pool)`update events set queued_at = received_at
        where id = any(${held.map(({ id }) => id)})`;
      store.answer(503);
      try {
        await resume(testInstance, destinationPath(made.destination), { releasePerSecond: 1 });
        const batches = async () =>
          (await testInstance.client.list<BatchView>(`${destinationPath(made.destination)}/batches`)).data;
        await until('two tries', async () => (await batches()).some(({ attempts }) => attempts >= 2));
        expect((await batches()).map(({ count }) => count)).to.deep.equal([2]);
      } finally {
        store.answer(200);
      }
      for (const { id } of held) await records.deliveryWith('delivered', id);
    });
  });
});
