// Events that go to several destinations: who gets them and when, what the event's status says, and what is counted.
import { expect } from 'chai';
import type { Answer } from '../support/receiver.ts';
import { type DestinationView, onceMore, type RouteView, type SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

// Where the limit of a destination starts.
const IN_FLIGHT_PER_DESTINATION = 50;

describe('routing', () => {
  const { testInstance, records, receiver } = useHookyard();

  it('delivers one event to every destination of every enabled route of its source', async () => {
    const endpoints = [receiver.endpoint(200), receiver.endpoint(200), receiver.endpoint(200)];
    const ids = (await Promise.all(endpoints.map(({ url }) => records.destination(url)))).map(({ id }) => id);
    const source = await records.source();
    const routes = [await records.route(source.id, ids.slice(0, 2)), await records.route(source.id, ids.slice(2))];
    const event = await records.eventWith('delivered', await records.accepted(source, '{"n":1}'));
    expect(endpoints.map(({ requests }) => requests.length)).to.deep.equal([1, 1, 1]);
    expect(event).to.include({ routed: true, deliveriesCount: 3, deliveriesSucceeded: 3, deliveriesFailed: 0 });
    const taken = (event.deliveries ?? []).map((delivery) => [delivery.routeId, delivery.destinationId]);
    expect(taken).to.have.deep.members([
      [routes[0]?.id, ids[0]],
      [routes[0]?.id, ids[1]],
      [routes[1]?.id, ids[2]],
    ]);
  });

  it('does not deliver by a disabled route, nor by one of another source', async () => {
    const endpoint = receiver.endpoint(200);
    const { source, route, destination } = await records.pipe(endpoint.url);
    const other = await records.source();
    await testInstance.client.patch(`/api/routes/${route.id}`, { enabled: false });
    for (const quiet of [source, other]) {
      const event = await records.event(await records.accepted(quiet, '{}'));
      expect(event).to.include({ status: 'delivered', routed: false, deliveriesCount: 0 });
    }
    await testInstance.client.patch(`/api/routes/${route.id}`, { enabled: true });
    await records.eventWith('delivered', await records.accepted(source, '{}'));
    expect(endpoint.requests).to.have.length(1);
    expect(endpoint.requests[0]?.headers['x-hookyard-source']).to.equal(source.slug);
    expect(destination.id).to.be.a('string');
  });

  it('records the delivery to a disabled destination as skipped, which does not count', async () => {
    const [on, off] = [receiver.endpoint(200), receiver.endpoint(200)];
    const enabled = await records.destination(on.url);
    const disabled = await records.destination(off.url, { enabled: false });
    const source = await records.source();
    await records.route(source.id, [enabled.id, disabled.id]);
    const event = await records.eventWith('delivered', await records.accepted(source, '{}'));
    expect(event).to.include({ deliveriesCount: 1, deliveriesSucceeded: 1 });
    const skipped = event.deliveries?.find((delivery) => delivery.destinationId === disabled.id);
    expect(skipped).to.include({ status: 'skipped', attemptCount: 0, error: 'The destination is disabled' });
    expect(off.requests).to.have.length(0);
  });

  it('takes a higher priority first when a destination is busy', async () => {
    const gates = Array.from({ length: IN_FLIGHT_PER_DESTINATION }, () => Promise.withResolvers<void>());
    const endpoint = receiver.endpoint(...gates.map((gate): Answer => ({ after: gate.promise })), 200);
    const low = await records.pipe(endpoint.url);
    const high = await records.source();
    await records.route(high.id, [low.destination.id], { priority: 10 });
    const waiting = await Promise.all(
      Array.from({ length: IN_FLIGHT_PER_DESTINATION + 5 }, () => records.accepted(low.source, '{}')),
    );
    await until('the destination to be busy', () => endpoint.requests.length === IN_FLIGHT_PER_DESTINATION);
    const urgent = await records.accepted(high, '{}');
    gates[0]?.resolve();
    // An answer may raise the limit of the destination by one as well: then two are next.
    await until('the next delivery', () => endpoint.requests[IN_FLIGHT_PER_DESTINATION]);
    const isUrgent = ({ headers }: (typeof endpoint.requests)[number]) => headers['x-hookyard-event-id'] === urgent;
    const next = () => endpoint.requests.slice(IN_FLIGHT_PER_DESTINATION, IN_FLIGHT_PER_DESTINATION + 2);
    await until('the urgent one to be among them', () => next().some(isUrgent));
    for (const gate of gates) gate.resolve();
    for (const eventId of [...waiting, urgent]) await records.eventWith('delivered', eventId);
  });

  it('continues delivering to others while one destination answers nothing', async () => {
    const gate = Promise.withResolvers<void>();
    const stuck = await records.pipe(receiver.endpoint({ after: gate.promise }).url);
    const lively = await records.pipe(receiver.endpoint(200).url);
    const held = await Promise.all(
      Array.from({ length: 2 * IN_FLIGHT_PER_DESTINATION }, () => records.accepted(stuck.source, '{}')),
    );
    await records.eventWith('delivered', await records.accepted(lively.source, '{}'));
    gate.resolve();
    for (const eventId of held) await records.eventWith('delivered', eventId);
  });

  describe('shows the status of an event', () => {
    const deliverTo = async (...answers: Answer[]): Promise<string> => {
      const source = await records.source();
      const ids: string[] = [];
      for (const answer of answers) ids.push((await records.destination(receiver.endpoint(answer).url)).id);
      await records.route(source.id, ids);
      return records.accepted(source, '{}');
    };

    it('pending while a delivery is open, then delivered', async () => {
      const gate = Promise.withResolvers<void>();
      const eventId = await deliverTo({ status: 200 }, { after: gate.promise });
      const open = await until('the first delivery', async () => {
        const event = await records.event(eventId);
        return event.deliveriesSucceeded === 1 && event;
      });
      expect(open.status).to.equal('pending');
      gate.resolve();
      await records.eventWith('delivered', eventId);
    });

    it('partial when some deliveries failed', async () => {
      const event = await records.eventWith('partial', await deliverTo({ status: 200 }, { status: 410 }));
      expect(event).to.include({ deliveriesCount: 2, deliveriesSucceeded: 1, deliveriesFailed: 1 });
    });

    it('failed when all failed', async () => {
      const event = await records.eventWith('failed', await deliverTo({ status: 410 }, { status: 410 }));
      expect(event).to.include({ deliveriesCount: 2, deliveriesSucceeded: 0, deliveriesFailed: 2 });
    });
  });

  it('tells in the timeline when an event was received, validated, queued and attempted', async () => {
    const { source, destination } = await records.pipe(receiver.endpoint(503, 200).url, {
      destination: { retryPolicy: onceMore(1) },
    });
    const eventId = await records.accepted(source, '{}');
    await records.eventWith('delivered', eventId);
    const timeline = await testInstance.client.get<Timeline>(`${testInstance.base}/events/${eventId}/timeline`);
    expect(timeline.deliveries).to.have.length(1);
    const [delivery] = timeline.deliveries;
    expect(delivery).to.include({ destinationId: destination.id, destinationName: destination.name });
    expect(
      delivery?.attempts.map((attempt) => [attempt.attemptNumber, attempt.status, attempt.statusCode]),
    ).to.deep.equal([
      [1, 'failed', 503],
      [2, 'success', 200],
    ]);
    const attempts = delivery?.attempts ?? [];
    const times = [
      ...[timeline.received, timeline.validated, timeline.queued],
      ...attempts.flatMap((attempt) => [attempt.startedAt, attempt.completedAt]),
    ];
    for (const time of times) expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(times, 'in the order in which it happened').to.deep.equal(times.toSorted());
    expect(timeline.totalDuration).to.equal(Date.parse(times.at(-1) ?? '') - Date.parse(timeline.received));
  });

  it('counts events and deliveries at the source, the route and the destination', async () => {
    const fresh = await records.pipe(receiver.endpoint({ status: 200 }, { status: 200 }, { status: 410 }).url);
    expect(fresh.source).to.include({ eventsCount: 0, lastEventAt: null });
    expect(fresh.route).to.include({ eventsRouted: 0 });
    expect(fresh.destination).to.include({ deliveriesCount: 0, successRate: null, avgLatency: null });
    expect(await health(fresh.destination)).to.include({ status: 'unknown', totalDeliveries: 0 });
    for (const status of ['delivered', 'delivered', 'failed']) {
      await records.eventWith(status, await records.accepted(fresh.source, '{}'));
    }
    const source = await testInstance.client.get<SourceView>(`${testInstance.base}/sources/${fresh.source.id}`);
    expect(source.eventsCount).to.equal(3);
    expect(Date.parse(source.lastEventAt ?? '')).to.be.a('number').and.not.NaN;
    const route = await testInstance.client.get<RouteView>(`/api/routes/${fresh.route.id}`);
    expect(route.eventsRouted).to.equal(3);
    for (const path of ['/api', testInstance.base]) {
      const destination = await testInstance.client.get<DestinationView>(
        `${path}/destinations/${fresh.destination.id}`,
      );
      expect(destination).to.include({ deliveriesCount: 3, successRate: 66.67 });
      expect(destination.avgLatency).to.be.a('number');
      expect(destination.lastDeliveryAt).to.be.a('string');
    }
    const figures = await health(fresh.destination);
    expect(figures).to.include({
      status: 'failing',
      successRate: 66.67,
      totalDeliveries: 3,
      successfulDeliveries: 2,
      failedDeliveries: 1,
    });
    expect(figures).to.include.keys('avgLatency', 'p50Latency', 'p95Latency', 'p99Latency', 'lastSuccessAt');
    expect(String(figures.lastFailureAt) >= String(figures.lastSuccessAt)).to.equal(true);
    const stats = await testInstance.client.get(`/api/routes/${fresh.route.id}/stats?period=1h`);
    expect(stats).to.include({
      eventsRouted: 3,
      eventsFiltered: 0,
      deliveriesSucceeded: 2,
      deliveriesFailed: 1,
      period: '1h',
    });
  });

  const health = (destination: DestinationView) =>
    testInstance.client.get(`/api/destinations/${destination.id}/health`);
});

interface Timeline {
  received: string;
  validated: string;
  queued: string;
  totalDuration: number;
  deliveries: {
    destinationId: string;
    destinationName: string;
    attempts: {
      attemptNumber: number;
      startedAt: string;
      completedAt: string;
      status: string;
      statusCode: number | null;
    }[];
  }[];
}
