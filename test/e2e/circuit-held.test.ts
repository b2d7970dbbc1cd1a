import { expect } from 'chai';
import { switchedEndpoint } from '../support/workflows/circuits.ts';
import { onceMore, type SourceView } from '../support/records.ts';
import { useHookyard } from '../support/use-hookyard.ts';

describe('what a circuit holds', () => {
  const { testInstance, records, receiver, circuits } = useHookyard();

  const untilStatus = (eventId: string, wanted: string) => records.deliveryWith(wanted, eventId);
  const send = (source: SourceView, body = '{"order":1}') => records.accepted(source, body);

  it('fails over at once while it is open, and sends new deliveries as probes when it is half-open', async () => {
    const { endpoint, answer } = switchedEndpoint(receiver, 500);
    const backup = receiver.endpoint(200);
    const failover = await records.destination(backup.url, { name: 'Backup' });
    const { source, route, destination } = await circuits.opened(
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
    const marks = { 'x-hookyard-failover': 'true', 'x-hookyard-original-destination': destination.id };
    expect(arrived?.headers).to.include(marks);
    expect(arrived?.headers['x-hookyard-failure-reason']).to.contain('circuit');
    expect(endpoint.requests).to.have.length(seen);
    answer({ status: 200 });
    await circuits.configure(route, { circuitCooldownSeconds: 1 });
    await circuits.untilState(route, 'half_open');
    await untilStatus(await send(source), 'delivered');
    await circuits.untilState(route, 'closed');
    expect(endpoint.requests).to.have.length(seen + 1);
  });

  it('hands over what it holds when the route gets a failover destination', async () => {
    const { endpoint } = switchedEndpoint(receiver, 500);
    const { source, route } = await circuits.opened(endpoint);
    const waiting = [await send(source), await send(source)];
    await Promise.all(waiting.map((id) => untilStatus(id, 'circuit_open')));
    const backup = receiver.endpoint(200);
    const failover = await records.destination(backup.url, { name: 'Backup' });
    await testInstance.client.patch(`/api/routes/${route.id}`, { failoverDestinationIds: [failover.id] });
    await Promise.all(waiting.map((id) => records.eventWith('delivered', id)));
    expect(backup.requests).to.have.length(2);
  });
});
