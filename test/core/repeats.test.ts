import { expect } from 'chai';
import { throttled } from '../../core/process/log.ts';
import { useClock } from '../support/clock.ts';

const EVERY_MS = 60_000;

function logged() {
  const written: [message: string, repeated: number][] = [];
  const write = ({ repeated = 0 }: { repeated?: number }, message: string) => written.push([message, repeated]);
  const log = throttled({ warn: write as never, error: write as never });
  return { log, take: () => written.splice(0) };
}

describe('repeats', () => {
  const { pass } = useClock();

  it('are written as a number when their interval is over, with the last of them', async () => {
    const { log, take } = logged();
    for (let n = 1; n <= 5; n += 1) log.warn({}, `away ${n}`, 'away');
    expect(take()).to.deep.equal([['away 1', 0]]);
    await pass(EVERY_MS - 1);
    expect(take()).to.deep.equal([]);
    await pass(1);
    expect(take()).to.deep.equal([['away 5', 4]]);
  });

  it('begin again after an interval without any: the next one is written at once', async () => {
    const { log, take } = logged();
    log.warn({}, 'first', 'away');
    await pass(EVERY_MS);
    log.warn({}, 'second', 'away');
    expect(take()).to.deep.equal([
      ['first', 0],
      ['second', 0],
    ]);
  });

  it('are told apart by level, message and code of their cause', () => {
    const { log, take } = logged();
    for (const code of ['a', 'b', 'a', 'b']) log.warn({ cause: { code } }, 'away');
    log.error({ cause: { code: 'a' } }, 'away');
    expect(take()).to.deep.equal([
      ['away', 0],
      ['away', 0],
      ['away', 0],
    ]);
    log.flush();
    expect(take()).to.deep.equal([
      ['away', 1],
      ['away', 1],
    ]);
    log.flush();
    expect(take()).to.deep.equal([]);
  });

  it('take bounded memory and few lines, however many kinds there are', async () => {
    const { log, take } = logged();
    for (let n = 0; n < 1000; n += 1) log.warn({}, `kind ${n}`);
    expect(take()).to.have.length(101);
    await pass(EVERY_MS);
    expect(take(), 'all others together').to.deep.equal([['kind 999', 899]]);
  });
});
