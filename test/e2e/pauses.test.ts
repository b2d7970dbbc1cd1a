import { expect } from 'chai';
import { answerLater, breaker } from '../support/workflows/circuits.ts';
import { NOT_PAUSED, pause, resume, routePath } from '../support/workflows/pauses.ts';
import type { Endpoint } from '../support/receiver.ts';
import { onceMore, type RouteView, type SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { selectColumn, selectRows } from '../support/database/sql.ts';

const EVENTS = 30;
const PER_SECOND = 10;

describe('a paused route', () => {
  const { testInstance, records, receiver, circuits } = useHookyard();

  const untilStatus = (wanted: string, eventIds: string[]) =>
    Promise.all(eventIds.map((id) => records.deliveryWith(wanted, id)));
  const send = (source: SourceView, body = '{"order":1}') => records.accepted(source, body);
  const arrived = ({ requests }: Endpoint) => requests.map(({ headers }) => headers['x-hookyard-event-id']);
  /** The events of its deliveries, in the order of these. */
  function received(route: RouteView): Promise<string[]> {
    return selectColumn<string>(testInstance.pool)`select event_id as id from deliveries where route_id = ${route.id}
      order by id`;
  }
  /** A delivery by another route goes all the way, so relays and workers had time for what comes before it. */
  async function othersDeliver(): Promise<void> {
    const { source } = await records.pipe(receiver.endpoint().url);
    for (let n = 0; n < 5; n += 1) await records.deliveryWith('delivered', await send(source));
  }

  it('takes webhooks and sends nothing; resumed, it sends each once, in the order of receipt and at the rate', async () => {
    const endpoint = receiver.endpoint();
    // One at a time, so that none overtakes another.
    const { source, route } = await records.pipe(endpoint.url, { destination: { maxConcurrency: 1 } });
    const paused = await pause(testInstance, routePath(route), { reason: 'The CRM is moved' });
    expect(paused).to.include({ id: route.id, paused: true, pausedUntil: null, pauseReason: 'The CRM is moved' });
    const { id: _id, ...state } = paused;
    expect(await testInstance.client.get(routePath(route))).to.include({ ...state, circuitState: 'closed' });
    expect(await circuits.status(route)).to.include({ ...state, circuitState: 'closed' });

    const eventIds: string[] = [];
    for (let order = 0; order < EVENTS; order += 1) eventIds.push(await send(source, JSON.stringify({ order })));
    const [first] = await untilStatus('circuit_open', eventIds);
    expect(first).to.include({ attemptCount: 0, nextAttemptAt: null });
    expect(first?.holdReason).to.match(/^The route has been paused since .*: The CRM is moved$/);
    await othersDeliver();
    expect(endpoint.requests).to.have.length(0);

    const began = performance.now();
    expect(await resume(testInstance, routePath(route), { releasePerSecond: PER_SECOND })).to.deep.equal({
      id: route.id,
      ...NOT_PAUSED,
    });
    await untilStatus('delivered', eventIds);
    expect(performance.now() - began, 'at the rate').to.be.at.least(((EVENTS - 1) / PER_SECOND) * 900);
    expect(arrived(endpoint)).to.deep.equal(await received(route));
    expect(await testInstance.client.get(routePath(route))).to.include(NOT_PAUSED);
    await circuits.ended(route);
    const rows = await selectRows(testInstance.pool)`select release_per_second as rate from circuits
      where route_id = ${route.id}`;
    expect(rows, 'the next release has the usual rate').to.deep.equal([{ rate: null }]);
  });

  it('lets a delivery wait that waits for its retry, and one whose attempt is under way, without an attempt', async () => {
    const { answer, letGo } = answerLater(500);
    const endpoint = receiver.endpoint(500, answer, 200);
    const { source, route } = await records.pipe(endpoint.url, { destination: { retryPolicy: onceMore(2, 2000) } });
    const retrying = await send(source);
    await records.deliveryWith('retrying', retrying);
    const underWay = await send(source);
    await until('its attempt', () => endpoint.requests.length === 2);
    await pause(testInstance, routePath(route));
    letGo();
    for (const delivery of await untilStatus('circuit_open', [retrying, underWay])) {
      expect(delivery).to.include({ attemptCount: 1, statusCode: 500 });
    }
    await othersDeliver();
    expect(endpoint.requests).to.have.length(2);
    await resume(testInstance, routePath(route));
    for (const delivery of await untilStatus('delivered', [retrying, underWay])) {
      expect(delivery).to.include({ attemptCount: 2 });
    }
  });

  it('continues by itself at the time that was given, and a repeated pause changes that and the reason only', async () => {
    const { source, route } = await records.pipe(receiver.endpoint().url);
    const first = await pause(testInstance, routePath(route), { reason: 'First' });
    const eventId = await send(source);
    await untilStatus('circuit_open', [eventId]);
    const soon = new Date(Date.now() + 3000).toISOString();
    expect(await pause(testInstance, routePath(route), { until: soon })).to.deep.equal({
      id: route.id,
      paused: true,
      pausedSince: first.pausedSince,
      pausedUntil: soon,
      pauseReason: null,
    });
    const delivery = await records.deliveryWith('delivered', eventId);
    expect(Date.parse(delivery.deliveredAt ?? '')).to.be.at.least(Date.parse(soon) - 100);
    expect(await testInstance.client.get(routePath(route))).to.include(NOT_PAUSED);
  });

  it('holds what a failover destination has taken over, and lets it continue although the circuit is open', async () => {
    const [endpoint, backup] = [receiver.endpoint(500), receiver.endpoint(500, 200)];
    const failover = await records.destination(backup.url, { name: 'Backup', retryPolicy: onceMore(2, 2000) });
    const { source, route } = await records.pipe(endpoint.url, {
      route: breaker({ circuitFailureThreshold: 1, failoverDestinationIds: [failover.id], failoverAfterAttempts: 1 }),
    });
    const eventId = await send(source);
    const statusOf = async () => (await records.deliveries(eventId)).map(({ status }) => status).join();
    await until('the second one to wait for its retry', async () => (await statusOf()) === 'failed_over,retrying');
    await circuits.untilState(route, 'open');
    await pause(testInstance, routePath(route));
    await until('it to be held', async () => (await statusOf()) === 'failed_over,circuit_open');
    const [, held] = await records.deliveries(eventId);
    expect(held?.holdReason).to.match(/^The route has been paused/);
    expect(backup.requests).to.have.length(1);
    await resume(testInstance, routePath(route));
    await until('it to be delivered', async () => (await statusOf()) === 'failed_over,delivered');
    expect(await circuits.status(route)).to.include({ circuitState: 'open' });
    expect([endpoint.requests.length, backup.requests.length]).to.deep.equal([1, 2]);
  });

  it('holds replays: of a delivery, of an event, and of events by a filter', async () => {
    const endpoint = receiver.endpoint();
    const { source, route } = await records.pipe(endpoint.url);
    const eventIds = [await send(source), await send(source), await send(source)];
    const [delivery] = await untilStatus('delivered', eventIds);
    await pause(testInstance, routePath(route));
    const [, event] = eventIds;
    await testInstance.client.post(`/api/deliveries/${delivery?.id}/replay`);
    await testInstance.client.post(`${testInstance.base}/events/${event}/replay`, {});
    await testInstance.client.post(`${testInstance.base}/events/replay`, { sourceId: source.id, ratePerSecond: 10 });
    const statuses = async () => (await Promise.all(eventIds.map((id) => records.deliveries(id)))).flat();
    await until('all to be held', async () => {
      const held = (await statuses()).map(({ status }) => status);
      return held.join() === Array(3).fill('delivered,circuit_open').join();
    });
    await othersDeliver();
    expect(endpoint.requests).to.have.length(3);
    await resume(testInstance, routePath(route));
    await until('all to be delivered', async () => (await statuses()).every(({ status }) => status === 'delivered'));
    expect(endpoint.requests).to.have.length(6);
  });
});
