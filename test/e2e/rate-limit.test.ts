import { expect } from 'chai';
import type { Hookyard } from '../support/hookyard.ts';
import { type DeliveryView, inExpressLane, onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { selectRows, selectValue } from '../support/database/sql.ts';

// How many retries wait for their turn.
const WAITING = 5;
const UNANSWERED = 40;
const HOUR_MS = 3_600_000;
// One delivery every 200 ms.
const PER_MINUTE = 300;
const INTERVAL_MS = 200;
// Of the timers and the clocks.
const EARLY_MS = 100;

describe('the rate limit of a destination', () => {
  const { testInstance, records, receiver } = useHookyard();

  /** When each attempt to the destination began, in order, ms. */
  async function attemptTimes(
    destinationId: string,
    { pool }: Pick<Hookyard, 'pool'> = testInstance,
  ): Promise<number[]> {
    const rows = await selectRows<{ at: Date }>(pool)`
      select a.started_at as at from attempts a join deliveries d on d.id = a.delivery_id
      where d.destination_id = ${destinationId} order by 1`;
    return rows.map((row) => row.at.getTime());
  }

  /** How many activities a delivery has asked for, and how long its waits were to be, ms. */
  async function historyOf(deliveryId: string): Promise<{ activities: number; timers: number[] }> {
    const { events } = await testInstance.temporal.workflow.getHandle(deliveryId).fetchHistory();
    return {
      activities: (events ?? []).filter((event) => event.activityTaskScheduledEventAttributes).length,
      timers: (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) =>
        timer ? [Number(timer.startToFireTimeout?.seconds) * 1000] : [],
      ),
    };
  }

  /**
   * None begins before its slot; on a busy machine any may begin late.
   * @param since no slot was before it, ms since 1970
   */
  function expectPaced(times: number[], since: number): void {
    for (const [slot, at] of times.entries()) expect(at - since).to.be.at.least(slot * INTERVAL_MS - EARLY_MS);
  }

  async function allDelivered(eventIds: string[]): Promise<DeliveryView[]> {
    const deliveries = await Promise.all(eventIds.map((id) => records.deliveryWith('delivered', id)));
    return deliveries;
  }

  it('spaces first attempts, retries and replays together', async () => {
    const endpoint = receiver.endpoint(500, 500, 500, 200);
    const { source, destination } = await records.pipe(endpoint.url, {
      destination: { rateLimitPerMinute: PER_MINUTE, retryPolicy: onceMore(5, 0) },
    });
    const since = Date.now();
    const eventIds = await Promise.all([1, 2, 3].map((number) => records.accepted(source, `{"number":${number}}`)));
    await allDelivered(eventIds);
    const replayedSince = Date.now();
    await testInstance.client.post(`${testInstance.base}/events/bulk/replay`, { eventIds });
    await until('all replays', async () => (await attemptTimes(destination.id)).length === 9);
    const times = await attemptTimes(destination.id);
    expectPaced(times.slice(0, 6), since);
    expectPaced(times.slice(6), replayedSince);
  });

  it('lets retries wait for their turn in the outbox, and they hear of a new limit', async () => {
    const failures = Array.from({ length: WAITING + 1 }, () => 500);
    const endpoint = receiver.endpoint(...failures, 200);
    const { source, destination } = await records.pipe(endpoint.url, {
      destination: { retryPolicy: onceMore(3, HOUR_MS) },
      route: { circuitFailureThreshold: 100 },
    });
    const eventIds = await Promise.all(failures.map((_, number) => records.accepted(source, `{"number":${number}}`)));
    const failed = await Promise.all(eventIds.map((id) => records.deliveryWith('retrying', id)));
    await testInstance.client.patch(`/api/destinations/${destination.id}`, { rateLimitPerMinute: 1 });
    for (const { id } of failed) await testInstance.client.post(`/api/deliveries/${id}/retry`);
    // One has the first slot, and the next one is a minute away.
    const waiting = await until('the others to wait', async () => {
      const rows = await selectRows<{ id: string }>(testInstance.pool)`select delivery_id as id from outbox
        where destination_id = ${destination.id} and resume = 'waiting' order by 1`;
      return rows.length === WAITING && rows.map((row) => row.id);
    });
    const [cancelled = '', terminated = '', ...others] = waiting;
    // One look for a slot after the first attempt, and none while it waits.
    for (const id of others) {
      const { activities, timers } = await until('the wait', async () => {
        const waits = await historyOf(id);
        return waits.timers.length === 2 && waits;
      });
      expect(activities).to.be.at.most(inExpressLane ? 1 : 2);
      expect(timers.at(-1)).to.be.above(HOUR_MS);
    }
    await testInstance.client.post(`/api/deliveries/${cancelled}/cancel`);
    await testInstance.temporal.workflow.getHandle(terminated).terminate();
    await testInstance.client.patch(`/api/destinations/${destination.id}`, { rateLimitPerMinute: PER_MINUTE });
    await until('all to be over', async () => {
      const views = await Promise.all(eventIds.map((id) => records.event(id)));
      return views.every(({ status }) => status !== 'pending');
    });
    const ends = await Promise.all([cancelled, terminated].map(async (id) => (await records.delivery(id)).status));
    expect(ends).to.deep.equal(['cancelled', 'failed']);
    const retries = endpoint.requests
      .slice(failures.length + 1)
      .map(({ headers }) => headers['x-hookyard-delivery-id']);
    expect(retries).to.have.members(others);
  });

  it('gives turns to others while the attempts of the first are not answered', async () => {
    const answered = Promise.withResolvers<void>();
    const failures = Array.from({ length: UNANSWERED }, () => 500);
    const endpoint = receiver.endpoint(...failures, { after: answered.promise });
    const { source, destination } = await records.pipe(endpoint.url, {
      destination: { retryPolicy: onceMore(3, HOUR_MS), timeoutMs: 60_000 },
      route: { circuitFailureThreshold: 100 },
    });
    const eventIds = await Promise.all(failures.map((_, number) => records.accepted(source, `{"number":${number}}`)));
    const failed = await Promise.all(eventIds.map((id) => records.deliveryWith('retrying', id)));
    await testInstance.client.patch(`/api/destinations/${destination.id}`, { rateLimitPerMinute: 1 });
    for (const { id } of failed) await testInstance.client.post(`/api/deliveries/${id}/retry`);
    const queued = () => selectValue<number>(testInstance.pool)`select count(*)::int as count from outbox
      where destination_id = ${destination.id}`;
    await until('all but the first to wait', async () => (await queued()) === UNANSWERED - 1);
    const since = Date.now();
    await testInstance.client.patch(`/api/destinations/${destination.id}`, { rateLimitPerMinute: PER_MINUTE });
    // The relay asks after what it has not heard of for 5 s, so there are more than get their turn until then.
    await until('all attempts', () => endpoint.requests.length === 2 * UNANSWERED, 60_000);
    expect(await queued()).to.equal(0);
    answered.resolve();
    await allDelivered(eventIds);
    const times = (await attemptTimes(destination.id)).slice(UNANSWERED + 1);
    expectPaced(times, since);
  });
});
