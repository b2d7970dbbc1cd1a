// Destinations of one organization that answer slowly do not keep the webhooks and retries of another waiting.
import { expect } from 'chai';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { addNeighbour, fanOut, type Neighbour } from '../support/attacks/neighbours.ts';
import { type Answering, type Endpoint, type Receiver, startReceiver } from '../support/receiver.ts';
import { onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';

const SLOW = 500;
// More than the activities that a worker runs at a time (worker/worker-parts.ts).
const RETRIES = 520;
// A destination that does not answer gets four at a time (core/delivery/destination-concurrency.ts), so they go to
// many.
const RETRIES_OF_EACH = 4;
const OTHERS = 10;

describe('an organization whose destinations are slow', () => {
  let testInstance: OwnHookyard;
  let receiver: Receiver;
  let greedy: Neighbour;
  let other: Neighbour;
  let gate: PromiseWithResolvers<void>;
  beforeEach(async () => {
    gate = Promise.withResolvers();
    [testInstance, receiver] = await Promise.all([startHookyard(), startReceiver()]);
    [greedy, other] = await Promise.all([addNeighbour(testInstance), addNeighbour(testInstance)]);
  });
  afterEach(async () => {
    gate.resolve();
    await receiver.close();
    await testInstance.close();
  });

  const total = (endpoints: Endpoint[]) => endpoints.reduce((sum, { requests }) => sum + requests.length, 0);
  /** On a slow machine some that hang reach their timeout, and are made again. */
  const underWay = (endpoints: Endpoint[]) => endpoints.reduce((sum, { waiting }) => sum + waiting, 0);

  it(`leaves others places, although ${SLOW} destinations hang`, async () => {
    const slow = Array.from({ length: SLOW }, () => receiver.endpoint({ after: gate.promise }));
    const { source } = await fanOut(
      greedy,
      slow.map(({ url }) => url),
      SLOW,
      { destination: { timeoutMs: 60_000 } },
    );
    const lively = await other.records.pipe(receiver.endpoint(200).url);
    for (let number = 0; number < 3; number += 1) await greedy.records.accepted(source, '{}');
    await testInstance.startWorker();
    await until('its share to hang', () => underWay(slow) >= 180);

    for (let number = 0; number < OTHERS; number += 1) {
      await other.records.eventWith('delivered', await other.records.accepted(lively.source, '{}'));
    }
    // All of them hang still: nothing that was delivered has waited for one.
    expect(underWay(slow), 'three quarters of the places').to.be.at.most(200);
    expect((await answered(slow)).length).to.equal(0);
  });

  it('leaves others activities, although more retries hang than a worker runs', async () => {
    const retriesHang: Answering = ({ headers }) =>
      headers['x-hookyard-attempt'] === '1' ? { status: 500 } : { after: gate.promise };
    const hanging = Array.from({ length: RETRIES / RETRIES_OF_EACH }, () => receiver.endpoint(retriesHang));
    const { source: stuck } = await fanOut(
      greedy,
      hanging.map(({ url }) => url),
      hanging.length,
      {
        destination: { retryPolicy: onceMore(3, 4000), timeoutMs: 60_000 },
        route: { circuitFailureThreshold: 10_000 },
      },
    );
    const failsOnce = () => receiver.endpoint(500, 200);
    const quick = [];
    for (let number = 0; number < OTHERS; number += 1) {
      quick.push(
        await other.records.pipe(failsOnce().url, {
          destination: { retryPolicy: onceMore(3, 10) },
          route: { circuitFailureThreshold: 10_000 },
        }),
      );
    }
    await testInstance.startWorker();
    for (let sent = 0; sent < RETRIES_OF_EACH; sent += 1) await greedy.records.accepted(stuck, '{}');
    await until('every first attempt', () => total(hanging) >= RETRIES, 120_000);
    await until('its share of retries to hang', () => underWay(hanging) >= 200, 120_000);

    for (const { source } of quick) {
      const event = await other.records.eventWith('delivered', await other.records.accepted(source, '{}'));
      expect(event.deliveries?.[0]).to.include({ attemptCount: 2 });
    }
    expect(underWay(hanging), 'three quarters of the activities').to.be.at.most(375);
    expect((await answered(hanging)).length, 'of those that hang').to.equal(0);

    gate.resolve();
    const { rows } = await until(
      'every delivery',
      async () => {
        const found = await testInstance.pool.query<{ status: string; count: number }>(
          'select status, count(*)::int from deliveries where organization_id = $1 group by 1',
          [greedy.organizationId],
        );
        expect(found.rows).to.deep.equal([{ status: 'delivered', count: RETRIES }]);
        return found;
      },
      120_000,
    );
    expect(rows).to.have.length(1);
  });

  /** Deliveries to these addresses that have succeeded. */
  async function answered(endpoints: Endpoint[]): Promise<unknown[]> {
    const { rows } = await testInstance.pool.query(
      `select from deliveries d join destinations t on t.id = d.destination_id
       where t.url = any($1::text[]) and d.status = 'delivered'`,
      [endpoints.map(({ url }) => url)],
    );
    return rows;
  }
});
