import { expect } from 'chai';
import { expectError } from '../support/api-client.ts';
import type { Answer } from '../support/receiver.ts';
import { onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

const BY_ORDER = { ordering: { key: 'payload.order' } };

describe('ordering', () => {
  const { testInstance, records, receiver } = useHookyard();

  /** A route in order. @param answers of the receiver, the last one for all further requests */
  async function inOrder(answers: (number | Answer)[], ordering: object = BY_ORDER.ordering, retries = 0, delay = 10) {
    const endpoint = receiver.endpoint(...answers);
    const destination = await records.destination(endpoint.url, { retryPolicy: onceMore(retries, delay) });
    const source = await records.source();
    const route = await records.route(source.id, [destination.id], { ordering, circuitFailureThreshold: 100 });
    const send = (order: unknown, n: number) => records.accepted(source, JSON.stringify({ order, n }));
    const received = () => endpoint.requests.map(({ body }) => JSON.parse(body.toString()).n);
    const sequences = () => endpoint.requests.map(({ headers }) => headers['x-hookyard-sequence']);
    return { endpoint, destination, source, route, send, received, sequences };
  }

  it('delivers the events of a key one after the other, with their numbers', async () => {
    const { send, endpoint, received, sequences } = await inOrder([200]);
    const events: string[] = [];
    for (let n = 1; n <= 30; n += 1) events.push(await send('a', n));
    for (const id of events) await records.eventWith('delivered', id);
    expect(received()).to.deep.equal(Array.from({ length: 30 }, (_, index) => index + 1));
    expect(sequences()).to.deep.equal(Array.from({ length: 30 }, (_, index) => String(index + 1)));
    expect(new Set(endpoint.requests.map(({ headers }) => headers['x-hookyard-order-key']))).to.deep.equal(
      new Set(['a']),
    );
  });

  it('sends nothing of a key while an earlier event is under way or waits for a retry, and other keys at once', async () => {
    const gate = Promise.withResolvers<void>();
    const { send, endpoint, received } = await inOrder(
      [{ after: gate.promise, status: 500 }, 200],
      BY_ORDER.ordering,
      1,
    );
    const first = await send('a', 1);
    await until('the first to be sent', () => endpoint.waiting === 1);
    const later = [await send('a', 2), await send('a', 3)];
    await records.eventWith('delivered', await send('b', 4));
    expect(received()).to.deep.equal([1, 4]);
    gate.resolve();
    for (const id of [first, ...later]) await records.eventWith('delivered', id);
    expect(received()).to.deep.equal([1, 4, 1, 2, 3]);
  });

  it('stops a key at a delivery that has used up its retries, until it is replayed', async () => {
    const { send, received, sequences } = await inOrder([500, 200]);
    const first = await send('a', 1);
    await records.eventWith('failed', first);
    const second = await send('a', 2);
    await records.eventWith('delivered', await send('b', 3));
    expect(received()).to.deep.equal([1, 3]);
    await testInstance.client.post(`/api/events/${first}/replay`, {});
    await records.eventWith('delivered', second);
    expect(received()).to.deep.equal([1, 3, 1, 2]);
    expect(sequences()).to.deep.equal(['1', '1', '1', '2']);
  });

  it('goes on after an end that no retry could change', async () => {
    const { send, received } = await inOrder([410, 200], BY_ORDER.ordering, 3);
    const first = await send('a', 1);
    await records.eventWith('delivered', await send('a', 2));
    await records.eventWith('failed', first);
    expect(received()).to.deep.equal([1, 2]);
  });

  it('goes on after a failure if the route says so, and when its time is over', async () => {
    for (const ordering of [
      { ...BY_ORDER.ordering, onExhausted: 'continue' },
      { ...BY_ORDER.ordering, holdSeconds: 1 },
    ]) {
      const { send, received } = await inOrder([500, 200], ordering);
      await records.eventWith('failed', await send('a', 1));
      await records.eventWith('delivered', await send('a', 2));
      expect(received()).to.deep.equal([1, 2]);
    }
  });

  it('goes on when the head is cancelled, and says meanwhile what the next one waits for', async () => {
    const { endpoint, send, received } = await inOrder([503, 200], BY_ORDER.ordering, 5, 60_000);
    const first = await send('a', 1);
    await until('the first attempt', async () => (await records.deliveries(first))[0]?.status === 'retrying');
    const second = await send('a', 2);
    const [head] = await records.deliveries(first);
    const [next] = await records.deliveries(second);
    expect(next).to.include({ status: 'pending', orderKey: 'a', sequence: 2, waitsFor: head?.id, workflowId: null });
    expectError(await testInstance.client.request('POST', `/api/deliveries/${next?.id}/retry`), 409, 'INVALID_STATE');
    await testInstance.client.post(`/api/deliveries/${head?.id}/cancel`, {});
    await records.eventWith('delivered', second);
    expect(received()).to.deep.equal([1, 2]);
    expect(endpoint.requests).to.have.length(2);
  });

  it('lists keys, skips a delivery that blocks its key, and releases what waits in it', async () => {
    const { destination, send, received } = await inOrder([500, 200, 500, 500, 200]);
    const keys = `/api/destinations/${destination.id}/order-keys`;
    await records.eventWith('failed', await send('a', 1));
    const second = await send('a', 2);
    const { data } = await testInstance.client.get<{ data: { id: string }[] }>(`${keys}?state=blocked`);
    expect(data).to.have.length(1);
    const [blocked] = data;
    expect(blocked).to.include({ key: 'a', state: 'blocked', headSequence: 1, waiting: 1, lastSequence: 2 });
    const skipped = await testInstance.client.post(`${keys}/a/skip`, {});
    expect(skipped.id).to.equal(blocked?.id);
    await records.eventWith('delivered', second);
    await records.eventWith('failed', await send('a', 3));
    const waiting = [await send('a', 4), await send('a', 5)];
    await testInstance.client.post(`${keys}/${blocked?.id}/release`, {});
    await records.eventWith('failed', waiting[0] ?? '');
    await records.eventWith('delivered', waiting[1] ?? '');
    expect(received()).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('delivers events without the key in any order, or together under the route', async () => {
    for (const [missingKey, waits] of [
      ['unordered', false],
      ['together', true],
    ] as const) {
      const gate = Promise.withResolvers<void>();
      const ordering = { key: 'payload.order', missingKey };
      const { endpoint, destination, route, send } = await inOrder([{ after: gate.promise }, 200], ordering);
      const first = await send(undefined, 1);
      await until('the first to be sent', () => endpoint.waiting === 1);
      const second = await send(null, 2);
      if (waits) {
        expect((await records.deliveries(second))[0]).to.include({ orderKey: route.id, sequence: 2 });
        const key = await testInstance.client.get(`/api/destinations/${destination.id}/order-keys/${route.id}`);
        expect(key).to.include({ key: route.id, state: 'waiting', waiting: 1 });
      } else await records.eventWith('delivered', second);
      gate.resolve();
      for (const id of [first, second]) await records.eventWith('delivered', id);
    }
  });

  it('gives no key to a delivery that its schema refuses', async () => {
    const schema = { name: 'Order', schema: { required: ['items'] } };
    const { id: schemaId } = await testInstance.client.create('/api/schemas', schema);
    const { route, send } = await inOrder([200], { key: 'payload.order', missingKey: 'together' });
    await testInstance.client.patch(`/api/routes/${route.id}`, { schemaId });
    const [delivery] = await records.deliveries(await send('a', 1));
    expect(delivery).to.include({ status: 'schema_failed', orderKey: null, sequence: null });
  });

  it('reads the key of a payload that is too large for the event loop, too', async () => {
    const { source, endpoint, sequences } = await inOrder([200]);
    const body = (n: number) => JSON.stringify({ padding: 'x'.repeat(2_000_000), order: 'large', n });
    for (const n of [1, 2]) await records.eventWith('delivered', await records.accepted(source, body(n)));
    expect(sequences()).to.deep.equal(['1', '2']);
    expect(endpoint.requests[0]?.headers['x-hookyard-order-key']).to.equal('large');
  });

  it('joins the order of a failover destination, and goes on at the first one', async () => {
    const [bad, backup] = [receiver.endpoint(500, 200), receiver.endpoint(200)];
    const [first, second] = await Promise.all(
      [bad, backup].map(({ url }) => records.destination(url, { retryPolicy: onceMore(3) })),
    );
    const source = await records.source();
    await records.route(source.id, [first?.id ?? ''], {
      ...BY_ORDER,
      failoverDestinationIds: [second?.id],
      failoverAfterAttempts: 1,
    });
    for (const n of [1, 2])
      await records.eventWith('delivered', await records.accepted(source, JSON.stringify({ order: 'a', n })));
    expect(backup.requests.map(({ headers }) => headers['x-hookyard-sequence'])).to.deep.equal(['1']);
    expect(bad.requests.map(({ headers }) => headers['x-hookyard-sequence'])).to.deep.equal(['1', '2']);
    // One that failed over while it entered the outbox: its row goes, else it would be claimed again and again.
    await execute(testInstance.pool)`
      insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority, shard,
                          order_hash)
      select id, destination_id, organization_id, event_id, source_id, route_id, priority, get_byte(order_hash, 0) & 63,
             order_hash
      from deliveries where source_id = ${source.id} and status = 'failed_over'`;
    await testInstance.pool.query(`select pg_notify('hookyard_outbox', '')`);
    await until('the row to be removed', async () => (await records.queued()) === 0);
  });

  it('sends nothing after one that was cancelled while it was under way, before what came in its place is accepted', async () => {
    const gates = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const { endpoint, route, send, received } = await inOrder([...gates.map((gate) => ({ after: gate.promise })), 200]);
    await testInstance.client.post(`/api/routes/${route.id}/pause`, {});
    const events = [await send('a', 1), await send('a', 2)];
    await until(
      'the first to be held',
      async () => (await records.deliveries(events[0] ?? ''))[0]?.status === 'circuit_open',
    );
    await testInstance.client.post(`/api/routes/${route.id}/resume`, {});
    gates[0]?.resolve();
    await until('the second to be sent', () => endpoint.requests.length === 2);
    events.push(await send('a', 3), await send('a', 4));
    const [second] = await records.deliveries(events[1] ?? '');
    await testInstance.client.post(`/api/deliveries/${second?.id}/cancel`, {});
    await until('the third to be sent', () => endpoint.requests.length === 3);
    gates[1]?.resolve();
    await until('the second to be answered', () => endpoint.waiting === 1);
    await records.eventWith('delivered', await send('b', 5));
    expect(received()).to.deep.equal([1, 2, 3, 5]);
    gates[2]?.resolve();
    await records.eventWith('delivered', events[3] ?? '');
    expect(received()).to.deep.equal([1, 2, 3, 5, 4]);
  });

  it('goes on when a replay of the delivery that blocks a key cannot take its place', async () => {
    const { route, send, received } = await inOrder([500, 200]);
    const first = await send('a', 1);
    await records.eventWith('failed', first);
    const second = await send('a', 2);
    await testInstance.client.patch(`/api/routes/${route.id}`, { ordering: null });
    await testInstance.client.post(`/api/events/${first}/replay`, {});
    for (const id of [first, second]) await records.eventWith('delivered', id);
    expect(received()[0]).to.equal(1);
  });

  it('opens an issue of the destination when a key has been blocked for five minutes, which ends with the block', async () => {
    const { destination, send } = await inOrder([500, 200]);
    await records.eventWith('failed', await send('a', 1));
    await execute(testInstance.pool)`update order_keys set blocked_at = now() - interval '6 minutes'
      where destination_id = ${destination.id}`;
    const path = `/api/issues?kind=order_blocked&destinationId=${destination.id}`;
    const issues = () => testInstance.client.list<{ id: string; state: string; cause: string }>(path);
    const issue = await until('the issue', async () => (await issues()).data[0]);
    expect(issue).to.include({ state: 'open', cause: 'RETRIES_EXHAUSTED' });
    await testInstance.client.post(`/api/destinations/${destination.id}/order-keys/a/skip`, {});
    // It resolves a minute after that.
    await until('its recovery to be noted', async () => {
      const of = 'select from issues where id = $1 and recovered_at is not null';
      return (await testInstance.pool.query(of, [issue.id])).rowCount === 1;
    });
  });
});
