import { expect } from 'chai';
import { addNeighbour, emptyBacklogFirst, expectAccepted, fanOut } from '../support/attacks/neighbours.ts';
import { until } from '../support/until.ts';
import { useHookyard, useMade } from '../support/use-hookyard.ts';

const LIMIT = 1000;
const DEAD = 200;
const BROADCASTS = 7;
const OTHERS = 25;

describe('an organization whose deliveries wait', () => {
  const { testInstance, receiver } = useHookyard({ settings: { HOOKYARD_MAX_BACKLOG: String(LIMIT) } });
  const other = useMade('a neighbour', () => addNeighbour(testInstance));
  emptyBacklogFirst(testInstance);

  it(`cannot close ingest for others with ${DEAD} dead destinations and ${BROADCASTS} webhooks`, async () => {
    const greedy = await addNeighbour(testInstance);
    const dead = await fanOut(greedy, [receiver.endpoint(500).url], DEAD);
    const { source } = await other.records.pipe(receiver.endpoint(200).url);
    const answers = await Promise.all(
      Array.from({ length: BROADCASTS }, () => greedy.records.post(dead.source, '{}').then(({ status }) => status)),
    );
    const taken = answers.filter((status) => status === 200);
    expect(taken, 'its share, and no more').to.have.length(4);
    await expectAccepted(other, source, OTHERS);
    // The one that has its share is still refused.
    const refused = await greedy.records.post(dead.source, '{}');
    expect(refused.status).to.equal(503);
    expect(refused.headers['retry-after']).to.match(/^\d+$/);
    expect(refused.body)
      .to.have.property('message')
      .that.matches(/this organization|the destination/i);
    const ingest = async () => (await testInstance.client.get('/readyz')).ingest;
    await until('the next count to find it', async () => (await ingest()) === 'partly_full');
  });
});
