import { expect } from 'chai';
import { progress as progressQuery } from '../../workflows/signals-and-queries.ts';
import { expectError } from '../support/api-client.ts';
import type { Answer, Endpoint } from '../support/receiver.ts';
import type { SourceView } from '../support/records.ts';
import { PLANTED } from '../support/attacks/secrecy.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { execute, selectColumn } from '../support/database/sql.ts';

interface ReplayView {
  id: string;
  status: string;
  eventsReplayed: number;
  startedAt: string | null;
  finishedAt: string | null;
  workflowId: string;
}

describe('replays by filter', () => {
  const { testInstance, records, receiver } = useHookyard();

  /** A source with so many events that were stored before it had a route: nothing is delivered yet. */
  async function unrouted(count: number): Promise<{ source: SourceView; eventIds: string[] }> {
    const source = await records.source();
    const bodies = Array.from({ length: count }, (_, n) => `{"n":${n},"mark":"${PLANTED}"}`);
    const eventIds = await Promise.all(bodies.map((body) => records.accepted(source, body)));
    // Ids sort by their time.
    eventIds.sort();
    return { source, eventIds };
  }

  async function routeTo(source: SourceView, ...answers: (Answer | number)[]) {
    const endpoint = receiver.endpoint(...answers);
    const destination = await records.destination(endpoint.url);
    // Whatever fails here fails on purpose; the circuit stays closed.
    const route = await records.route(source.id, [destination.id], { circuitFailureThreshold: 100 });
    return { endpoint, destination, route };
  }

  const start = (body: object) => testInstance.client.post<ReplayView>(`${testInstance.base}/events/replay`, body);
  const read = (id: string) => testInstance.client.get<ReplayView>(`${testInstance.base}/events/replays/${id}`);
  const cancelReplay = (id: string) =>
    testInstance.client.request('POST', `${testInstance.base}/events/replays/${id}/cancel`);

  const reach = (id: string, what: string, look: (replay: ReplayView) => boolean) =>
    until(`the replay to ${what}`, async () => {
      const replay = await read(id);
      if (!look(replay)) throw new Error(`it is ${replay.status} with ${replay.eventsReplayed} events`);
      return replay;
    });
  const end = (id: string, status = 'completed') => reach(id, `be ${status}`, (replay) => replay.status === status);

  const arrivals = (endpoint: Endpoint) => endpoint.requests.map(({ headers }) => headers['x-hookyard-event-id']);

  it('deliver every event that matches once, oldest first, and none that came later', async () => {
    const { source, eventIds } = await unrouted(25);
    const { endpoint } = await routeTo(source);
    const started = await start({ sourceId: source.id, ratePerSecond: 10 });
    expect(started).to.deep.include({ status: 'pending', eventsTotal: 25, filter: { sourceId: source.id } });
    expect(started.workflowId).to.equal(started.id);
    const later = await records.accepted(source, '{"later":true}');
    const ended = await end(started.id);
    expect(ended).to.include({
      eventsReplayed: 25,
      deliveriesCreated: 25,
      eventsExpired: 0,
      eventsUnroutable: 0,
      error: null,
    });
    expect(ended.startedAt).to.be.a('string');
    expect(ended.finishedAt).to.be.a('string');
    for (const id of eventIds) {
      expect(await records.eventWith('delivered', id)).to.include({ deliveriesCount: 1, routed: true });
    }
    await records.eventWith('delivered', later);
    expect(arrivals(endpoint).toSorted()).to.deep.equal([...eventIds, later].toSorted());
    const made = await deliveriesInOrder(source.id);
    expect(made.filter((id) => id !== later)).to.deep.equal(eventIds);
  });

  it('of failed events deliver all of them, and close the workflows that waited for that', async () => {
    const source = await records.source();
    const { endpoint } = await routeTo(source, ...Array.from({ length: 12 }, () => 410), 200);
    const failed = await Promise.all(Array.from({ length: 12 }, () => records.accepted(source, '{}')));
    const parked = await Promise.all(failed.map(async (id) => (await records.deliveryWith('failed', id)).id));
    const fine = await records.accepted(source, '{}');
    await records.eventWith('delivered', fine);
    const { id } = await start({ sourceId: source.id, status: 'failed', ratePerSecond: 5 });
    expect(await end(id)).to.include({ eventsTotal: 12, eventsReplayed: 12, deliveriesCreated: 12 });
    for (const eventId of failed) {
      const event = await records.eventWith('delivered', eventId);
      expect(event).to.include({ deliveriesCount: 1, deliveriesSucceeded: 1, deliveriesFailed: 0 });
      expect(event.deliveries).to.have.length(2);
    }
    expect((await records.event(fine)).deliveries).to.have.length(1);
    expect(endpoint.requests).to.have.length(12 + 1 + 12);
    await records.workflowsEnd(parked);
    for (const deliveryId of parked) {
      expect(await testInstance.temporal.workflow.getHandle(deliveryId).result()).to.include({ status: 'failed' });
    }
  });

  it('are cancelled in the middle: what was replayed is delivered, the rest is left alone', async () => {
    const { source, eventIds } = await unrouted(30);
    const { endpoint } = await routeTo(source);
    const { id } = await start({ sourceId: source.id, ratePerSecond: 1 });
    const underWay = await reach(id, 'replay two events', (replay) => replay.eventsReplayed >= 2);
    expect(underWay).to.include({ status: 'running', eventsTotal: 30, finishedAt: null });
    const workflow = testInstance.temporal.workflow.getHandle(id);
    const seen = await until('the workflow to know', async () => {
      const view = await workflow.query(progressQuery);
      return view.eventsReplayed >= 2 && view;
    });
    expect(seen).to.include({ status: 'running', eventsTotal: 30 });
    const answer = await cancelReplay(id);
    expect(answer.body).to.include({ id, status: 'cancelled' });
    const replayed = Number(answer.body.eventsReplayed);
    expect(replayed).to.be.within(2, 29);
    await records.workflowsEnd([id]);
    expect(await workflow.result()).to.include({ status: 'cancelled', eventsReplayed: replayed });
    expect(await read(id)).to.include({ status: 'cancelled', eventsReplayed: replayed });
    for (const eventId of eventIds.slice(0, replayed)) await records.eventWith('delivered', eventId);
    expect(await deliveriesInOrder(source.id)).to.deep.equal(eventIds.slice(0, replayed));
    expect(endpoint.requests).to.have.length(replayed);
    expectError(await cancelReplay(id), 409, 'INVALID_STATE');
  });

  it('fail visibly when their workflow was terminated in Temporal', async () => {
    const { source } = await unrouted(30);
    await routeTo(source);
    const { id } = await start({ sourceId: source.id, ratePerSecond: 1 });
    await reach(id, 'begin', (replay) => replay.eventsReplayed >= 1);
    await testInstance.temporal.workflow.getHandle(id).terminate('by an operator');
    // As if the minute had passed in which a replay without a page is left alone.
    await until('the page under way to end', async () => {
      await execute(testInstance.pool)`update event_replays set due_at = now() where id = ${id} and due_at is not null`;
      return (await read(id)).status === 'failed';
    });
    expect(await read(id)).to.include({
      status: 'failed',
      error: 'The workflow was terminated or cancelled in Temporal',
    });
  });

  /** The events of a source's deliveries, in the order in which these were made. */
  function deliveriesInOrder(sourceId: string): Promise<string[]> {
    return selectColumn<string>(testInstance.pool)`select event_id from deliveries where source_id = ${sourceId}
      order by id`;
  }
});
