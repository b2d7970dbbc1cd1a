// Field mappings that search long in payloads: the API serves others while one is tried (test uploads), and in a
// worker's files only their events fail.
import { expect } from 'chai';
import { letters, slowRules } from '../support/attacks/budget-attacks.ts';
import { makeNeighbour } from '../support/attacks/neighbour.ts';
import { sharedService } from '../support/service.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { useStore, makePipe } from '../support/warehouse/warehouse-instance.ts';

const RULES = 8;

const fieldMapping = [...slowRules(RULES), { source: '$.id', target: 'id', type: 'string' }];
const slow = JSON.stringify({ texts: [letters(100 * 1024)] });
const quick = JSON.stringify({ texts: [`${'a'.repeat(500)}cd`] });

describe('Mappings that are too much work', () => {
  const { testInstance: attacker } = useHookyard();
  const store = useStore();

  it('leave the API alone while one is tried', async () => {
    const neighbour = await makeNeighbour(await sharedService('api'));
    const { destinationId } = await makePipe(attacker, store, { destination: { fieldMapping } });
    const { result, seen } = await neighbour.during(() =>
      attacker.client.request('POST', `/api/destinations/${destinationId}/test`, { payload: JSON.parse(slow) }),
    );
    expect(result.body).to.include({ success: false });
    expect(String((result.body as { error: string }).error)).to.match(/^Building the row took too long/);
    // A row takes half a second of its thread. While the loop was held for it, a few would be answered at most.
    expect(seen.answers, `meanwhile; the slowest took ${Math.round(seen.longestMs)} ms`).to.be.at.least(8);
  });

  it('fail alone in the file of a worker, which has the others', async () => {
    const config = { batchSize: 3, batchWindowSeconds: 3600 };
    const pipe = await makePipe(attacker, store, { config, destination: { fieldMapping } });
    await pipe.send([slow, slow]);
    const [well] = await pipe.send([quick]);
    await pipe.settled(2, 'failed', 120_000);
    expect((await pipe.rows(1)).map(({ id }) => id)).to.deep.equal([well]);
    const path = `/api/deliveries?destinationId=${pipe.destinationId}&status=failed`;
    const { data } = await attacker.client.list<{ error: string }>(path);
    expect(data).to.have.length(2);
    for (const { error } of data) expect(error).to.match(/^Building the event's row took too long/);
  });
});
