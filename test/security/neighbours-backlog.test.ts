// What waits for one organization does not close ingest for another.
import { expect } from 'chai';
import { addNeighbour, expectAccepted, fanOut, type Neighbour } from '../support/attacks/neighbours.ts';
import { onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const LIMIT = 1000;
const DEAD = 200;
const BROADCASTS = 7;
const OTHERS = 25;
const MOST = 2000;

describe('an organization whose deliveries wait', () => {
  const { testInstance, receiver } = useHookyard({ settings: { HOOKYARD_MAX_BACKLOG: String(LIMIT) } });
  let other: Neighbour;
  before(async () => {
    other = await addNeighbour(testInstance);
  });
  beforeEach('nothing waits, and ingest has noticed that', async () => {
    await testInstance.pool.query('truncate outbox, held_deliveries, retrying_deliveries');
    await until('ingest to be open', async () => {
      const { ingest } = await testInstance.client.get<{ ingest: string }>('/readyz');
      return ingest === 'open';
    });
  });

  async function attacker(): Promise<Neighbour> {
    return addNeighbour(testInstance);
  }

  it(`cannot close ingest for others with ${DEAD} dead destinations and ${BROADCASTS} webhooks`, async () => {
    const greedy = await attacker();
    const dead = await fanOut(greedy, [receiver.endpoint(500).url], DEAD);
    const { source } = await other.records.pipe(receiver.endpoint(200).url);
    const answers = await Promise.all(
      Array.from({ length: BROADCASTS }, () => greedy.records.post(dead.source, '{}').then(({ status }) => status)),
    );
    expect(
      answers.filter((status) => status === 200),
      'its share, and no more',
    ).to.have.length(4);
    await expectAccepted(other, source, OTHERS);
    // The one that has its share is still refused.
    const refused = await greedy.records.post(dead.source, '{}');
    expect(refused.status).to.equal(503);
    expect(refused.headers['retry-after']).to.match(/^\d+$/);
    expect(refused.body)
      .to.have.property('message')
      .that.matches(/this organization|the destination/);
    await until('the next count to find it', async () => {
      const { ingest } = await testInstance.client.get<{ ingest: string }>('/readyz');
      return ingest === 'partly_full';
    });
  });

  it('counts its retries, which wait in Temporal', async () => {
    const greedy = await attacker();
    const failing = await greedy.records.pipe(receiver.endpoint(500).url, {
      destination: { retryPolicy: onceMore(5, 3_600_000) },
      route: { circuitFailureThreshold: 10_000 },
    });
    const { source } = await other.records.pipe(receiver.endpoint(200).url);
    const worker = await testInstance.startWorker();
    try {
      let accepted = 0;
      // What is stored while a count runs may count twice until the next one: only a count refuses for good.
      const refused = await until('a refusal that a count confirms', async () => {
        for (; accepted < MOST; accepted += 1) {
          const answer = await greedy.records.post(failing.source, '{}');
          if (answer.status === 200) continue;
          const { ingest } = await testInstance.client.get<{ ingest: string }>('/readyz');
          return ingest === 'partly_full' && answer;
        }
        throw new Error(`${MOST} were accepted`);
      });
      expect(refused.status).to.equal(503);
      await until('all of them to wait for a retry', async () => {
        const { rows } = await testInstance.pool.query<{ waiting: number; retrying: number }>(
          `select (select count(*)::int from outbox where organization_id = $1) as waiting,
                  (select count(*)::int from retrying_deliveries where organization_id = $1) as retrying`,
          [greedy.organizationId],
        );
        expect(rows[0]?.retrying).to.equal(accepted);
        return rows[0]?.waiting === 0;
      });
      // One destination stops at three eighths, its organization at three quarters.
      expect(accepted).to.be.within(LIMIT / 3, (3 * LIMIT) / 4);
      // It was refused by a count that may have had one or two of them twice.
      await until('retries to count', async () => (await greedy.records.post(failing.source, '{}')).status === 503);
      await expectAccepted(other, source, OTHERS);

      // What is cancelled waits no longer.
      const next = await greedy.records.pipe(receiver.endpoint(200).url);
      await greedy.instance.client.delete(`/api/destinations/${failing.destination.id}`);
      await until('room', async () => (await greedy.records.post(next.source, '{}')).status === 200);
    } finally {
      await worker.stop();
    }
  });
});
