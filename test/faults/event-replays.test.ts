import { expect } from 'chai';
import type { Endpoint } from '../support/receiver.ts';
import { type HeldRow, holdEvent } from '../support/database/row-lock.ts';
import { stackAddresses } from '../support/stack.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { selectColumn } from '../support/database/sql.ts';

// A killed worker's page is noticed after 15 s without a heartbeat; then come the pages that are left. The rest is for
// slow machines.
const RECOVERY_MS = 180_000;

interface ReplayView {
  id: string;
  status: string;
  eventsReplayed: number;
}

interface Line {
  endpoint: Endpoint;
  sourceId: string;
  /** Stored before there was a route: nothing was delivered yet. Oldest first. */
  eventIds: string[];
}

describe('replays by filter, cut off', function () {
  this.timeout(900_000);
  const { testInstance, records, receiver } = useHookyard({});

  async function line(events: number): Promise<Line> {
    const source = await records.source();
    const bodies = Array.from({ length: events }, (_, n) => JSON.stringify({ n }));
    const eventIds = await Promise.all(bodies.map((body) => records.accepted(source, body)));
    eventIds.sort();
    const endpoint = receiver.endpoint();
    await records.route(source.id, [(await records.destination(endpoint.url)).id]);
    return { endpoint, eventIds, sourceId: source.id };
  }

  const start = ({ sourceId }: Line, ratePerSecond: number) =>
    testInstance.client.post<ReplayView>(`${testInstance.base}/events/replay`, { sourceId, ratePerSecond });
  const read = (id: string) => testInstance.client.get<ReplayView>(`${testInstance.base}/events/replays/${id}`);

  /** Waits until the replay is complete, and checks that every event was replayed once and arrived. */
  async function settle(id: string, { endpoint, eventIds, sourceId }: Line): Promise<void> {
    const ended = await until(
      'the replay to be completed',
      async () => {
        const replay = await read(id);
        if (replay.status !== 'completed') throw new Error(`it is ${replay.status}: ${replay.eventsReplayed} events`);
        return replay;
      },
      RECOVERY_MS,
    );
    const { length } = eventIds;
    expect(ended).to.include({ eventsTotal: length, eventsReplayed: length, deliveriesCreated: length });
    expect(await deliveries(sourceId)).to.deep.equal(eventIds);
    for (const eventId of eventIds) await records.eventWith('delivered', eventId);
    const arrived = new Set(endpoint.requests.map(({ headers }) => headers['x-hookyard-event-id']));
    expect([...arrived].toSorted()).to.deep.equal(eventIds);
  }

  /** The events of the source's deliveries, in the order in which these were made. */
  function deliveries(sourceId: string): Promise<string[]> {
    return selectColumn<string>(testInstance.pool)`select event_id from deliveries where source_id = ${sourceId}
      order by id`;
  }

  /** Holds the event, so that the page it is in is half done and waits. */
  const hold = (eventId = '') => holdEvent(testInstance.pool, eventId);
  const pageWaits = (held: HeldRow) =>
    until('the page to wait for the event', async () => (await held.waiting()).length > 0);

  it('continue when the worker is killed in the middle of a page, before its commit', async () => {
    const worker = await testInstance.onlyWorker();
    const events = await line(25);
    const held = await hold(events.eventIds[17]);
    const { id } = await start(events, 10);
    await pageWaits(held);
    expect(await read(id)).to.include({ status: 'running', eventsReplayed: 10 });
    await worker.kill();
    await held.release();
    await testInstance.startWorker();
    await settle(id, events);
  });

  it('continue when the worker is killed after the commit of a page, before Temporal knows of it', async () => {
    const proxy = await startTcpProxy(stackAddresses().temporalAddress);
    const worker = await testInstance.onlyWorker({ TEMPORAL_ADDRESS: proxy.address });
    const events = await line(25);
    const held = await hold(events.eventIds[17]);
    const { id } = await start(events, 10);
    await pageWaits(held);
    proxy.holdRequests();
    await held.release();
    await until('the page to be committed', async () => (await read(id)).eventsReplayed === 20);
    await worker.kill();
    await proxy.close();
    await testInstance.startWorker();
    await settle(id, events);
  });
});
