// The budget for transforms over hours, with a clock of the test's own.
import { expect } from 'chai';
import { Accounts } from '../../outbound/transforms/accounts.ts';

const MINUTE_MS = 60_000;
const PER_MINUTE = 6000;
const RUN_MS = 100;
const LONGEST_WAIT_MS = 10 * MINUTE_MS;
// So many runs in a minute are what the budget allows.
const ALLOWED = PER_MINUTE / RUN_MS;

interface Job {
  number: number;
  since: number;
  comesAt: number;
  times: number;
}

const orderOf = ({ number }: Job, now: number) => Math.imul(number + 1, Math.imul(now, 2_654_435_761)) >>> 8;

/**
 * An organization that makes more work than its budget allows, minute after minute.
 * @param extra how many times as much
 * @returns how long each piece of work waited until it ran, or until the end, and how often each was sent away
 */
function overload(minutes: number, extra: number) {
  const accounts = new Accounts();
  const waited: number[] = [];
  const all: Job[] = [];
  let jobs: Job[] = [];
  for (let now = 1000; now < minutes * MINUTE_MS; now += 50) {
    const made = Math.floor((now / MINUTE_MS) * ALLOWED * extra);
    while (all.length < made) {
      const job = { number: all.length, since: now + all.length / 1e6, comesAt: now, times: 0 };
      all.push(job);
      jobs.push(job);
    }
    const due = jobs.filter(({ comesAt }) => comesAt <= now);
    // In no order: who is first is chance.
    for (const job of due.toSorted((one, other) => orderOf(one, now) - orderOf(other, now))) {
      const waitMs = accounts.waitMs({ organizationId: 'o', group: 'g', since: job.since }, PER_MINUTE, now);
      if (waitMs > 0) {
        job.comesAt = now + waitMs;
        job.times += 1;
        continue;
      }
      accounts.charge('o', RUN_MS, PER_MINUTE, now);
      waited.push(now - job.since);
      jobs = jobs.filter((each) => each !== job);
    }
  }
  const end = minutes * MINUTE_MS;
  return { waited: [...waited, ...jobs.map(({ since }) => end - since)], times: all.map(({ times }) => times) };
}

describe('the budget for transforms', () => {
  for (const extra of [1.1, 2]) {
    it(`gives what was sent away its turn, about the oldest first, when there is ${extra} times too much`, () => {
      const minutes = 60;
      const { waited, times } = overload(minutes, extra);
      // If all came in the order of their age, and asked only when it is their turn.
      const leastMs = minutes * MINUTE_MS * (1 - 1 / extra);
      expect(Math.max(...waited)).to.be.below(leastMs + LONGEST_WAIT_MS);
      expect(times.reduce((sum, one) => sum + one, 0) / times.length, 'how often it asks').to.be.below(6);
    });
  }

  it('lets in what somebody waits for as long as something is left', () => {
    const accounts = new Accounts();
    const turn = { organizationId: 'o', group: 'g' };
    expect(accounts.waitMs({ ...turn, since: 1 }, PER_MINUTE, 0)).to.equal(0);
    accounts.charge('o', PER_MINUTE, PER_MINUTE, 0);
    for (let since = 1; since < 100; since += 1) accounts.waitMs({ ...turn, since }, PER_MINUTE, 0);
    expect(accounts.waitMs({ ...turn, since: 100 }, PER_MINUTE, 100)).to.be.above(0);
    expect(accounts.waitMs(turn, PER_MINUTE, 100)).to.equal(0);
  });
});
