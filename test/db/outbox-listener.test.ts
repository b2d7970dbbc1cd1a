// The relay hears of new deliveries at their commit; should it not, it polls.
import { expect } from 'chai';
import { pino } from 'pino';
import { listenForDeliveries } from '../../db/hot-path/outbox-listener.ts';
import { storeEvents } from '../../db/hot-path/store-events.ts';
import { routedEvent } from '../support/database/new-events.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

describe('news of the outbox', () => {
  const { testInstance, records, receiver } = useHookyard();
  let news = 0;
  let newsAt = 0;
  let listener: ReturnType<typeof listenForDeliveries>;
  before(async () => {
    listener = listenForDeliveries(stackAddresses().databaseUrl, {
      deliveries() {
        news += 1;
        newsAt = performance.now();
      },
      due() {},
      workers() {},
      log: pino({ level: 'silent' }),
    });
    await until('the listener to be connected', () => news > 0);
  });
  after(() => listener.close());

  // Then the next commit is told at once: the API is silent for a moment after it has notified.
  beforeEach(() => until('a quiet moment', () => performance.now() - newsAt > 500));

  it('comes with an event that is routed, and with its replay', async () => {
    const { source } = await records.pipe(receiver.endpoint(200).url);
    const before = news;
    const eventId = await records.accepted(source, '{}');
    await until('news of the event', () => news > before);
    await records.eventWith('delivered', eventId);
    const beforeReplay = news;
    await testInstance.client.post(`${testInstance.base}/events/${eventId}/replay`, {});
    await until('news of the replay', () => news > beforeReplay);
  });

  it('does not come with an event that goes nowhere', async () => {
    const [unrouted, { source: routed }] = await Promise.all([
      records.source(),
      records.pipe(receiver.endpoint(200).url),
    ]);
    const before = news;
    await records.accepted(unrouted, '{}');
    await records.accepted(routed, '{}');
    await until('news of the second event', () => news > before);
    expect(news - before).to.equal(1);
  });

  it('does not come from the statement that stores, which would hold up those of others until its commit', async () => {
    const { source } = await records.pipe(receiver.endpoint(200).url);
    const own = { organizationId: testInstance.organizationId, sourceId: source.id };
    const before = news;
    await storeEvents(testInstance.pool, [await routedEvent(testInstance.pool, own, { deliveries: [] })]);
    const stored = await routedEvent(testInstance.pool, own);
    expect((await storeEvents(testInstance.pool, [stored])).stored).to.have.length(1);
    await records.accepted(source, '{}');
    await until('news of the webhook', () => news > before);
    expect(news - before).to.equal(1);
  });

  it('comes again after the connection was lost', async () => {
    const { rows } = await testInstance.pool.query<{ pid: number }>(
      `select pid from pg_stat_activity where query like 'set synchronous_commit = off; listen%' and pg_terminate_backend(pid)`,
    );
    expect(rows).to.not.have.length(0);
    const before = news;
    await until('the listener to be connected again', () => news > before);
    const { source } = await records.pipe(receiver.endpoint(200).url);
    const again = news;
    await records.accepted(source, '{}');
    await until('news', () => news > again);
  });
});
