import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { boundedSearches } from '../../api/resources/events/events.ts';

describe('searches in a process', () => {
  /** Searches of one organization that continue until they are told to end. @returns how many were refused at once */
  async function hold(run: ReturnType<typeof boundedSearches>, organization: string, count: number) {
    const gate = Promise.withResolvers<void>();
    const outcomes = Array.from({ length: count }, () =>
      run(organization, 'search', () => gate.promise).then(
        () => 'done',
        (error: Error) => error.message,
      ),
    );
    // What is refused is refused at once.
    await nextTurn();
    const settled = await Promise.all(outcomes.map((each) => Promise.race([each, Promise.resolve('running')])));
    return { refused: settled.filter((each) => each.includes('Other searches are running')).length, gate, outcomes };
  }

  it('are shared: one organization with any number of them leaves others two of the four', async () => {
    const run = boundedSearches();
    const greedy = await hold(run, 'greedy', 20);
    expect(greedy.refused).to.equal(18);
    const second = await hold(run, 'second', 5);
    expect(second.refused, 'it has one, as one more is free for the next').to.equal(4);
    expect(await run('third', 'search', () => Promise.resolve('found'))).to.equal('found');
    greedy.gate.resolve();
    second.gate.resolve();
    await Promise.all([...greedy.outcomes, ...second.outcomes]);
    expect((await hold(run, 'greedy', 3)).refused, 'slots come back').to.equal(1);
  });
});
