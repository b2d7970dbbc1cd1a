// The lane `adaptive`, which is the default: deliveries are workflows while the workers have room, else the relay makes
// the first attempts itself.
import { expect } from 'chai';
import { availableParallelism } from 'node:os';
import { PERMITS_PER_PROCESSOR } from '../../core/fairness/workflow-permits.ts';
import { status } from '../../workflows/signals-and-queries.ts';
import { freePorts } from '../../local/ports.ts';
import { MetricGrowth } from '../support/telemetry/metric-growth.ts';
import { type DeliveryView, onceMore, type SourceView } from '../support/records.ts';
import type { Service } from '../support/service.ts';
import { stackAddresses } from '../support/stack.ts';
import { startTcpProxy, type TcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const HOUR_MS = 3_600_000;
// Workflows that may wait for their first attempts.
const MAY_WAIT = PERMITS_PER_PROCESSOR * availableParallelism();
const BURST = 3 * MAY_WAIT;

describe('the lane adaptive', () => {
  const { testInstance, records, receiver } = useHookyard({});
  let temporal: TcpProxy;
  let worker: Service;
  let growth: MetricGrowth;
  before(async () => {
    temporal = await startTcpProxy(stackAddresses().temporalAddress);
    // Empty: not set, which is the default.
    const [port = 0] = await freePorts(1);
    worker = await testInstance.startWorker({
      ...{ HOOKYARD_LANE: '', TEMPORAL_ADDRESS: temporal.address, OTEL_EXPORTER_PROMETHEUS_PORT: String(port) },
    });
    growth = await MetricGrowth.since(port);
  });
  after(() => temporal.close());

  const send = (source: SourceView) => records.accepted(source, '{"order":1}');
  const sendMany = (source: SourceView, length = BURST) => Promise.all(Array.from({ length }, () => send(source)));
  const all = (ending: string, eventIds: string[]) =>
    Promise.all(eventIds.map((id) => records.deliveryWith(ending, id)));
  const inLane = (lane: string, deliveries: DeliveryView[]) => deliveries.filter((each) => each.lane === lane);
  const arrivals = (requests: { headers: Record<string, unknown> }[]) =>
    requests.map(({ headers }) => headers['x-hookyard-event-id']);
  const workflowOf = (id: string) => testInstance.temporal.workflow.getHandle(id);
  const lanesInUse = async () =>
    (await testInstance.client.get<{ lanes: { workflow: number; express: number } }>('/readyz?deep')).lanes;
  const messages = () =>
    worker
      .output()
      .split('\n')
      .filter((line) => line.includes('"lane":'))
      .map((line) => JSON.parse(line) as { msg: string; lane: string; pressure?: string });

  async function backToWorkflows(): Promise<void> {
    // The relay makes first attempts until two seconds after the last burst.
    await until('a delivery to be a workflow', async () => {
      const { source } = await records.pipe(receiver.endpoint(200).url);
      return (await records.deliveryWith('delivered', await send(source))).lane === 'workflow';
    });
    await until('the worker to say so', async () => (await lanesInUse()).workflow === 1);
    expect(messages().at(-1)).to.include({ lane: 'workflow' });
    expect(messages().at(-1)?.msg).to.match(/^the workflow lane has capacity/);
    await growth.grown(['hookyard_lane_changes_total', { to: 'workflow' }]);
  }

  it('makes every delivery a workflow while the worker has room', async () => {
    const { url } = receiver.endpoint(200);
    const eventIds: string[] = [];
    // More than may wait; each to a destination that no worker knows yet, so that any of them may make the attempt.
    const pipes = await Promise.all(Array.from({ length: MAY_WAIT + 1 }, () => records.pipe(url)));
    for (const { source } of pipes) {
      eventIds.push(await send(source));
      await records.deliveryWith('delivered', eventIds.at(-1) ?? '');
    }
    for (const { id, lane } of await all('delivered', eventIds)) {
      expect(lane).to.equal('workflow');
      expect(await workflowOf(id).result()).to.deep.equal({ status: 'delivered', attempts: 1 });
    }
    expect(await lanesInUse()).to.deep.equal({ workflow: 1, express: 0 });
    expect(messages()).to.deep.equal([]);
    expect(await testInstance.client.get('/readyz'), 'the plain probe').to.not.have.property('lanes');
  });

  it('makes the attempts of a burst in the relay, and returns to workflows; both continue alike', async () => {
    const endpoint = receiver.endpoint(...Array.from({ length: BURST }, () => 500), 200);
    const { source } = await records.pipe(endpoint.url, {
      destination: { retryPolicy: onceMore(1, HOUR_MS) },
      route: { circuitFailureThreshold: 10_000 },
    });
    const few = [await send(source), await send(source)];
    const workflow = await all('retrying', few);
    expect(inLane('workflow', workflow), 'workflows').to.have.length(few.length);
    // What comes meanwhile is claimed at once.
    process.kill(worker.pid, 'SIGSTOP');
    const burst = await sendMany(source, BURST - few.length).finally(() => process.kill(worker.pid, 'SIGCONT'));
    const express = await all('retrying', burst);
    expect(arrivals(endpoint.requests)).to.have.members([...few, ...burst]);
    expect(inLane('express', express), 'made by the relay').to.have.length(burst.length);
    expect(messages()[0]).to.include({ lane: 'express' });
    expect(messages()[0]?.pressure).to.equal('rate');
    expect(messages()[0]?.msg).to.match(/^the workflow lane cannot take all first attempts/);
    await growth.grown(['hookyard_lane_changes_total', { to: 'express' }]);
    await growth.grown(['hookyard_left_to_relay_total', { reason: messages()[0]?.pressure ?? '' }]);

    for (const [cancelled, retried] of [workflow, express]) {
      await testInstance.client.post(`/api/deliveries/${cancelled?.id}/cancel`);
      await records.deliveryWith('cancelled', cancelled?.eventId ?? '');
      await until('its workflow', () => workflowOf(retried?.id ?? '').query(status));
      await testInstance.client.post(`/api/deliveries/${retried?.id}/retry`);
      const delivered = await records.deliveryWith('delivered', retried?.eventId ?? '');
      expect(delivered).to.include({ attemptCount: 2, lane: retried?.lane });
      expect(await workflowOf(delivered.id).result()).to.deep.equal({ status: 'delivered', attempts: 2 });
      const { deliveryId } = await testInstance.client.post<{ deliveryId: string }>(
        `/api/deliveries/${cancelled?.id}/replay`,
      );
      await until('the replay', async () => (await records.delivery(deliveryId)).status === 'delivered');
    }
    expect(endpoint.requests).to.have.length(BURST + 4);
    expect(await records.queued()).to.equal(0);
    await backToWorkflows();
  });

  it('delivers while Temporal does not answer, and nothing twice when it does again', async () => {
    const endpoint = receiver.endpoint(200);
    const { source } = await records.pipe(endpoint.url);
    const { source: ofWorkflow } = await records.pipe(receiver.endpoint(200).url, { route: { lane: 'workflow' } });
    temporal.holdRequests();
    const waiting = await send(ofWorkflow);
    const eventIds = await sendMany(source);
    await until('all but the waiting workflows to arrive', () => endpoint.requests.length >= BURST - MAY_WAIT);
    await until('it to be seen', async () => (await lanesInUse()).express === 1);
    expect((await records.deliveries(waiting)).map(({ status }) => status)).to.deep.equal(['pending']);
    temporal.breakConnections();
    expect(await records.deliveryWith('delivered', waiting)).to.include({ lane: 'workflow' });
    const deliveries = await all('delivered', eventIds);
    expect(inLane('express', deliveries)).to.have.length.of.at.least(BURST - MAY_WAIT);
    expect(arrivals(endpoint.requests)).to.have.members(eventIds);
    expect(await records.queued()).to.equal(0);
    await backToWorkflows();
  });

  it('makes the attempt in the relay that a killed worker was making, and does not wait for Temporal to notice', async () => {
    const gate = Promise.withResolvers<void>();
    const endpoint = receiver.endpoint(200, { after: gate.promise });
    const { source } = await records.pipe(endpoint.url);
    await records.deliveryWith('delivered', await send(source));
    const eventId = await send(source);
    await until('the attempt', () => endpoint.requests.length === 2);
    process.kill(worker.pid, 'SIGKILL');
    worker = await testInstance.startWorker({ HOOKYARD_LANE: '' });
    await until('it to be made again', () => endpoint.requests.length === 3);
    gate.resolve();
    const delivered = await records.deliveryWith('delivered', eventId);
    expect(delivered).to.include({ lane: 'express', attemptCount: 1 });
    expect(await workflowOf(delivered.id).result()).to.deep.equal({ status: 'delivered', attempts: 1 });
    expect(endpoint.requests).to.have.length(3);
  });

  it('is only for routes that name no other lane', async () => {
    const { source, route } = await records.pipe(receiver.endpoint(200).url, { route: { lane: 'express' } });
    expect(await records.deliveryWith('delivered', await send(source))).to.include({ lane: 'express' });
    const changed = await testInstance.client.patch(`/api/routes/${route.id}`, { lane: 'adaptive' });
    expect(changed).to.include({ lane: 'adaptive' });
    await until('it to be a workflow', async () => {
      const { lane } = await records.deliveryWith('delivered', await send(source));
      return lane === 'workflow';
    });
  });
});
