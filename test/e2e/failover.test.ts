import { expect } from 'chai';
import { answerLater, type CircuitStatus } from '../support/workflows/circuits.ts';
import type { Endpoint } from '../support/receiver.ts';
import { type DeliveryView, onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const BODY = '{"order":42}';

describe('failover', () => {
  const { testInstance, records, receiver } = useHookyard();

  /** A route from a new source to a primary destination, with failover destinations in order. */
  async function pipe(
    primary: { endpoint: Endpoint; retries?: number },
    failovers: { endpoint: Endpoint; retries?: number; enabled?: boolean }[],
    failoverAfterAttempts = 2,
  ) {
    const destinationOf = ({ endpoint, retries = 0, ...fields }: { endpoint: Endpoint; retries?: number }) =>
      records.destination(endpoint.url, { retryPolicy: onceMore(retries), ...fields });
    const source = await records.source();
    const destination = await destinationOf(primary);
    const others = await Promise.all(failovers.map(destinationOf));
    const route = await records.route(source.id, [destination.id], {
      failoverDestinationIds: others.map((other) => other.id),
      failoverAfterAttempts,
    });
    return { source, destination, failovers: others, route };
  }

  const statuses = (deliveries: DeliveryView[]) => deliveries.map((delivery) => delivery.status);

  it('hands a delivery over after the set number of failed attempts', async () => {
    const [bad, good] = [receiver.endpoint(500), receiver.endpoint(200)];
    const { source, destination, failovers } = await pipe({ endpoint: bad, retries: 5 }, [{ endpoint: good }], 2);
    const eventId = await records.accepted(source, BODY);
    const event = await records.eventWith('delivered', eventId);
    expect(event).to.include({ deliveriesCount: 1, deliveriesSucceeded: 1, deliveriesFailed: 0 });
    const [first, second] = await records.deliveries(eventId);
    expect(first).to.include({ status: 'failed_over', attemptCount: 2, destinationId: destination.id });
    expect(second).to.include({ status: 'delivered', destinationId: failovers[0]?.id, failoverOf: first?.id });
    expect(bad.requests).to.have.length(2);
    expect(good.requests).to.have.length(1);
    expect(good.requests[0]?.body.toString()).to.equal(BODY);
  });

  it('gives each failover destination its own retry policy, then goes to the next, and fails when all have', async () => {
    const endpoints = [receiver.endpoint(500), receiver.endpoint(501), receiver.endpoint(502), receiver.endpoint(503)];
    const [primary, one, two, three] = endpoints as [Endpoint, Endpoint, Endpoint, Endpoint];
    const { source, destination, failovers } = await pipe(
      { endpoint: primary, retries: 0 },
      [{ endpoint: one, retries: 1 }, { endpoint: two, retries: 2 }, { endpoint: three }],
      1,
    );
    const eventId = await records.accepted(source, BODY);
    const event = await records.eventWith('failed', eventId);
    expect(event).to.include({ deliveriesCount: 1, deliveriesSucceeded: 0, deliveriesFailed: 1 });
    const deliveries = await records.deliveries(eventId);
    expect(statuses(deliveries)).to.deep.equal(['failed_over', 'failed_over', 'failed_over', 'failed']);
    expect(endpoints.map((endpoint) => endpoint.requests.length)).to.deep.equal([1, 2, 3, 1]);
    expect(deliveries.map((delivery) => delivery.destinationId)).to.deep.equal([
      destination.id,
      ...failovers.map((other) => other.id),
    ]);
    const last = three.requests[0]?.headers;
    expect(last).to.include({ 'x-hookyard-original-destination': destination.id });
    expect(last?.['x-hookyard-failure-reason']).to.contain('502');
  });

  it('passes over a failover destination that is disabled', async () => {
    const [bad, disabled, good] = [receiver.endpoint(500), receiver.endpoint(200), receiver.endpoint(200)];
    const { source } = await pipe({ endpoint: bad }, [{ endpoint: disabled, enabled: false }, { endpoint: good }]);
    await records.eventWith('delivered', await records.accepted(source, BODY));
    expect(disabled.requests).to.have.length(0);
    expect(good.requests).to.have.length(1);
  });

  it('goes to a destination that was not tried, and to none twice, when the order is changed meanwhile', async () => {
    const { answer, letGo } = answerLater(500);
    const [bad, second, third] = [receiver.endpoint(500), receiver.endpoint(answer, 501), receiver.endpoint(502)];
    const { source, failovers, route } = await pipe({ endpoint: bad }, [
      { endpoint: second, retries: 1 },
      { endpoint: third },
    ]);
    const eventId = await records.accepted(source, BODY);
    await until('the first of them to be tried', () => second.waiting === 1);
    const failoverDestinationIds = failovers.map(({ id }) => id).toReversed();
    await testInstance.client.patch(`/api/routes/${route.id}`, { failoverDestinationIds });
    letGo();
    await records.eventWith('failed', eventId);
    expect(statuses(await records.deliveries(eventId))).to.deep.equal(['failed_over', 'failed_over', 'failed']);
    expect([bad, second, third].map(({ requests }) => requests.length)).to.deep.equal([1, 2, 1]);
  });

  it('replays to where the route leads now: to the primary destination first', async () => {
    const [recovering, good] = [receiver.endpoint(500, 200), receiver.endpoint(200)];
    const { source } = await pipe({ endpoint: recovering }, [{ endpoint: good }]);
    const eventId = await records.accepted(source, BODY);
    await records.eventWith('delivered', eventId);
    await testInstance.client.post(`${testInstance.base}/events/${eventId}/replay`, {});
    await until('the replay to arrive', () => recovering.requests.length === 2);
    await records.eventWith('delivered', eventId);
    expect(good.requests, 'only that of the first time').to.have.length(1);
  });

  type Failed = { eventId: string; sourceId: string; failedOver: string | undefined; failed: string | undefined };
  const post = (path: string, body?: object) => testInstance.client.post(path, body);
  const replays: Record<string, (of: Failed) => Promise<unknown>> = {
    'the event': ({ eventId }) => post(`${testInstance.base}/events/${eventId}/replay`, {}),
    'the delivery that failed over': ({ failedOver }) => post(`/api/deliveries/${failedOver}/replay`),
    'the failed delivery': ({ failed }) => post(`/api/deliveries/${failed}/replay`),
    'all of the event': ({ eventId }) => post('/api/deliveries/bulk', { action: 'replay', eventId }),
    'by a filter': ({ sourceId }) => post(`${testInstance.base}/events/replay`, { sourceId, status: 'failed' }),
  };
  for (const [way, replay] of Object.entries(replays)) {
    it(`that has failed is replaced by a replay of ${way}`, async () => {
      const [primary, backup] = [receiver.endpoint(500, 200), receiver.endpoint(502, 200)];
      const { source } = await pipe({ endpoint: primary }, [{ endpoint: backup }]);
      const eventId = await records.accepted(source, BODY);
      await records.eventWith('failed', eventId);
      const [failedOver, failed] = await records.deliveries(eventId);
      await replay({ eventId, sourceId: source.id, failedOver: failedOver?.id, failed: failed?.id });
      const event = await records.eventWith('delivered', eventId);
      expect(event).to.include({ deliveriesCount: 1, deliveriesSucceeded: 1, deliveriesFailed: 0 });
      const made = event.deliveries?.filter(({ replayOf }) => replayOf !== null);
      expect(made?.map(({ replayOf }) => replayOf)).to.deep.equal([failed?.id]);
      // Its workflow does not wait for a replay any more.
      await records.workflowsEnd([failed?.id ?? '']);
    });
  }

  it('counts once in its event, however often replays fail over again', async () => {
    const [primary, backup] = [receiver.endpoint(500, 500, 500, 200), receiver.endpoint(502)];
    const { source } = await pipe({ endpoint: primary }, [{ endpoint: backup }]);
    const eventId = await records.accepted(source, BODY);
    const { client, base } = testInstance;
    for (let tries = 1; tries <= 3; tries += 1) {
      const event = await records.eventWith('failed', eventId);
      expect(event).to.include({ deliveriesCount: 1, deliveriesFailed: 1 });
      expect(event.deliveries).to.have.length(2 * tries);
      const many = { eventIds: [eventId] };
      expect(await client.post(`${base}/events/bulk/replay`, many)).to.include({ deliveriesCreated: 1 });
      if (tries < 3) await until('the replay to fail over', () => backup.requests.length === tries + 1);
    }
    const event = await records.eventWith('delivered', eventId);
    expect(event).to.include({ deliveriesCount: 1, deliveriesSucceeded: 1 });
    // What has failed, has failed over or was replayed is not sent again.
    const failed = { action: 'replay', eventId, status: ['failed', 'failed_over'] };
    expect(await client.post('/api/deliveries/bulk', failed)).to.include({ deliveriesChanged: 0 });
    for (const { id, status } of event.deliveries ?? [])
      if (status === 'failed_over')
        expect((await client.request('POST', `/api/deliveries/${id}/replay`)).status, id).to.equal(409);
  });

  it('stays one when its delivery is replayed: with its headers, and outside the circuit of the route', async () => {
    const [primary, backup] = [receiver.endpoint(500, 200), receiver.endpoint(502)];
    const { source, destination, failovers, route } = await pipe({ endpoint: primary }, [{ endpoint: backup }]);
    const circuit = () => testInstance.client.get<CircuitStatus>(`/api/routes/${route.id}/circuit-status`);
    await testInstance.client.patch(`/api/routes/${route.id}/circuit-config`, { circuitFailureThreshold: 2 });
    const eventId = await records.accepted(source, BODY);
    await records.eventWith('failed', eventId);
    const failovered = (await records.deliveries(eventId)).find(({ failoverOf }) => failoverOf !== null);
    await testInstance.client.post(`/api/deliveries/${failovered?.id}/replay`);
    await until('the replay of the delivery to fail', () => backup.requests.length === 2);
    await records.eventWith('failed', eventId);
    const destinationIds = failovers.map(({ id }) => id);
    await testInstance.client.post(`${testInstance.base}/events/${eventId}/replay`, { destinationIds });
    await until('the replay of the event to fail', () => backup.requests.length === 3);
    await records.eventWith('failed', eventId);
    const replays = (await records.deliveries(eventId)).filter(({ replayOf }) => replayOf !== null);
    expect(replays.map(({ failoverOf }) => failoverOf)).to.deep.equal([failovered?.failoverOf, failovered?.failoverOf]);
    for (const { headers } of backup.requests) {
      expect(headers).to.include({
        'x-hookyard-failover': 'true',
        'x-hookyard-original-destination': destination.id,
        'x-hookyard-failure-reason': 'The destination returned 500',
      });
    }
    const once = { circuitState: 'closed', failureCount: 1 };
    expect(await circuit(), 'one attempt of the primary destination failed').to.include(once);
  });
});
