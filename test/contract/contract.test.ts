// The interface (docs/interface.md), rule by rule: each row begins with the ids of rules and shows them with real requests.
import { expect } from 'chai';
import { COLD_START_MS } from '../support/object-stores.ts';
import { contractProblems } from './coverage.ts';
import { readPages, rulesOf } from './page.ts';
import { rows } from './rows/index.ts';
import { World } from './world.ts';

describe('The contract', () => {
  it('has a test for every rule, and a rule for everything', () => {
    const pages = readPages();
    const titles = rows.map(({ title }) => title);
    expect(contractProblems(pages, rulesOf(pages), titles), 'npm run contract says more').to.deep.equal([]);
  });

  describe('is kept', () => {
    let world: World;
    before(async function () {
      this.timeout(COLD_START_MS);
      world = await World.start();
      await world.warehouse();
    });
    after(() => world.close());

    for (const row of rows) it(row.title, () => row.check(world));
  });
});
