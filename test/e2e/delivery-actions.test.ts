import { expect } from 'chai';
import { expectError, expectInvalid, type Json } from '../support/api-client.ts';
import { onceMore } from '../support/records.ts';
import { createOrganization } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const HOUR_MS = 3_600_000;

interface Step extends Json {
  deliveriesFound: number;
  deliveriesChanged: number;
  nextCursor: string | null;
}

describe('actions on all deliveries that match', () => {
  const { testInstance, records, receiver } = useHookyard();

  const act = (body: Record<string, unknown>) => testInstance.client.post<Step>('/api/deliveries/bulk', body);

  /** Five deliveries of one route that have ended so. */
  async function five(status: string, maxRetries = 0) {
    let isWell = false;
    const endpoint = receiver.endpoint(() => ({ status: isWell ? 200 : 500 }));
    const destination = { retryPolicy: onceMore(maxRetries, HOUR_MS) };
    // Its circuit stays closed.
    const { source, route } = await records.pipe(endpoint.url, {
      destination,
      route: { circuitFailureThreshold: 100 },
    });
    const eventIds: string[] = [];
    for (let n = 0; n < 5; n += 1) eventIds.push(await records.accepted(source, `{"n":${n}}`));
    const deliveries = await Promise.all(eventIds.map((id) => records.deliveryWith(status, id)));
    const count = async (query: string) =>
      (await testInstance.client.list(`/api/deliveries?routeId=${route.id}&${query}`)).pagination.total;
    const recover = () => {
      isWell = true;
    };
    return { routeId: route.id, deliveries, endpoint, count, recover };
  }

  it('are counted first, replay in steps from the newest on, and leave out what they made', async () => {
    const { routeId, deliveries, endpoint, count, recover } = await five('failed');
    const filter = { action: 'replay', routeId, status: 'failed' };
    const dry = await act({ ...filter, dryRun: true });
    expect(dry).to.include({ deliveriesFound: 5, deliveriesChanged: 0, nextCursor: null });
    recover();
    const first = await act({ ...filter, limit: 2 });
    expect(first).to.include({ deliveriesFound: 2, deliveriesChanged: 2 });
    const ids = deliveries.map(({ id }) => id).toSorted();
    expect(first.nextCursor, 'below the two newest').to.equal(ids[3]);
    const second = await act({ ...filter, limit: 2, cursor: first.nextCursor });
    const last = await act({ ...filter, limit: 2, cursor: second.nextCursor });
    expect([second, last].map(({ deliveriesChanged }) => deliveriesChanged)).to.deep.equal([2, 1]);
    expect(last.nextCursor).to.equal(null);
    await until('the replays to arrive', async () => (await count('status=delivered')) === 5);
    expect(endpoint.requests).to.have.length(10);
  });

  it('replay each webhook once, however often they are asked for, one by one or all together', async () => {
    const { routeId, deliveries, endpoint, count, recover } = await five('failed');
    const filter = { action: 'replay', routeId };
    for (let round = 2; round <= 4; round += 1) {
      expect(await act({ ...filter, status: 'failed' }), `round ${round}`).to.include({ deliveriesChanged: 5 });
      await until('all to have failed again', async () => (await count('status=failed')) === round * 5);
    }
    recover();
    expect(await act(filter)).to.include({ deliveriesFound: 20, deliveriesChanged: 5 });
    // While they are open, and when they have arrived.
    expect(await act({ ...filter, status: 'failed' })).to.include({ deliveriesFound: 20, deliveriesChanged: 0 });
    await until('the replays to arrive', async () => (await count('status=delivered')) === 5);
    expect(await act({ ...filter, status: 'failed' })).to.include({ deliveriesFound: 20, deliveriesChanged: 0 });
    for (const { id } of deliveries) {
      const answer = await testInstance.client.request('POST', `/api/deliveries/${id}/replay`);
      expectError(answer, 409, 'INVALID_STATE', /replay/);
    }
    expect(endpoint.requests).to.have.length(25);
    for (const { eventId } of deliveries) {
      const event = await records.event(eventId);
      expect(event).to.include({ status: 'delivered', deliveriesCount: 1, deliveriesSucceeded: 1 });
    }
  });

  it('retry those that wait, and cancel those that are open, but nothing else', async () => {
    const { routeId, endpoint, count } = await five('retrying', 2);
    const others = await five('failed');
    expect(await act({ action: 'retry', routeId, limit: 2 })).to.include({ deliveriesFound: 2, deliveriesChanged: 2 });
    await until('the next attempts', () => endpoint.requests.length === 7);
    await until('all to wait', async () => (await count('status=retrying')) === 5);
    expect(await act({ action: 'cancel', routeId })).to.include({ deliveriesFound: 5, deliveriesChanged: 5 });
    expect(await count('status=cancelled')).to.equal(5);
    for (const action of ['retry', 'cancel'])
      expect(await act({ action, routeId: others.routeId }), action).to.include({
        deliveriesFound: 0,
        nextCursor: null,
      });
    const ended = { action: 'cancel', routeId: others.routeId, status: ['failed'] };
    expect(await act(ended)).to.include({ deliveriesFound: 0 });
    expect(endpoint.requests).to.have.length(7);
  });

  it('are of their organization, and of a filter', async () => {
    const { routeId, count } = await five('failed');
    const stranger = await createOrganization();
    const answer = await stranger.api.post<Step>('/api/deliveries/bulk', { action: 'replay', routeId });
    expect(answer).to.include({ deliveriesFound: 0, deliveriesChanged: 0 });
    expect(await count('')).to.equal(5);
    const refused = (body: Record<string, unknown>) =>
      testInstance.client.request('POST', '/api/deliveries/bulk', body);
    expectInvalid(await refused({ action: 'cancel' }), 'status');
    expectInvalid(await refused({ action: 'cancel', routeId, limit: 101 }), 'limit');
    expectInvalid(await refused({ action: 'cancel', routeId, cursor: 'evt_1' }), 'cursor');
    expectError(await refused({ action: 'delete', routeId }), 400, 'VALIDATION_ERROR');
  });
});
