// How late the webhooks of an organization are beside another one that has hundreds waiting: counted in the attacker's
// deliveries that are made before, so that a busy machine changes nothing.
import { expect } from 'chai';
import { addNeighbour, expectAccepted, fanOut, watchArrivals } from '../support/attacks/neighbours.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const DESTINATIONS = 50;
const WEBHOOKS = 8;
const OTHERS = 10;
const ALL = DESTINATIONS * WEBHOOKS;
/** In turn, ten of each and what is in flight of the attacker's; by age it would be all 400. */
const MOST_AHEAD = ALL / 4;

describe('an organization with hundreds of deliveries that wait', () => {
  const { testInstance, receiver } = useHookyard({
    settings: { HOOKYARD_LANE: 'express', tuning: { maxInFlight: 20 } },
  });

  it('has few of them made before those of another that came later', async () => {
    const arrivals = watchArrivals(receiver);
    const [greedy, other] = [await addNeighbour(testInstance), await addNeighbour(testInstance)];
    const flood = await fanOut(greedy, [arrivals.endpoint('greedy').url], DESTINATIONS);
    const lively = await other.records.pipe(arrivals.endpoint('other').url);
    await expectAccepted(greedy, flood.source, WEBHOOKS);
    await expectAccepted(other, lively.source, OTHERS);
    await testInstance.startWorker();
    await until('all of them', () => arrivals.count('other') >= OTHERS && arrivals.count('greedy') >= ALL);
    expect(arrivals.ahead()).to.be.at.most(MOST_AHEAD);
  });
});
