// Field mappings that search long in payloads: in the API (test uploads) and the worker (files), others are served
// meanwhile.
import { expect } from 'chai';
import { letters, slowRules } from '../support/attacks/budget-attacks.ts';
import { makeNeighbour } from '../support/attacks/neighbour.ts';
import { sharedService } from '../support/service.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { useStore, makePipe } from '../support/warehouse/warehouse-instance.ts';

const RULES = 8;

const fieldMapping = [...slowRules(RULES), { source: '$.id', target: 'id', type: 'string' }];
const slow = JSON.stringify({ texts: [letters(100 * 1024)] });

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
    expect(String((result.body as { error: string }).error)).to.match(/^Building the row takes too long/);
    // A row takes half a second of its thread. While the loop was held for it, a few would be answered at most.
    expect(seen.answers, `meanwhile; the slowest took ${Math.round(seen.longestMs)} ms`).to.be.at.least(8);
  });
});
