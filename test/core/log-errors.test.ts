// Errors get into the log in one way, `cause: causeOf(error)`, which leaves out what they may quote of a webhook.
import { expect } from 'chai';
import { logCalls } from '../support/log-messages.ts';

// `err` is what pino itself would write, with every member of the error.
const ANOTHER_WAY = /\bString\((?:error|err|reason|cause)\)|\berr\b|(?:error|err|reason)\.(?:message|stack)\b/;

describe('errors in the log', () => {
  const calls = logCalls().flatMap(({ args: [facts = ''], file }) => (facts.startsWith('{') ? [{ file, facts }] : []));

  it('are written as their cause', () => {
    expect(calls.filter(({ facts }) => facts.includes('cause: causeOf(')).length).to.be.above(50);
    expect(calls.filter(({ facts }) => ANOTHER_WAY.test(facts))).to.deep.equal([]);
  });

  it('are summaries where they stand as `error`', () => {
    // What workflows log goes through the SDK, and worker/temporal-log.ts.
    const ours = calls.filter(({ file }) => !file.startsWith('workflows/'));
    const others = ours.filter(({ facts }) => /[{,]\s*error\b(?!: (?:\w+\.)*summary)/.test(facts));
    expect(others).to.deep.equal([]);
  });
});
