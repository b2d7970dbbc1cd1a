// How late the webhooks of an organization are beside another one that has hundreds waiting: counted in the attacker's
// deliveries that are made before, so that a busy machine changes nothing.
import { expect } from 'chai';
import { addNeighbour, type Arrivals, fanOut, type Neighbour, watchArrivals } from '../support/attacks/neighbours.ts';
import type { SourceView } from '../support/records.ts';
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
  let greedy: Neighbour;
  let other: Neighbour;
  let arrivals: Arrivals;
  beforeEach(async () => {
    arrivals = watchArrivals(receiver);
    await testInstance.onlyWorkers();
    [greedy, other] = await Promise.all([addNeighbour(testInstance), addNeighbour(testInstance)]);
  });

  async function send({ records }: Neighbour, source: SourceView, times: number) {
    for (let number = 0; number < times; number += 1) await records.accepted(source, '{}');
  }

  it('has few of them made before those of another that came later', async () => {
    const flood = await fanOut(greedy, [arrivals.endpoint('greedy').url], DESTINATIONS);
    const lively = await other.records.pipe(arrivals.endpoint('other').url);
    await send(greedy, flood.source, WEBHOOKS);
    await send(other, lively.source, OTHERS);
    await testInstance.startWorker();
    await until('all of them', () => arrivals.count('other') >= OTHERS && arrivals.count('greedy') >= ALL);
    expect(arrivals.ahead()).to.be.at.most(MOST_AHEAD);
  });
});
