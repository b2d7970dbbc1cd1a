// A destination's rateLimitPerMinute holds over everything that is sent to it, and others do not wait for it.
import { expect } from 'chai';
import { type Hookyard, sharedHookyard, startHookyard } from '../support/hookyard.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type DeliveryView, onceMore, Records } from '../support/records.ts';
import { until } from '../support/until.ts';

// One delivery every 200 ms.
const PER_MINUTE = 300;
const INTERVAL_MS = 200;
// On a busy machine a request may leave this much after its slot began, and the next one on time.
const LATE_MS = 1000;

describe('the rate limit of a destination', () => {
  let yard: Hookyard;
  let records: Records;
  let receiver: Receiver;
  before(async () => {
    [yard, receiver] = await Promise.all([sharedHookyard(), startReceiver()]);
    records = new Records(yard);
  });
  after(() => Promise.all([yard.close(), receiver.close()]));

  /** When each attempt to the destination began, in order, ms. */
  async function attemptTimes(destinationId: string, { pool }: Pick<Hookyard, 'pool'> = yard): Promise<number[]> {
    const { rows } = await pool.query<{ at: Date }>(
      `select a.started_at as at from attempts a join deliveries d on d.id = a.delivery_id
       where d.destination_id = $1 order by 1`,
      [destinationId],
    );
    return rows.map((row) => row.at.getTime());
  }

  function expectPaced(times: number[]): void {
    for (const [from, start] of times.entries()) {
      for (const [to, end] of times.entries()) {
        if (to > from) expect(end - start).to.be.at.least((to - from) * INTERVAL_MS - LATE_MS);
      }
    }
  }

  async function allDelivered(eventIds: string[]): Promise<DeliveryView[]> {
    const deliveries = await Promise.all(eventIds.map((id) => records.deliveryWith('delivered', id)));
    return deliveries;
  }

  it('spaces deliveries, the oldest first', async () => {
    const endpoint = receiver.endpoint(200);
    const { source, destination } = await records.pipe(endpoint.url, {
      destination: { rateLimitPerMinute: PER_MINUTE },
    });
    const eventIds: string[] = [];
    for (let number = 0; number < 15; number += 1)
      eventIds.push(await records.accepted(source, `{"number":${number}}`));
    await allDelivered(eventIds);
    const times = await attemptTimes(destination.id);
    expect(times).to.have.length(15);
    expectPaced(times);
    const numbers = endpoint.requests.map((request) => JSON.parse(request.body.toString()).number as number);
    expect(new Set(numbers).size).to.equal(15);
  });

  it('counts retries and replays', async () => {
    const endpoint = receiver.endpoint(500, 500, 500, 200);
    const { source, destination } = await records.pipe(endpoint.url, {
      destination: { rateLimitPerMinute: PER_MINUTE, retryPolicy: onceMore(5, 0) },
    });
    const eventIds = await Promise.all([1, 2, 3].map((number) => records.accepted(source, `{"number":${number}}`)));
    await allDelivered(eventIds);
    await yard.client.post(`${yard.base}/events/bulk/replay`, { eventIds });
    await until('all replays', async () => (await attemptTimes(destination.id)).length === 9);
    expectPaced(await attemptTimes(destination.id));
  });

  it('leaves what waits open for all to see, and holds no place of other destinations', async () => {
    const slow = receiver.endpoint(200);
    const quick = receiver.endpoint(200);
    const source = await records.source();
    const [limited, free] = await Promise.all([
      records.destination(slow.url, { rateLimitPerMinute: 1 }),
      records.destination(quick.url),
    ]);
    await records.route(source.id, [limited.id, free.id]);
    const eventIds = await Promise.all(
      Array.from({ length: 60 }, (_, number) => records.accepted(source, `{"number":${number}}`)),
    );
    await until('the unlimited destination to have all', () => quick.requests.length === eventIds.length);
    expect(slow.requests.length).to.be.at.most(2);
    const { pagination } = await yard.client.list<DeliveryView>(
      `/api/deliveries?destinationId=${limited.id}&status=pending`,
    );
    expect(pagination.total).to.be.at.least(58);
    await yard.client.patch(`/api/destinations/${limited.id}`, { rateLimitPerMinute: null });
    await until('the rest once the limit is gone', () => slow.requests.length === eventIds.length, 60_000);
  });

  it('holds across several workers', async () => {
    const own = await startHookyard();
    try {
      await Promise.all([own.startWorker(), own.startWorker()]);
      const ownRecords = new Records(own);
      const endpoint = receiver.endpoint(200);
      const { source, destination } = await ownRecords.pipe(endpoint.url, {
        destination: { rateLimitPerMinute: PER_MINUTE },
      });
      for (let number = 0; number < 20; number += 1) await ownRecords.accepted(source, `{"number":${number}}`);
      await until('all to arrive', () => endpoint.requests.length === 20);
      await until('all to be recorded', async () => (await attemptTimes(destination.id, own)).length === 20);
      expectPaced(await attemptTimes(destination.id, own));
    } finally {
      await own.close();
    }
  });
});
