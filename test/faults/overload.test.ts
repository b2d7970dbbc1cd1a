import { expect } from 'chai';
import type { Ledger } from '../support/workflows/ledger.ts';
import { onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const LIMIT = 200;
/** What one organization may have waiting, and one of its destinations. */
const SHARE = { organization: (LIMIT * 3) / 4, destination: (LIMIT * 3) / 8 };
const SETTINGS = { HOOKYARD_MAX_BACKLOG: String(LIMIT) };
// After so many webhooks, one after the other, the limit must have been noticed.
const MOST = 2000;
const DEADLINE_MS = 180_000;

type Posted = Awaited<ReturnType<Ledger['post']>>;

describe('more webhooks than deliveries', function () {
  this.timeout(900_000);
  const { testInstance, records, line } = useHookyard({ settings: SETTINGS });
  beforeEach('every test starts a worker when it wants one', () => testInstance.onlyWorkers());

  /**
   * Sends until the share of the destination is used up and a webhook is refused. What is stored while a count runs may
   * count twice until the next count, so some webhooks are refused before.
   * @returns the refusal
   */
  async function fill(ledger: Ledger): Promise<Posted> {
    while (ledger.acknowledged.size < MOST) {
      const answer = await ledger.post();
      const isUsedUp = ledger.acknowledged.size >= SHARE.destination;
      if (answer?.status !== 200 && isUsedUp && (await ingestState()) !== 'open') return answer;
    }
    throw new Error(`${MOST} webhooks were accepted, the limit is ${LIMIT}`);
  }

  const ingestState = async () => (await testInstance.client.get<{ ingest: string }>('/readyz')).ingest;
  const untilState = (state: string) =>
    until(`ingest to be ${state}`, async () => (await ingestState()) === state, DEADLINE_MS);
  const logged = (text: string) => testInstance.logs().split(text).length - 1;
  const expectRefusal = (answer: Posted, message: RegExp) => {
    expect(answer?.status).to.equal(503);
    expect(answer?.body).to.include({ error: 'Service Unavailable', code: 'UNAVAILABLE' });
    expect(answer?.body).to.have.property('message').that.matches(message);
    expect(Number(answer?.headers['retry-after'])).to.be.greaterThan(0);
  };

  it('are refused beyond the limit, and what was acknowledged is delivered in the order of its receipt', async () => {
    const burst = await line();
    const other = await line();
    const closings = logged('ingest returns 503');
    expectRefusal(await fill(burst.ledger), new RegExp(`destination ${burst.destination.id}`));
    expect(await records.storedEvents(burst.source.id)).to.equal(burst.ledger.acknowledged.size);
    await untilState('partly_full');
    expect((await other.ledger.post())?.status, 'another destination').to.equal(200);

    await testInstance.startApi();
    expect((await burst.ledger.post())?.status, 'a process that starts later').to.equal(503);

    // One at a time, so that the order of arrival is the order of claiming.
    await testInstance.startWorker({ tuning: { maxInFlightPerDestination: 1 } });
    await burst.ledger.settle(DEADLINE_MS);
    const arrived = burst.endpoint.requests.map(({ headers }) => String(headers['x-hookyard-delivery-id']));
    const inOrder = [...new Set(arrived)];
    expect(inOrder).to.deep.equal(inOrder.toSorted());

    await untilState('open');
    expect((await burst.ledger.post())?.status).to.equal(200);
    await burst.ledger.settle(DEADLINE_MS);
    await other.ledger.settle(DEADLINE_MS);
    expect(await records.storedEvents(burst.source.id)).to.equal(burst.ledger.acknowledged.size);
    // Each of the two processes noticed it, and said so once.
    expect(logged('ingest returns 503') - closings).to.equal(2);
  });

  it('to a destination that does not answer leave the others alone', async () => {
    const gate = Promise.withResolvers<void>();
    const hanging = await line([{ after: gate.promise }], {
      destination: { timeoutMs: 60_000, retryPolicy: onceMore(5) },
    });
    const lively = await line();
    try {
      await testInstance.startWorker();
      await fill(hanging.ledger);
      for (let number = 0; number < 10; number += 1) {
        const answer = await lively.ledger.post();
        expect(answer?.status).to.equal(200);
        await records.eventWith('delivered', answer?.body.eventId ?? '');
      }
      await untilState('partly_full');
    } finally {
      gate.resolve();
    }
    await hanging.ledger.settle(DEADLINE_MS);
    await untilState('open');
  });
});
