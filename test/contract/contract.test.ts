// The contract (docs/interface.md), statement by statement: each row cites one and shows it with real requests.
import { expect } from 'chai';
import { COLD_START_MS } from '../support/object-stores.ts';
import { contractProblems } from './coverage.ts';
import { rows } from './rows/index.ts';
import { World } from './world.ts';

describe('The contract', () => {
  it('has a row for every statement, and the text is the one the rows were written for', () => {
    expect(contractProblems(rows), 'npm run contract says more').to.deep.equal([]);
  });

  describe('is kept', () => {
    let world: World;
    before(async function () {
      this.timeout(COLD_START_MS);
      world = await World.start();
      await world.warehouse();
    });
    after(() => world.close());

    for (const section of new Set(rows.map((row) => row.section))) {
      describe(section, () => {
        for (const row of rows.filter((candidate) => candidate.section === section)) {
          it(row.quote, () => row.check(world));
        }
      });
    }
  });
});
