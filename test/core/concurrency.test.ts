import { expect } from 'chai';
import { setImmediate as turn, setImmediate as nextTurn } from 'node:timers/promises';
import { boundedSearches } from '../../api/resources/events/events.ts';
import { eachOf, limitConcurrency, QueueFullError, settleAll } from '../../core/fairness/concurrency.ts';

describe('each of many', () => {
  const items = Array.from({ length: 20 }, (_, n) => n);
  /** @returns which items were worked on, and the error */
  async function run(concurrency: number, isBad: (item: number) => boolean) {
    const seen: number[] = [];
    const error: unknown = await eachOf(items, concurrency, async (item) => {
      seen.push(item);
      await turn();
      if (isBad(item)) throw new Error(`item ${item}`);
    }).catch((failure: unknown) => failure);
    return { seen, error };
  }

  it('is done although one fails, and the failure is thrown at the end', async () => {
    const { seen, error } = await run(3, (item) => item === 4);
    expect(seen).to.deep.equal(items);
    expect(error).to.have.property('message', 'item 4');
  });

  it('is given up after as many failures as run at a time', async () => {
    const { seen, error } = await run(3, () => true);
    // Two others may have begun before the third failure.
    expect(seen.length).to.be.within(3, 5);
    expect(error).to.have.property('message', 'item 0');
  });

  it('runs no more at a time than it may', async () => {
    let running = 0;
    let most = 0;
    await eachOf(items, 4, async () => {
      most = Math.max(most, ++running);
      await turn();
      running -= 1;
    });
    expect(most).to.equal(4);
  });
});

it('works that run together all end before the first error is thrown', async () => {
  let hasEnded = false;
  const slow = turn().then(() => {
    hasEnded = true;
  });
  const works = [Promise.resolve(), Promise.reject(new Error('first')), Promise.reject(new Error('second')), slow];
  const error: unknown = await settleAll(works).catch((failure: unknown) => failure);
  expect([error, hasEnded]).to.deep.include(true).and.have.nested.property('[0].message', 'first');
  await settleAll([Promise.resolve(1)]);
});

it('work that is limited runs in order, and no more of it waits than may', async () => {
  const limited = limitConcurrency(1, 1);
  const gate = Promise.withResolvers<void>();
  const ended: number[] = [];
  const run = (number: number) => limited(() => gate.promise.then(() => ended.push(number)));
  const running = [run(1), run(2)];
  expect(await run(3).catch((error: unknown) => error)).to.be.instanceOf(QueueFullError);
  gate.resolve();
  await Promise.all(running);
  await run(4);
  expect(ended).to.deep.equal([1, 2, 4]);
});

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
