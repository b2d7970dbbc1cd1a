// The circuit breaker: a destination that keeps failing is left alone, what comes meanwhile is held or fails over, and when
// it is back everything arrives.
import { expect } from 'chai';
import { inTransaction } from '../../db/pool.ts';
import { circuitWorkflowId, resetCircuit } from '../../workflows/messages.ts';
import { type Hookyard, sharedHookyard } from '../support/hookyard.ts';
import { type Answer, type Endpoint, type Receiver, startReceiver } from '../support/receiver.ts';
import { onceMore, Records, type RouteView, type SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';

interface CircuitStatus {
  circuitState: string;
  failureCount: number;
  failureThreshold: number;
  cooldownSeconds: number;
  lastFailureAt: string | null;
  lastSuccessAt: string | null;
  openedAt: string | null;
  probeSuccessCount: number;
  probeSuccessThreshold: number;
}

describe('circuit breaker', () => {
  let yard: Hookyard;
  let records: Records;
  let receiver: Receiver;
  before(async () => {
    [yard, receiver] = await Promise.all([sharedHookyard(), startReceiver()]);
    records = new Records(yard);
  });
  after(() => Promise.all([yard.close(), receiver.close()]));

  /** A destination whose answer can be changed at any time. */
  function switched(status: number): { endpoint: Endpoint; answer: (next: Answer) => void } {
    const current: Answer = { status };
    return {
      endpoint: receiver.endpoint(current),
      answer: (next) => Object.assign(current, { after: undefined, ...next }),
    };
  }

  const breaker = (fields: Record<string, unknown> = {}) => ({
    circuitFailureThreshold: 2,
    circuitCooldownSeconds: 3600,
    circuitProbeSuccessThreshold: 2,
    ...fields,
  });
  const status = (route: RouteView) => yard.client.get<CircuitStatus>(`/api/routes/${route.id}/circuit-status`);
  const configure = (route: RouteView, fields: Record<string, unknown>) =>
    yard.client.patch(`/api/routes/${route.id}/circuit-config`, fields);
  const reset = (route: RouteView) => yard.client.post(`/api/routes/${route.id}/reset-circuit`);

  const untilState = (route: RouteView, state: string) =>
    until(`the circuit to be ${state}`, async () => {
      const found = await status(route);
      if (found.circuitState !== state) throw new Error(JSON.stringify(found));
      return found;
    });
  const untilStatus = (eventId: string, wanted: string) => records.deliveryWith(wanted, eventId);
  const send = (source: SourceView, body = '{"order":1}') => records.accepted(source, body);

  /** A route whose circuit is open after two failed deliveries. */
  async function opened(
    destination: Endpoint,
    fields: Record<string, unknown> = {},
    retryPolicy: unknown = onceMore(0),
  ) {
    const made = await records.pipe(destination.url, { destination: { retryPolicy }, route: breaker(fields) });
    const failures = [await send(made.source), await send(made.source)];
    await untilState(made.route, 'open');
    return { ...made, failures };
  }

  const workflowStatus = async (route: RouteView) =>
    (await yard.temporal.workflow.getHandle(circuitWorkflowId(route.id)).describe()).status.name;
  const ended = (route: RouteView) =>
    until('the workflow of the circuit to end', async () => (await workflowStatus(route)) === 'COMPLETED');

  it('lets no attempt follow the one that opens it, however long PostgreSQL takes to hear of that', async () => {
    const { endpoint } = switched(500);
    const { source, route } = await records.pipe(endpoint.url, { route: breaker() });
    await untilStatus(await send(source), 'failed');
    const witness = await records.pipe(receiver.endpoint().url);
    const late: string[] = [];
    await inTransaction(yard.pool, async (db) => {
      // Circuits can be read and not be written.
      await db.query('lock table circuits in exclusive mode');
      await send(source);
      await until('the attempt that opens it', () => endpoint.requests.length === 2);
      // Its answer was on its way before this delivery began, so the worker has read it by the time this one has ended.
      await untilStatus(await send(witness.source), 'delivered');
      for (let count = 0; count < 5; count += 1) late.push(await send(source));
      await untilStatus(await send(witness.source), 'delivered');
    });
    await untilState(route, 'open');
    for (const eventId of late) await untilStatus(eventId, 'circuit_open');
    expect(endpoint.requests).to.have.length(2);
    await reset(route);
  });

  it('says what it is at every stage', async () => {
    const { endpoint, answer } = switched(200);
    const { source, route } = await records.pipe(endpoint.url, { route: breaker() });
    const untouched = await status(route);
    expect(untouched).to.deep.equal({
      circuitState: 'closed',
      failureCount: 0,
      failureThreshold: 2,
      cooldownSeconds: 3600,
      lastFailureAt: null,
      lastSuccessAt: null,
      openedAt: null,
      probeSuccessCount: 0,
      probeSuccessThreshold: 2,
    });
    await untilStatus(await send(source), 'delivered');
    const healthy = await status(route);
    expect(healthy).to.include({ circuitState: 'closed', failureCount: 0, lastFailureAt: null, openedAt: null });
    expect(Date.parse(healthy.lastSuccessAt ?? '')).to.be.closeTo(Date.now(), 60_000);
    answer({ status: 500 });
    await untilStatus(await send(source), 'failed');
    const once = await until('the failure to be counted', async () => {
      const found = await status(route);
      return found.failureCount === 1 ? found : undefined;
    });
    expect(once).to.include({ circuitState: 'closed', openedAt: null });
    await untilStatus(await send(source), 'failed');
    const open = await untilState(route, 'open');
    expect(open).to.include({ failureCount: 2, probeSuccessCount: 0, lastSuccessAt: healthy.lastSuccessAt });
    expect(Date.parse(open.openedAt ?? '')).to.be.closeTo(Date.parse(open.lastFailureAt ?? ''), 60_000);
    expect(await yard.client.get(`/api/routes/${route.id}`)).to.include({ circuitState: 'open' });
    await reset(route);
    expect(await status(route)).to.include({ circuitState: 'closed', failureCount: 0, openedAt: null });
  });

  it('counts consecutive failed attempts only: a success in between starts anew', async () => {
    const endpoint = receiver.endpoint(500, 200, 500, 200, 500, 500, 200);
    const { source, route } = await records.pipe(endpoint.url, {
      destination: { retryPolicy: onceMore(1) },
      route: breaker(),
    });
    await untilStatus(await send(source), 'delivered');
    await untilStatus(await send(source), 'delivered');
    expect(await status(route)).to.include({ circuitState: 'closed', failureCount: 0 });
    await untilStatus(await send(source), 'failed');
    await untilState(route, 'open');
  });

  it('holds new deliveries while it is open, without an attempt, a workflow or a place in the queue', async () => {
    const { endpoint } = switched(500);
    const { source, route } = await opened(endpoint);
    const seen = endpoint.requests.length;
    const delivery = await untilStatus(await send(source), 'circuit_open');
    expect(delivery).to.include({ attemptCount: 0, statusCode: null, nextAttemptAt: null });
    expect(endpoint.requests).to.have.length(seen);
    const described = await yard.temporal.workflow
      .getHandle(delivery.id)
      .describe()
      .catch((error: Error) => error.name);
    expect(described).to.equal('WorkflowNotFoundError');
    await until('the workflow of the circuit to run', async () => (await workflowStatus(route)) === 'RUNNING');
    await reset(route);
  });

  it('holds a delivery that was waiting for its retry, and makes no attempt of it', async () => {
    const { endpoint, answer } = switched(500);
    const { source, route } = await records.pipe(endpoint.url, {
      destination: { retryPolicy: onceMore(5, 20) },
      route: breaker({ circuitFailureThreshold: 3 }),
    });
    const eventId = await send(source);
    const delivery = await untilStatus(eventId, 'circuit_open');
    expect(delivery).to.include({ attemptCount: 3, error: 'The destination answered 500', nextAttemptAt: null });
    expect(endpoint.requests).to.have.length(3);
    answer({ status: 200 });
    await reset(route);
    expect(await untilStatus(eventId, 'delivered')).to.include({ attemptCount: 4 });
    await ended(route);
  });

  it('is half-open after the cooldown, sends one probe at a time, the oldest first, and closes', async () => {
    const { endpoint, answer } = switched(500);
    const { source, route, failures } = await opened(endpoint, { circuitCooldownSeconds: 3600 });
    const waiting = [];
    for (const order of [1, 2, 3, 4]) waiting.push(await send(source, `{"order":${order}}`));
    await Promise.all(waiting.map((id) => untilStatus(id, 'circuit_open')));
    let letFirstGo: () => void = () => undefined;
    answer({ status: 200, after: new Promise<void>((resolve) => (letFirstGo = resolve)) });
    await configure(route, { circuitCooldownSeconds: 1 });
    await until('the first probe to arrive', () => endpoint.requests.length === failures.length + 1);
    expect(await status(route)).to.include({ circuitState: 'half_open', openedAt: null, probeSuccessCount: 0 });
    // The others stay where they are while the probe is under way.
    await untilStatus(waiting[1] ?? '', 'circuit_open');
    expect(endpoint.requests.at(-1)?.body.toString()).to.equal('{"order":1}');
    letFirstGo();
    await untilState(route, 'closed');
    await Promise.all(waiting.map((id) => untilStatus(id, 'delivered')));
    expect(
      endpoint.requests.slice(failures.length).map(({ body }) => JSON.parse(body.toString()).order),
    ).to.have.members([1, 2, 3, 4]);
    expect(await status(route)).to.include({ failureCount: 0, probeSuccessCount: 0, openedAt: null });
    await ended(route);
  });

  it('opens again when a probe fails, and starts the cooldown anew', async () => {
    const { endpoint, answer } = switched(500);
    const { source, route } = await opened(endpoint, { circuitCooldownSeconds: 1 });
    const { openedAt } = await status(route);
    const eventId = await send(source);
    await untilStatus(eventId, 'failed');
    const again = await until('the circuit to open again', async () => {
      const found = await status(route);
      return found.circuitState === 'open' && found.openedAt !== openedAt ? found : undefined;
    });
    expect(again).to.include({ probeSuccessCount: 0, failureCount: 3 });
    answer({ status: 200 });
    const others = [await send(source), await send(source)];
    await Promise.all(others.map((id) => untilStatus(id, 'delivered')));
    await untilState(route, 'closed');
  });

  it('takes the next new delivery for a probe when nothing is held', async () => {
    const { endpoint, answer } = switched(500);
    const { source, route } = await opened(endpoint, { circuitCooldownSeconds: 1, circuitProbeSuccessThreshold: 1 });
    await untilState(route, 'half_open');
    answer({ status: 200 });
    await untilStatus(await send(source), 'delivered');
    await untilState(route, 'closed');
    await ended(route);
  });

  it('goes on with another probe when one ends without an attempt', async () => {
    const { endpoint, answer } = switched(500);
    const { source, route } = await opened(endpoint, { circuitProbeSuccessThreshold: 1 });
    const [first, second] = [await send(source), await send(source)];
    await Promise.all([first, second].map((id) => untilStatus(id, 'circuit_open')));
    let letGo: () => void = () => undefined;
    answer({ status: 200, after: new Promise<void>((resolve) => (letGo = resolve)) });
    await configure(route, { circuitCooldownSeconds: 1 });
    const probe = await untilStatus(first, 'pending');
    await yard.client.post(`/api/deliveries/${probe.id}/cancel`);
    await until('the second probe', async () => (await untilStatus(second, 'pending')).status === 'pending');
    letGo();
    await untilStatus(second, 'delivered');
    await untilState(route, 'closed');
  });

  it('fails over at once while it is open, and sends new deliveries as probes when it is half-open', async () => {
    const { endpoint, answer } = switched(500);
    const backup = receiver.endpoint(200);
    const failover = await records.destination(backup.url, { name: 'Backup' });
    const { source, route, destination } = await opened(
      endpoint,
      { failoverDestinationIds: [failover.id], failoverAfterAttempts: 50, circuitProbeSuccessThreshold: 1 },
      onceMore(3, 3_600_000),
    );
    const seen = endpoint.requests.length;
    const eventId = await send(source);
    const event = await records.eventWith('delivered', eventId);
    expect(event).to.include({ deliveriesCount: 1, deliveriesSucceeded: 1, deliveriesFailed: 0 });
    const [primary, second] = await records.deliveries(eventId);
    expect(primary).to.include({ status: 'failed_over', attemptCount: 0, destinationId: destination.id });
    expect(primary?.error).to.contain('circuit');
    expect(second).to.include({ status: 'delivered', failoverOf: primary?.id, destinationId: failover.id });
    const arrived = backup.requests.find(({ headers }) => headers['x-hookyard-event-id'] === eventId);
    expect(arrived?.headers).to.include({
      'x-hookyard-failover': 'true',
      'x-hookyard-original-destination': destination.id,
    });
    expect(arrived?.headers['x-hookyard-failure-reason']).to.contain('circuit');
    expect(endpoint.requests).to.have.length(seen);
    answer({ status: 200 });
    await configure(route, { circuitCooldownSeconds: 1 });
    await untilState(route, 'half_open');
    await untilStatus(await send(source), 'delivered');
    await untilState(route, 'closed');
    expect(endpoint.requests).to.have.length(seen + 1);
  });

  it('hands over what failed when it opened, without waiting for the retry', async () => {
    const { endpoint } = switched(500);
    const backup = receiver.endpoint(200);
    const failover = await records.destination(backup.url, { name: 'Backup' });
    const { failures, route } = await opened(
      endpoint,
      { failoverDestinationIds: [failover.id], failoverAfterAttempts: 50 },
      onceMore(3, 3_600_000),
    );
    // One of them opened it. The other waits for its retry, unless both were recorded together.
    const opener = await until('the one that opened it to be delivered', async () => {
      const events = await Promise.all(failures.map((id) => records.event(id)));
      return events.find((event) => event.status === 'delivered')?.id;
    });
    expect(backup.requests.map(({ headers }) => headers['x-hookyard-event-id'])).to.include(opener);
    await reset(route);
  });

  it('hands over what it holds when the route gets a failover destination', async () => {
    const { endpoint } = switched(500);
    const { source, route } = await opened(endpoint);
    const waiting = [await send(source), await send(source)];
    await Promise.all(waiting.map((id) => untilStatus(id, 'circuit_open')));
    const backup = receiver.endpoint(200);
    const failover = await records.destination(backup.url, { name: 'Backup' });
    await yard.client.patch(`/api/routes/${route.id}`, { failoverDestinationIds: [failover.id] });
    await Promise.all(waiting.map((id) => records.eventWith('delivered', id)));
    expect(backup.requests).to.have.length(2);
  });

  it('never counts attempts of failover destinations', async () => {
    const { endpoint } = switched(500);
    const backup = receiver.endpoint(500);
    const failover = await records.destination(backup.url, { name: 'Backup' });
    const { source, route } = await records.pipe(endpoint.url, {
      route: breaker({ circuitFailureThreshold: 3, failoverDestinationIds: [failover.id], failoverAfterAttempts: 1 }),
    });
    await records.eventWith('failed', await send(source));
    await records.eventWith('failed', await send(source));
    expect(backup.requests).to.have.length(2);
    expect(await status(route)).to.include({ circuitState: 'closed', failureCount: 2 });
  });

  it('can be reset during a probe; the probe ends as an ordinary attempt', async () => {
    const { endpoint, answer } = switched(500);
    const { source, route, failures } = await opened(endpoint, { circuitProbeSuccessThreshold: 3 });
    const eventId = await send(source);
    await untilStatus(eventId, 'circuit_open');
    let letGo: () => void = () => undefined;
    answer({ status: 500, after: new Promise<void>((resolve) => (letGo = resolve)) });
    await configure(route, { circuitCooldownSeconds: 1 });
    await until('the probe to arrive', () => endpoint.requests.length === failures.length + 1);
    expect(await reset(route)).to.include({ circuitState: 'closed' });
    letGo();
    await untilStatus(eventId, 'failed');
    await until('the failure to be counted', async () => (await status(route)).failureCount === 1);
    expect(await status(route)).to.include({ circuitState: 'closed' });
  });

  it('can be reset from the Temporal UI by a signal', async () => {
    const { endpoint, answer } = switched(500);
    const { source, route } = await opened(endpoint);
    const eventId = await send(source);
    await untilStatus(eventId, 'circuit_open');
    answer({ status: 200 });
    await until('the workflow of the circuit', () => workflowStatus(route));
    await yard.temporal.workflow.getHandle(circuitWorkflowId(route.id)).signal(resetCircuit);
    await untilStatus(eventId, 'delivered');
    expect(await status(route)).to.include({ circuitState: 'closed' });
  });

  it('releases what it holds when its route is deleted, and forgets the circuit', async () => {
    const { endpoint, answer } = switched(500);
    const { source, route } = await opened(endpoint);
    const eventId = await send(source);
    await untilStatus(eventId, 'circuit_open');
    answer({ status: 200 });
    await yard.client.delete(`/api/routes/${route.id}`);
    await untilStatus(eventId, 'delivered');
    await ended(route);
    const { rows } = await yard.pool.query('select from circuits where route_id = $1', [route.id]);
    expect(rows).to.have.length(0);
  });

  it('lets a held delivery be cancelled, and refuses to retry it with a hint', async () => {
    const { endpoint } = switched(500);
    const { source, route } = await opened(endpoint);
    const eventId = await send(source);
    const { id } = await untilStatus(eventId, 'circuit_open');
    const refused = await yard.client.request('POST', `/api/deliveries/${id}/retry`);
    expect(refused.status).to.equal(409);
    expect(refused.body).to.include({ code: 'INVALID_STATE' });
    expect((refused.body as { message: string }).message).to.contain('reset-circuit');
    await yard.client.post(`/api/deliveries/${id}/cancel`);
    await records.eventWith('failed', eventId);
    const { rows } = await yard.pool.query('select from held_deliveries where route_id = $1', [route.id]);
    expect(rows).to.have.length(0);
    await reset(route);
  });
});
