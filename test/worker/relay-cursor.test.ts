// Where claims continue, and when they have examined everything: against a model of an outbox, claim by claim.
import { expect } from 'chai';
import { ClaimCursor } from '../../worker/relay/claim.ts';

const MOST_ORGANIZATIONS = 3;
const MOST_DESTINATIONS = 4;

/** By organization, what waits in it. */
type Outbox = Map<string, string[]>;

const outboxOf = (...counts: number[]): Outbox =>
  new Map(
    counts.map((count, at) => [`org_${10 + at}`, Array.from({ length: count }, (_, number) => `dst_${100 + number}`)]),
  );

/** A claim that finds nothing to start. @returns what it has examined */
function claim(cursor: ClaimCursor, outbox: Outbox, skipped: string[] = []): string[] {
  const organizations = [...outbox.keys()].filter((id) => id > cursor.organization && !skipped.includes(id));
  const examinedTo = new Map<string, string>();
  const examined = organizations.slice(0, MOST_ORGANIZATIONS).flatMap((id) => {
    const waiting = (outbox.get(id) ?? []).filter((each) => each > cursor.destinationIn(id));
    const part = waiting.slice(0, MOST_DESTINATIONS);
    examinedTo.set(id, part.length < MOST_DESTINATIONS ? '' : (part.at(-1) ?? ''));
    return part.map((each) => `${id} ${each}`);
  });
  cursor.moveOn({ rows: [], examinedTo, isFull: false }, new Set(skipped));
  return examined;
}

describe('a cursor of claims', () => {
  const everything = (outbox: Outbox) => [...outbox].flatMap(([id, waiting]) => waiting.map((each) => `${id} ${each}`));

  for (const [what, counts] of [
    ['nothing', []],
    ['as many as a claim examines', [4]],
    ['many of both', [9, 1, 17, 3, 4, 1, 30, 8]],
  ] as const)
    it(`has examined everything since something changed, wherever it was then: ${what}`, () => {
      const outbox = outboxOf(...counts);
      for (let before = 0; before < 40; before += 1) {
        const cursor = new ClaimCursor(MOST_ORGANIZATIONS);
        for (let number = 0; number < before; number += 1) claim(cursor, outbox);
        cursor.changed();
        const examined: string[] = [];
        let claims = 0;
        while (!cursor.isDone(() => true)) {
          examined.push(...claim(cursor, outbox));
          claims += 1;
          expect(claims, 'claims').to.be.below(100);
        }
        expect([...new Set(examined)].toSorted()).to.deep.equal(everything(outbox));
        claim(cursor, outbox);
        expect(
          cursor.isDone(() => true),
          'also later',
        ).to.equal(true);
      }
    });

  it('waits neither for an organization that is left out, nor for one that has nothing any more', () => {
    const outbox = outboxOf(1, 30);
    const cursor = new ClaimCursor(MOST_ORGANIZATIONS);
    claim(cursor, outbox);
    cursor.changed();
    claim(cursor, outbox, ['org_11']);
    expect(cursor.isDone((id) => id !== 'org_11')).to.equal(true);
    expect(cursor.isDone(() => true)).to.equal(false);
    outbox.delete('org_11');
    claim(cursor, outbox);
    expect(cursor.isDone(() => true)).to.equal(true);
  });
});
