import { expect } from 'chai';
import { replayOnce } from '../../db/replay/replay.ts';
import { retryNow, status } from '../../workflows/signals-and-queries.ts';
import { expectError } from '../support/api-client.ts';
import type { Answer } from '../support/receiver.ts';
import { onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { selectRows } from '../support/database/sql.ts';

const MINUTE_MS = 60_000;

describe('operations', () => {
  const { testInstance, records, receiver } = useHookyard();

  /** A delivery that waits `delay` ms for its second attempt. */
  async function waitingDelivery(delay = 10 * MINUTE_MS, ...later: Answer[]) {
    const endpoint = receiver.endpoint(503, ...(later.length > 0 ? later : [{}]));
    const pipe = await records.pipe(endpoint.url, { destination: { retryPolicy: onceMore(1, delay) } });
    const eventId = await records.accepted(pipe.source, '{}');
    return { ...pipe, endpoint, eventId, delivery: await records.deliveryWith('retrying', eventId) };
  }

  /** A delivery whose first attempt runs until `release` is called. */
  async function runningDelivery(answer: Answer = {}) {
    const gate = Promise.withResolvers<void>();
    const endpoint = receiver.endpoint({ ...answer, after: gate.promise });
    const pipe = await records.pipe(endpoint.url, { destination: { retryPolicy: onceMore(3, 10 * MINUTE_MS) } });
    const eventId = await records.accepted(pipe.source, '{}');
    await until('the attempt to run', () => endpoint.requests.length === 1);
    const deliveryId = String(endpoint.requests[0]?.headers['x-hookyard-delivery-id']);
    return { ...pipe, endpoint, eventId, deliveryId, release: gate.resolve };
  }

  const act = (delivery: { id: string }, action: string) =>
    testInstance.client.request('POST', `/api/deliveries/${delivery.id}/${action}`);

  describe('on a delivery', () => {
    it('cancel ends it for good: no further attempt, the event failed, the workflow closed', async () => {
      const { delivery, eventId, endpoint } = await waitingDelivery();
      const answer = await act(delivery, 'cancel');
      expect(answer.body).to.include({ status: 'cancelled', nextAttemptAt: null });
      await records.workflowsEnd([delivery.id]);
      expect(endpoint.requests).to.have.length(1);
      expect(await records.event(eventId)).to.include({ status: 'failed', deliveriesCount: 1, deliveriesFailed: 1 });
      expectError(await act(delivery, 'cancel'), 409, 'INVALID_STATE');
    });

    it('replay closes the workflow of the failed delivery, which waited for that', async () => {
      const { source } = await records.pipe(receiver.endpoint(410, 200).url);
      const eventId = await records.accepted(source, '{}');
      const failed = await records.deliveryWith('failed', eventId);
      const { body } = await act(failed, 'replay');
      await records.workflowsEnd([failed.id]);
      const result: unknown = await testInstance.temporal.workflow.getHandle(failed.id).result();
      expect(result).to.include({ status: 'failed', replayedAs: body.deliveryId });
    });
  });

  describe('changing a destination', () => {
    it('sends the next attempt, which retry makes now, to its new address with its new headers', async () => {
      const { destination, delivery, eventId, endpoint } = await waitingDelivery();
      const moved = receiver.endpoint(200);
      const changes = { url: moved.url, headers: { 'X-New': 'yes' } };
      await testInstance.client.patch(`/api/destinations/${destination.id}`, changes);
      expect((await act(delivery, 'retry')).status).to.equal(200);
      expect(await records.deliveryWith('delivered', eventId)).to.include({ attemptCount: 2 });
      expectError(await act(delivery, 'retry'), 409, 'INVALID_STATE');
      expect(endpoint.requests).to.have.length(1);
      expect(moved.requests).to.have.length(1);
      expect(moved.requests[0]?.headers).to.include({ 'x-new': 'yes', 'x-hookyard-attempt': '2' });
    });

    it('to disabled skips what waits, at its next attempt', async () => {
      const { destination, delivery, eventId, endpoint } = await waitingDelivery();
      await testInstance.client.patch(`/api/destinations/${destination.id}`, { enabled: false });
      await act(delivery, 'retry');
      const skipped = await records.deliveryWith('skipped', eventId);
      expect(skipped).to.include({ attemptCount: 1, error: 'The destination is disabled' });
      expect(await records.event(eventId)).to.include({ deliveriesCount: 0, deliveriesFailed: 0 });
      await records.workflowsEnd([delivery.id]);
      expect(endpoint.requests).to.have.length(1);
    });
  });

  describe('deleting', () => {
    const gone = async (path: string) =>
      expectError(await testInstance.client.request('GET', path), 404, 'RESOURCE_NOT_FOUND');

    it('a destination cancels what runs and what waits, and keeps the history', async () => {
      const [running, waiting] = [await runningDelivery(), await waitingDelivery()];
      for (const { destination } of [running, waiting]) {
        await testInstance.client.delete(`/api/destinations/${destination.id}`);
        await gone(`/api/destinations/${destination.id}`);
      }
      running.release();
      await records.workflowsEnd([running.deliveryId, waiting.delivery.id]);
      for (const { eventId } of [running, waiting]) {
        const delivery = await records.deliveryWith('cancelled', eventId);
        expect(delivery.error).to.equal('The destination was deleted');
        expect(await records.event(eventId)).to.include({ status: 'failed' });
      }
      const route = await testInstance.client.get<{ destinationIds: string[] }>(`/api/routes/${waiting.route.id}`);
      expect(route.destinationIds).to.deep.equal([]);
      expect(await records.queued()).to.equal(0);
    });

    it('a route lets its deliveries continue', async () => {
      const [running, waiting] = [await runningDelivery(), await waitingDelivery()];
      for (const { route } of [running, waiting]) await testInstance.client.delete(`/api/routes/${route.id}`);
      running.release();
      await act(waiting.delivery, 'retry');
      for (const { eventId } of [running, waiting]) await records.eventWith('delivered', eventId);
      await records.workflowsEnd([running.deliveryId, waiting.delivery.id]);
      const unrouted = await records.event(await records.accepted(running.source, '{}'));
      expect(unrouted).to.include({ routed: false });
    });

    it('an event ends its deliveries, running or waiting, and leaves nothing of it', async () => {
      const [running, waiting] = [await runningDelivery(), await waitingDelivery()];
      for (const { eventId } of [running, waiting]) {
        await testInstance.client.delete(`${testInstance.base}/events/${eventId}`);
        await gone(`${testInstance.base}/events/${eventId}`);
      }
      running.release();
      await records.workflowsEnd([running.deliveryId, waiting.delivery.id]);
      for (const id of [running.deliveryId, waiting.delivery.id]) await gone(`/api/deliveries/${id}`);
      const left = await rowsLeft([running.eventId, waiting.eventId]);
      expect(left).to.deep.equal({ payloads: 0, deliveries: 0, attempts: 0 });
      expect(await records.queued()).to.equal(0);
    });

    it('an event closes the workflows of its failed deliveries, which waited for a replay', async () => {
      const { source } = await records.pipe(receiver.endpoint(410).url);
      const eventId = await records.accepted(source, '{}');
      const failed = await records.deliveryWith('failed', eventId);
      const parked = testInstance.temporal.workflow.getHandle(failed.id);
      await until('the workflow to wait', async () => (await parked.query(status)).status === 'failed');
      await testInstance.client.delete(`${testInstance.base}/events/${eventId}`);
      await records.workflowsEnd([failed.id]);
      expect((await parked.describe()).status.name).to.equal('FAILED');
    });

    it('a source hides its events at once and ends their deliveries at their next attempt', async () => {
      const [running, waiting] = [await runningDelivery({ status: 500 }), await waitingDelivery(1000)];
      for (const { source, eventId } of [running, waiting]) {
        await testInstance.client.delete(`${testInstance.base}/sources/${source.id}`);
        await gone(`${testInstance.base}/events/${eventId}`);
        await gone(`/api/routes/${running.route.id}`);
        expect((await records.post(source, '{}')).status).to.equal(404);
      }
      running.release();
      await records.workflowsEnd([waiting.delivery.id]);
      expect(waiting.endpoint.requests).to.have.length(1);
      // The other one waits for its second attempt; it ends like the first when that comes.
      const workflow = testInstance.temporal.workflow.getHandle(running.deliveryId);
      await until('the attempt to be recorded', async () => (await workflow.query(status)).status === 'retrying');
      await workflow.signal(retryNow);
      await records.workflowsEnd([running.deliveryId]);
      expect(running.endpoint.requests).to.have.length(1);
      expect(await records.queued()).to.equal(0);
    });
  });

  async function rowsLeft(eventIds: string[]) {
    const rows = await selectRows<{ payloads: number; deliveries: number; attempts: number }>(testInstance.pool)`
      select (select count(*) from event_payloads where event_id = any(${eventIds})) as payloads,
      (select count(*) from deliveries where event_id = any(${eventIds})) as deliveries,
      (select count(*) from attempts a join deliveries d on d.id = a.delivery_id
      where d.event_id = any(${eventIds})) as attempts`;
    return rows[0];
  }

  it('replays a failed delivery once, however often its workflow asks because it got no answer', async () => {
    const { url } = receiver.endpoint(500, 200);
    const { eventId, delivery } = await records.deliver(url, '{}', 'failed');
    const replays = [];
    for (let ask = 0; ask < 2; ask += 1)
      replays.push(await replayOnce(testInstance.pool, testInstance.organizationId, delivery.id));
    expect(replays[0]).to.equal(replays[1]).and.to.match(/^dlv_/);
    expect((await records.event(eventId)).deliveries).to.have.length(2);
  });
});
