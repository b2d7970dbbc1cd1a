import { expect } from 'chai';
import type { Answer } from '../support/receiver.ts';
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
});
