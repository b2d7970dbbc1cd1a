// Deliveries: list, get, retry, cancel, replay (DLV).
import { createServer, type Server } from 'node:http';
import { Client, Connection } from '@temporalio/client';
import { expect } from 'chai';
import { expectError, expectInvalid, type Json } from '../support/api-client.ts';
import {
  deliveriesOf,
  deliveryOf,
  forgetQueued,
  ingest,
  makeDestination,
  makePipeline,
  makeRoute,
  makeSource,
  type Pipeline,
  recordAttempt,
} from '../support/api-records.ts';
import { createOrganization, type Service, startService, testPool } from '../support/service.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const HOUR_MS = 3_600_000;

describe('Deliveries', () => {
  const organization = useOrganization();
  let pipeline: Pipeline;
  before(async () => {
    pipeline = await makePipeline(organization);
  });
  afterEach(() => forgetQueued(organization));
  const newDelivery = async () => {
    const eventId = await ingest(organization, pipeline.source, '{}');
    return { eventId, deliveryId: (await deliveryOf(organization, eventId)).id };
  };
  const get = (id: string) => organization.api.get<Json & { attempts: Json[] }>(`/api/deliveries/${id}`);

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

  it('filters the list', async () => {
    const own = await createOrganization();
    const [a, b] = [await makePipeline(own), await makePipeline(own)];
    const [inA, inB] = [await ingest(own, a.source, '{}'), await ingest(own, b.source, '{}')];
    const [ofA, ofB] = [await deliveryOf(own, inA), await deliveryOf(own, inB)];
    await recordAttempt({ eventId: inB, deliveryId: ofB.id });
    const ids = async (query: string) => (await own.api.list(`/api/deliveries?${query}`)).data.map(({ id }) => id);
    expect(await ids('')).to.deep.equal([ofB.id, ofA.id]);
    expect(await ids(`eventId=${inA}`)).to.deep.equal([ofA.id]);
    expect(await ids(`routeId=${b.route.id}`)).to.deep.equal([ofB.id]);
    expect(await ids(`destinationId=${a.destination.id}`)).to.deep.equal([ofA.id]);
    expect(await ids('status=delivered')).to.deep.equal([ofB.id]);
    expect(await ids('status=failed')).to.deep.equal([]);
    expect(await ids(`eventId=${inA}&status=delivered`)).to.deep.equal([]);
    expect(await ids('eventId=evt_unknown')).to.deep.equal([]);
    expect(await ids('pageSize=1&page=2')).to.deep.equal([ofA.id]);
    const total = async (query: string) => (await own.api.list(`/api/deliveries?${query}`)).pagination.total;
    expect(await total('pageSize=1&page=7')).to.equal(2);
    expect(await total(`eventId=${inA}&pageSize=1&page=7`)).to.equal(1);
    expect(await total('status=delivered')).to.equal(1);
    const { createdAt } = await own.api.get<{ createdAt: string }>(`/api/deliveries/${ofA.id}`);
    expect(await ids(`from=${createdAt}`)).to.include(ofA.id);
    expect(await ids(`to=${new Date(Date.parse(createdAt) - 1).toISOString()}`)).to.deep.equal([]);
    expectInvalid(await own.api.request('GET', '/api/deliveries?status=lost'), 'status');
    expectInvalid(await own.api.request('GET', '/api/deliveries?from=x'), 'from');
    await forgetQueued(own);
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
      expectError(
        await organization.api.request('POST', `/api/deliveries/${deliveryId}/retry`),
        409,
        'INVALID_STATE',
        /pending/,
      );
      await recordAttempt({ eventId, deliveryId, deliveryStatus: 'failed' });
      expectError(
        await organization.api.request('POST', `/api/deliveries/${deliveryId}/retry`),
        409,
        'INVALID_STATE',
        /replay/,
      );
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
      expectError(
        await organization.api.request('POST', `/api/deliveries/${deliveryId}/retry`),
        409,
        'INVALID_STATE',
        /ended/,
      );
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
    it('ends an open delivery, which then counts as not succeeded', async () => {
      const { eventId, deliveryId } = await newDelivery();
      const cancelled = await organization.api.post(`/api/deliveries/${deliveryId}/cancel`);
      expect(cancelled).to.include({ id: deliveryId, status: 'cancelled', nextAttemptAt: null });
      const event = await organization.api.get(`${organization.base}/events/${eventId}`);
      expect(event).to.include({ status: 'failed', deliveriesFailed: 1 });
    });
    it('answers 409 when it has ended', async () => {
      const { eventId, deliveryId } = await newDelivery();
      await recordAttempt({ eventId, deliveryId });
      expectError(
        await organization.api.request('POST', `/api/deliveries/${deliveryId}/cancel`),
        409,
        'INVALID_STATE',
        /delivered/,
      );
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
      expectError(
        await organization.api.request('POST', `/api/deliveries/${id}/replay`),
        409,
        'INVALID_STATE',
        /deleted/,
      );
    });
  });

  it('replays as a new delivery', async () => {
    const { eventId, deliveryId } = await newDelivery();
    await recordAttempt({ eventId, deliveryId, deliveryStatus: 'failed' });
    const result = await organization.api.post<{ deliveryId: string }>(`/api/deliveries/${deliveryId}/replay`);
    expect(result).to.include({ deliveriesCreated: 1 });
    expect(await get(result.deliveryId)).to.include({ status: 'pending', replayOf: deliveryId, eventId });
    expect(await organization.api.get(`${organization.base}/events/${eventId}`)).to.include({
      status: 'pending',
      deliveriesCount: 1,
      deliveriesFailed: 0,
    });
  });

  it('answers 404 for every path of an unknown delivery', async () => {
    for (const id of ['dlv_unknown', 'x']) {
      expectError(await organization.api.request('GET', `/api/deliveries/${id}`), 404, 'RESOURCE_NOT_FOUND');
      for (const action of ['retry', 'cancel', 'replay']) {
        expectError(
          await organization.api.request('POST', `/api/deliveries/${id}/${action}`),
          404,
          'RESOURCE_NOT_FOUND',
        );
      }
    }
  });

  describe('with a worker', () => {
    let worker: Service;
    let receiver: Server;
    let requests = 0;
    let deliveryId: string;
    before(async () => {
      receiver = createServer((_request, response) => {
        requests += 1;
        response.writeHead(500).end();
      });
      await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
      const bound = receiver.address();
      const url = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}/`;
      const source = await makeSource(organization);
      const hour = 3_600_000;
      const destination = await makeDestination(organization, {
        url,
        retryPolicy: { initialDelay: hour, maxDelay: hour },
      });
      await makeRoute(organization, source.id, [destination.id]);
      deliveryId = (await deliveryOf(organization, await ingest(organization, source, '{}'))).id;
      worker = await startService('worker');
      await until('the first attempt', async () => (await get(deliveryId)).status === 'retrying');
    });
    after(async () => {
      const code = await worker.stop();
      receiver.close();
      expect(code, 'it ends in order').to.equal(0);
    });

    it('retry makes the next attempt now', async () => {
      const before = requests;
      const result = await organization.api.post(`/api/deliveries/${deliveryId}/retry`);
      expect(result).to.include({ deliveryId });
      await until('the second attempt', async () => (await get(deliveryId)).attemptCount === 2);
      expect(requests).to.equal(before + 1);
    });

    it('cancel ends the workflow, so that a retry finds nothing to bring forward', async () => {
      await organization.api.post(`/api/deliveries/${deliveryId}/cancel`);
      expectError(
        await organization.api.request('POST', `/api/deliveries/${deliveryId}/retry`),
        409,
        'INVALID_STATE',
        /cancelled/,
      );
      expect(await get(deliveryId)).to.include({ status: 'cancelled', attemptCount: 2 });
    });
  });
});
