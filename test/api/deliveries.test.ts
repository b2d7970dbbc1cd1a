import { Client, Connection } from '@temporalio/client';
import { expect } from 'chai';
import { expectError, type Json } from '../support/api-client.ts';
import {
  deliveriesOf,
  deliveryOf,
  forgetQueued,
  ingest,
  makeDestination,
  makePipeline,
  makeRoute,
  makeSource,
  recordAttempt,
} from '../support/api-records.ts';
import { testPool } from '../support/service.ts';
import { stackAddresses } from '../support/stack.ts';
import { useMade, useOrganization } from '../support/use-hookyard.ts';

const HOUR_MS = 3_600_000;

describe('Deliveries', () => {
  const organization = useOrganization();
  const pipeline = useMade('a pipeline', () => makePipeline(organization));
  afterEach(() => forgetQueued(organization));
  const newDelivery = async () => {
    const eventId = await ingest(organization, pipeline.source, '{}');
    return { eventId, deliveryId: (await deliveryOf(organization, eventId)).id };
  };
  const get = (id: string) => organization.api.get<Json & { attempts: Json[] }>(`/api/deliveries/${id}`);

  const act = (id: string, action: string) => organization.api.request('POST', `/api/deliveries/${id}/${action}`);

  it('shows a delivery with its attempts', async () => {
    const { eventId, deliveryId } = await newDelivery();
    await recordAttempt({
      eventId,
      deliveryId,
      deliveryStatus: 'retrying',
      statusCode: null,
      error: 'Connection refused',
      latency: 3,
      retryInMs: HOUR_MS,
    });
    const waiting = await get(deliveryId);
    expect(waiting).to.deep.include({
      id: deliveryId,
      eventId,
      routeId: pipeline.route.id,
      destinationId: pipeline.destination.id,
      status: 'retrying',
      attemptCount: 1,
      latency: 3,
      statusCode: null,
      error: 'Connection refused',
      deliveredAt: null,
      failoverOf: null,
      replayOf: null,
      replayedBy: null,
      workflowId: deliveryId,
    });
    expect(Date.parse(String(waiting.nextAttemptAt)) - Date.now()).to.be.closeTo(HOUR_MS, HOUR_MS / 2);
    expect(waiting.temporalUrl).to.match(new RegExp(`/namespaces/[^/]+/workflows/${deliveryId}$`));
    const completedAt = new Date();
    await recordAttempt({ eventId, deliveryId, attemptNumber: 2, latency: 40, completedAt });
    const delivered = await get(deliveryId);
    expect(delivered).to.include({
      status: 'delivered',
      attemptCount: 2,
      statusCode: 200,
      error: null,
      nextAttemptAt: null,
      deliveredAt: completedAt.toISOString(),
    });
    expect(delivered.attempts).to.have.length(2);
    expect(delivered.attempts[0]).to.deep.include({
      attemptNumber: 1,
      status: 'failed',
      statusCode: null,
      error: 'Connection refused',
      responseHeaders: null,
      responseBody: null,
    });
    expect(delivered.attempts[1]).to.deep.include({
      attemptNumber: 2,
      startedAt: new Date(completedAt.getTime() - 40).toISOString(),
      completedAt: completedAt.toISOString(),
      status: 'success',
      statusCode: 200,
      error: null,
      latency: 40,
      requestHeaders: { 'Content-Type': 'application/json', Authorization: '••••' },
      responseHeaders: { server: 'test' },
      responseBody: 'thanks',
    });
  });

  it('records a delivery to a disabled destination as skipped, which can be replayed', async () => {
    const source = await makeSource(organization);
    const destination = await makeDestination(organization, { enabled: false });
    await makeRoute(organization, source.id, [destination.id]);
    const eventId = await ingest(organization, source, '{}');
    const skipped = await deliveryOf(organization, eventId);
    expect(await get(skipped.id)).to.include({ status: 'skipped', workflowId: null, temporalUrl: null });
    await organization.api.patch(`/api/destinations/${destination.id}`, { enabled: true });
    await organization.api.post(`/api/deliveries/${skipped.id}/replay`);
    expect((await deliveriesOf(organization, eventId)).map(({ status }) => status)).to.deep.equal([
      'skipped',
      'pending',
    ]);
  });

  describe('retry', () => {
    it('answers 409 before the first attempt, and after the last', async () => {
      const { eventId, deliveryId } = await newDelivery();
      expectError(await act(deliveryId, 'retry'), 409, 'INVALID_STATE');
      await recordAttempt({ eventId, deliveryId, deliveryStatus: 'failed' });
      expectError(await act(deliveryId, 'retry'), 409, 'INVALID_STATE');
    });
    it('answers 409 when someone has ended the workflow, and the delivery has failed then', async () => {
      const { eventId, deliveryId } = await newDelivery();
      await recordAttempt({ eventId, deliveryId, deliveryStatus: 'retrying' });
      const { temporalAddress, namespace } = stackAddresses();
      const connection = await Connection.connect({ address: temporalAddress });
      const temporal = new Client({ connection, namespace });
      const workflow = await temporal.workflow.start('delivery', { workflowId: deliveryId, taskQueue: 'of nobody' });
      await workflow.terminate('a test');
      await connection.close();
      expectError(await act(deliveryId, 'retry'), 409, 'INVALID_STATE');
      expect(await get(deliveryId)).to.include({ status: 'failed' });
    });
    it('queues a delivery again whose workflow Temporal has lost', async () => {
      const { eventId, deliveryId } = await newDelivery();
      await recordAttempt({ eventId, deliveryId, deliveryStatus: 'retrying' });
      expect(await organization.api.post(`/api/deliveries/${deliveryId}/retry`)).to.include({ deliveryId });
      const { rowCount } = await testPool().query('select from outbox where delivery_id = $1', [deliveryId]);
      expect(rowCount).to.equal(1);
      expect(await get(deliveryId)).to.include({ status: 'retrying', attemptCount: 1 });
    });
  });

  describe('cancel', () => {
    it('answers 409 when it has ended', async () => {
      const { eventId, deliveryId } = await newDelivery();
      await recordAttempt({ eventId, deliveryId });
      expectError(await act(deliveryId, 'cancel'), 409, 'INVALID_STATE');
      expect(await get(deliveryId)).to.include({ status: 'delivered' });
    });
    it('happens to the open deliveries of a deleted destination, whose history is kept', async () => {
      const own = await makePipeline(organization);
      const eventId = await ingest(organization, own.source, '{}');
      const { id } = await deliveryOf(organization, eventId);
      await organization.api.delete(`/api/destinations/${own.destination.id}`);
      expect(await get(id)).to.include({ status: 'cancelled', destinationId: own.destination.id });
      const timeline = await organization.api.get<{ deliveries: Json[] }>(
        `${organization.base}/events/${eventId}/timeline`,
      );
      expect(timeline.deliveries[0]).to.include({ destinationId: own.destination.id, destinationName: '(deleted)' });
      expectError(await act(id, 'replay'), 409, 'INVALID_STATE');
    });
  });

  it('replays as a new delivery', async () => {
    const { eventId, deliveryId } = await newDelivery();
    await recordAttempt({ eventId, deliveryId, deliveryStatus: 'failed' });
    const result = await organization.api.post<{ deliveryId: string }>(`/api/deliveries/${deliveryId}/replay`);
    expect(result).to.include({ deliveriesCreated: 1 });
    expect(await get(result.deliveryId)).to.include({ status: 'pending', replayOf: deliveryId, eventId });
    const reopened = { status: 'pending', deliveriesCount: 1, deliveriesFailed: 0 };
    expect(await organization.api.get(`${organization.base}/events/${eventId}`)).to.include(reopened);
    const { createdAt } = await get(result.deliveryId);
    const replayedBy = { id: result.deliveryId, status: 'pending', createdAt };
    expect(await get(deliveryId)).to.deep.include({ status: 'failed', replayedBy });
    expect((await deliveriesOf(organization, eventId))[0]).to.deep.include({ id: deliveryId, replayedBy });
  });

  it('are listed and counted by whether they were replayed', async () => {
    const own = await makePipeline(organization);
    const made = [];
    for (let n = 0; n < 2; n += 1) {
      const eventId = await ingest(organization, own.source, '{}');
      const deliveryId = (await deliveryOf(organization, eventId)).id;
      await recordAttempt({ eventId, deliveryId, deliveryStatus: 'failed' });
      made.push({ eventId, deliveryId });
    }
    const [replayed, other] = made.map(({ deliveryId }) => deliveryId);
    const again = await organization.api.post<{ deliveryId: string }>(`/api/deliveries/${replayed}/replay`);
    const found = async (filter: object) => {
      const query = new URLSearchParams({ destinationId: own.destination.id, ...filter });
      const { data, pagination } = await organization.api.get<{ data: Json[]; pagination: Json }>(
        `/api/deliveries?${query}`,
      );
      expect(pagination.total).to.equal(data.length);
      return data.map(({ id }) => id);
    };
    expect(await found({ status: 'failed', replayed: 'false' })).to.deep.equal([other]);
    expect(await found({ status: 'failed', replayed: 'true' })).to.deep.equal([replayed]);
    expect(await found({ replayed: 'false' })).to.have.members([again.deliveryId, other]);
    expect(await found({ isReplay: 'true' })).to.deep.equal([again.deliveryId]);
    expect(await found({ isReplay: 'false' })).to.have.members([replayed, other]);
    expect(await found({ replayed: 'true', eventId: String(made[0]?.eventId) })).to.deep.equal([replayed]);
    const preview = { action: 'replay', destinationId: own.destination.id, status: ['failed'], dryRun: true };
    const count = (filter: object) => organization.api.post('/api/deliveries/bulk', { ...preview, ...filter });
    expect(await count({ replayed: false })).to.include({ deliveriesFound: 1 });
    expect(await count({})).to.include({ deliveriesFound: 2 });
  });
});
