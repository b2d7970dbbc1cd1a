import { expect } from 'chai';
import { inTransaction } from '../../db/connections/pool.ts';
import { answerLater, breaker, switchedEndpoint } from '../support/workflows/circuits.ts';
import { NOT_PAUSED } from '../support/workflows/pauses.ts';
import type { SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

describe('circuit breaker', () => {
  const { testInstance, records, receiver, circuits } = useHookyard();

  const untilStatus = (eventId: string, wanted: string) => records.deliveryWith(wanted, eventId);
  const isPutOff = async (eventId: string) => (await records.deliveries(eventId))[0]?.nextAttemptAt != null;
  const send = (source: SourceView, body = '{"order":1}') => records.accepted(source, body);

  it('lets no attempt follow the one that opens it, however long PostgreSQL takes to hear of that', async () => {
    const { endpoint } = switchedEndpoint(receiver, 500);
    const { source, route } = await records.pipe(endpoint.url, { route: breaker() });
    await untilStatus(await send(source), 'failed');
    const witness = await records.pipe(receiver.endpoint().url);
    let late: string[] = [];
    await inTransaction(testInstance.pool, async (db) => {
      // Circuits can be read and not be written.
      await db.query('lock table circuits in exclusive mode');
      await send(source);
      await until('the attempt that opens it', () => endpoint.requests.length === 2);
      // Its answer was on its way before this delivery began, so the worker has read it by the time this one has ended.
      await untilStatus(await send(witness.source), 'delivered');
      late = await Promise.all(Array.from({ length: 5 }, () => send(source)));
      // Longer than an attempt waits to hear of the circuit.
      for (const eventId of late) await until('it to come back later', () => isPutOff(eventId));
    });
    await circuits.untilState(route, 'open');
    for (const eventId of late) await untilStatus(eventId, 'circuit_open');
    expect(endpoint.requests).to.have.length(2);
    await circuits.reset(route);
  });

  it('says what it is at every stage', async () => {
    const { endpoint, answer } = switchedEndpoint(receiver, 200);
    const { source, route } = await records.pipe(endpoint.url, { route: breaker() });
    const untouched = await circuits.status(route);
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
      ...NOT_PAUSED,
    });
    await untilStatus(await send(source), 'delivered');
    const healthy = await circuits.status(route);
    expect(healthy).to.include({ circuitState: 'closed', failureCount: 0, lastFailureAt: null, openedAt: null });
    expect(Date.parse(healthy.lastSuccessAt ?? '')).to.be.closeTo(Date.now(), 60_000);
    answer({ status: 500 });
    await untilStatus(await send(source), 'failed');
    const once = await until('the failure to be counted', async () => {
      const found = await circuits.status(route);
      return found.failureCount === 1 ? found : undefined;
    });
    expect(once).to.include({ circuitState: 'closed', openedAt: null });
    await untilStatus(await send(source), 'failed');
    const open = await circuits.untilState(route, 'open');
    expect(open).to.include({ failureCount: 2, probeSuccessCount: 0, lastSuccessAt: healthy.lastSuccessAt });
    expect(Date.parse(open.openedAt ?? '')).to.be.closeTo(Date.parse(open.lastFailureAt ?? ''), 60_000);
    expect(await testInstance.client.get(`/api/routes/${route.id}`)).to.include({ circuitState: 'open' });
    await circuits.reset(route);
    expect(await circuits.status(route)).to.include({ circuitState: 'closed', failureCount: 0, openedAt: null });
  });

  it('holds new deliveries while it is open, without an attempt, a workflow or a place in the queue', async () => {
    const { endpoint } = switchedEndpoint(receiver, 500);
    const { source, route } = await circuits.opened(endpoint);
    const seen = endpoint.requests.length;
    const delivery = await untilStatus(await send(source), 'circuit_open');
    expect(delivery).to.include({ attemptCount: 0, statusCode: null, nextAttemptAt: null });
    expect(endpoint.requests).to.have.length(seen);
    const described = await testInstance.temporal.workflow
      .getHandle(delivery.id)
      .describe()
      .catch((error: Error) => error.name);
    expect(described).to.equal('WorkflowNotFoundError');
    await until('the workflow of the circuit to run', async () => (await circuits.workflowStatus(route)) === 'RUNNING');
    await circuits.reset(route);
  });

  it('is half-open after the cooldown, sends one probe at a time, the oldest first, and closes', async () => {
    const { endpoint, answer } = switchedEndpoint(receiver, 500);
    const { source, route, failures } = await circuits.opened(endpoint, { circuitCooldownSeconds: 3600 });
    const waiting = [];
    for (const order of [1, 2, 3, 4]) waiting.push(await send(source, `{"order":${order}}`));
    await Promise.all(waiting.map((id) => untilStatus(id, 'circuit_open')));
    const { answer: later, letGo: letFirstGo } = answerLater(200);
    answer(later);
    await circuits.configure(route, { circuitCooldownSeconds: 1 });
    await until('the first probe to arrive', () => endpoint.requests.length === failures.length + 1);
    const halfOpen = { circuitState: 'half_open', openedAt: null, probeSuccessCount: 0 };
    expect(await circuits.status(route)).to.include(halfOpen);
    // The others stay where they are while the probe is under way.
    await untilStatus(waiting[1] ?? '', 'circuit_open');
    expect(endpoint.requests.at(-1)?.body.toString()).to.equal('{"order":1}');
    letFirstGo();
    await circuits.untilState(route, 'closed');
    await Promise.all(waiting.map((id) => untilStatus(id, 'delivered')));
    const orders = endpoint.requests.slice(failures.length).map(({ body }) => JSON.parse(body.toString()).order);
    expect(orders).to.have.members([1, 2, 3, 4]);
    expect(await circuits.status(route)).to.include({ failureCount: 0, probeSuccessCount: 0, openedAt: null });
    await circuits.ended(route);
  });
});
