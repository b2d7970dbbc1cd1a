// The relay hears of new deliveries at their commit; should it not, it polls.
import { expect } from 'chai';
import { pino } from 'pino';
import { ALL_POSITIONS, isToldOf, positionOf, POSITIONS, type Positions } from '../../core/positions.ts';
import { listenForDeliveries } from '../../db/hot-path/outbox-listener.ts';
import { storeEvents } from '../../db/hot-path/store-events.ts';
import { type Hookyard, sharedHookyard } from '../support/hookyard.ts';
import { routedEvent } from '../support/new-events.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { Records } from '../support/records.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';

describe('news of the outbox', () => {
  let testInstance: Hookyard;
  let records: Records;
  let receiver: Receiver;
  let news = 0;
  const texts: string[] = [];
  let held: Positions = ALL_POSITIONS;
  let listener: ReturnType<typeof listenForDeliveries>;
  before(async () => {
    [testInstance, receiver] = await Promise.all([sharedHookyard(), startReceiver()]);
    records = new Records(testInstance);
    const heard = (text: string) => {
      news += 1;
      texts.push(text);
    };
    listener = listenForDeliveries(stackAddresses().databaseUrl, {
      positions: () => held,
      onNews: heard,
      log: pino({ level: 'silent' }),
    });
    await until('the listener to be connected', () => news > 0);
  });
  after(() => Promise.all([listener.close(), testInstance.close(), receiver.close()]));

  it('comes with an event that is routed, and with its replay', async () => {
    const { source } = await records.pipe(receiver.endpoint(200).url);
    const before = news;
    const eventId = await records.accepted(source, '{}');
    await until('news of the event', () => news > before);
    const [delivery] = await records.deliveries(eventId);
    const position = positionOf(delivery?.id ?? '');
    const others = [
      { from: 0, to: position },
      { from: position + 1, to: POSITIONS },
    ];
    const told = texts
      .slice(before)
      .map((text) => [isToldOf(text, [{ from: position, to: position + 1 }]), isToldOf(text, others)]);
    expect(told, 'its relay, and no other').to.deep.include([true, false]);
    await records.eventWith('delivered', eventId);
    const beforeReplay = news;
    await testInstance.client.post(`${testInstance.base}/events/${eventId}/replay`, {});
    await until('news of the replay', () => news > beforeReplay);
    expect(texts.at(-1), 'all relays').to.equal('');
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

  it('is not needed: a delivery that no relay was told of is found by polling', async () => {
    const endpoint = receiver.endpoint(200);
    const { source, destination, route } = await records.pipe(endpoint.url);
    const own = { organizationId: testInstance.organizationId, sourceId: source.id };
    const event = await routedEvent(testInstance.pool, own);
    const deliveries = event.deliveries.map((delivery) => ({
      ...delivery,
      destinationId: destination.id,
      routeId: route.id,
    }));
    await storeEvents(testInstance.pool, [{ ...event, deliveries, routed: [route.id] }]);
    await until('the delivery', () => endpoint.requests.length === 1);
  });

  it('comes once for several commits that come together', async () => {
    const { source } = await records.pipe(receiver.endpoint(200).url);
    const before = news;
    const count = 60;
    await Promise.all(Array.from({ length: count }, () => records.accepted(source, '{}')));
    await until('news', () => news > before);
    expect(news - before).to.be.below(count);
  });

  it('comes of what the relay holds, also after that has changed, and of nothing else', async () => {
    const { source } = await records.pipe(receiver.endpoint(200).url);
    const received = async () => {
      const [delivery] = await records.deliveries(await records.accepted(source, '{}'));
      return positionOf(delivery?.id ?? '');
    };
    const isHeard = (position: number) => texts.some((text) => text !== '' && isToldOf(text, range(position)));
    const range = (position: number) => [{ from: position, to: position + 1 }];
    const hold = async (positions: Positions) => {
      held = positions;
      texts.length = 0;
      listener.follow();
      expect(listener.hears(), 'while it does not follow yet').to.equal(false);
      await until('it to follow', () => listener.hears() && texts.includes(''));
    };
    try {
      await hold([{ from: 0, to: 1024 }]);
      const positions: number[] = [];
      while (positions.filter((position) => position < 1024).length < 3 || positions.every((each) => each < 1024)) {
        positions.push(await received());
      }
      const own = positions.filter((position) => position < 1024);
      await until('news of its own', () => own.every(isHeard));
      expect(positions.filter((position) => position >= 1024).filter(isHeard), 'of others').to.deep.equal([]);
      await hold(ALL_POSITIONS);
      const position = await received();
      await until('news of what it took', () => isHeard(position));
    } finally {
      held = ALL_POSITIONS;
    }
  });

  it('comes again after the connection was lost', async () => {
    const { rows } = await testInstance.pool.query<{ pid: number }>(
      `select pid from pg_stat_activity where query ~ '^(un)?listen ' and pg_terminate_backend(pid)`,
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
