import { expect } from 'chai';
import { inTransaction } from '../../db/connections/pool.ts';
import { type DeliveryView, onceMore, type RouteView, type SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

// Where the limit of a destination starts.
const PLACES = 50;

describe('lanes', () => {
  const { testInstance, records, receiver } = useHookyard({});
  before(() => testInstance.startWorker({ HOOKYARD_LANE: 'workflow', TEMPORAL_UI_URL: 'https://temporal.example' }));

  const express = (fields: { endpoint: { url: string }; retryPolicy?: unknown; route?: Record<string, unknown> }) =>
    records.pipe(fields.endpoint.url, {
      destination: { retryPolicy: fields.retryPolicy ?? onceMore(0) },
      route: { lane: 'express', ...fields.route },
    });
  const workflowOf = ({ id }: DeliveryView) => testInstance.temporal.workflow.getHandle(id);
  const workflowName = (delivery: DeliveryView) =>
    workflowOf(delivery)
      .describe()
      .then(({ status: { name } }) => name)
      .catch((error: Error) => error.name);
  const send = (source: SourceView) => records.accepted(source, '{"order":1}');

  it('send a destination that answers the next deliveries, however long its results take to be recorded', async () => {
    const endpoint = receiver.endpoint(200);
    const { source } = await express({ endpoint });
    const eventIds = await inTransaction(testInstance.pool, async (db) => {
      // Only the recording of results writes it.
      await db.query('lock table attempts in exclusive mode');
      const sent = await Promise.all(Array.from({ length: PLACES + 10 }, () => send(source)));
      await until('all of them to arrive', () => endpoint.requests.length === sent.length);
      return sent;
    });
    for (const eventId of eventIds) await records.deliveryWith('delivered', eventId);
    expect(endpoint.requests).to.have.length(eventIds.length);
  });

  it('is that of the service unless the route names one, and is shown only then', async () => {
    const endpoint = receiver.endpoint(200);
    const { source, route } = await records.pipe(endpoint.url);
    expect(route).to.not.have.property('lane');
    const plain = await records.deliveryWith('delivered', await send(source));
    expect(plain.lane).to.equal('workflow');
    expect(await workflowOf(plain).result()).to.include({ status: 'delivered' });
    const changed = await testInstance.client.patch<RouteView & { lane: string }>(`/api/routes/${route.id}`, {
      lane: 'express',
    });
    expect(changed.lane).to.equal('express');
    // The relay learns of it within a second.
    const fast = await until('a delivery in the express lane', async () => {
      const delivery = await records.deliveryWith('delivered', await send(source));
      return delivery.lane === 'express' ? delivery : undefined;
    });
    expect(fast).to.include({ attemptCount: 1, temporalUrl: null });
    expect(await workflowName(fast)).to.equal('WorkflowNotFoundError');
    expect(await testInstance.client.patch(`/api/routes/${route.id}`, { lane: null })).to.not.have.property('lane');
    const refused = await testInstance.client.request('PATCH', `/api/routes/${route.id}`, { lane: 'scenic' });
    expect(refused.status).to.equal(400);
  });

  it('leaves the retries to a workflow, which continues with attempt 2', async () => {
    const endpoint = receiver.endpoint(500, 503, 200);
    const { source } = await express({ endpoint, retryPolicy: onceMore(5) });
    const delivery = await records.deliveryWith('delivered', await send(source));
    expect(delivery).to.include({ attemptCount: 3, lane: 'express' });
    expect(delivery.attempts.map(({ statusCode }) => statusCode)).to.deep.equal([500, 503, 200]);
    expect(endpoint.requests.map(({ headers }) => headers['x-hookyard-attempt'])).to.deep.equal(['1', '2', '3']);
    expect(await workflowOf(delivery).result()).to.deep.equal({ status: 'delivered', attempts: 3 });
    expect(delivery.temporalUrl).to.contain(delivery.id);
    expect(await records.queued()).to.equal(0);
  });

  it('lets a delivery be cancelled during its attempt', async () => {
    let letGo: () => void = () => undefined;
    const endpoint = receiver.endpoint({ status: 500, after: new Promise<void>((resolve) => (letGo = resolve)) });
    const { source } = await express({ endpoint, retryPolicy: onceMore(5) });
    const eventId = await send(source);
    await until('the attempt to arrive', () => endpoint.requests.length === 1);
    const [pending] = await records.deliveries(eventId);
    await testInstance.client.post(`/api/deliveries/${pending?.id}/cancel`);
    letGo();
    const delivery = await until('the attempt in the history', async () => {
      const found = await records.delivery(pending?.id ?? '');
      return found.attempts.length === 1 ? found : undefined;
    });
    expect(delivery.status).to.equal('cancelled');
    expect(await workflowName(delivery)).to.equal('WorkflowNotFoundError');
    expect(endpoint.requests).to.have.length(1);
  });
});

describe('routes of the lane workflow in a worker of the lane express', () => {
  // Of one organization in a worker (worker/worker.ts).
  const MOST_WORKFLOWS = 200;
  const { testInstance, records, receiver } = useHookyard({});
  before(() => testInstance.startWorker({ HOOKYARD_LANE: 'express' }));

  it('do not fill the slots of activities: the relay attempts what is too much, and other routes do not wait', async () => {
    const gate = Promise.withResolvers<void>();
    const slow = receiver.endpoint({ after: gate.promise });
    const slowSources = await Promise.all(
      Array.from({ length: 6 }, () =>
        records.pipe(slow.url, { destination: { timeoutMs: 60_000 }, route: { lane: 'workflow' } }),
      ),
    );
    const send = ({ source }: { source: SourceView }) => records.accepted(source, '{"order":1}');
    const held = await Promise.all(slowSources.map(send));
    await until('workflows', () => slow.requests.length === held.length);
    const more = slowSources.flatMap((pipe) => Array.from({ length: PLACES - 1 }, () => send(pipe)));
    held.push(...(await Promise.all(more)));
    await until('all of them', () => slow.requests.length === held.length);
    const quick = await records.pipe(receiver.endpoint(200).url);
    expect(await records.deliveryWith('delivered', await send(quick))).to.include({ lane: 'express' });
    gate.resolve();
    const lanes = { workflow: 0, express: 0 };
    for (const eventId of held) {
      const { lane, attemptCount } = await records.deliveryWith('delivered', eventId);
      expect(attemptCount).to.equal(1);
      lanes[lane as 'workflow' | 'express'] += 1;
    }
    expect(lanes.workflow).to.be.within(1, MOST_WORKFLOWS);
    expect(lanes.express).to.equal(held.length - lanes.workflow);
    expect(slow.requests).to.have.length(held.length);
  });
});
