// How a list's time range is cut into counted hours and days, and a page into stretches.
import { expect } from 'chai';
import fc from 'fast-check';
import { cutRange, stretchesOfPage } from '../../db/history/lists/cut.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('Cutting a range of time', () => {
  const time = fc.integer({ min: 0, max: 5 * DAY });
  const end = fc.oneof(time, fc.constant(Infinity));

  it('covers every moment of it once, with whole hours and days where it is settled', () => {
    fc.assert(
      fc.property(time, end, time, (from, to, settled) => {
        const { rows, days, hours } = cutRange({ from, to }, settled);
        const all = [...rows, ...days, ...hours].toSorted((a, b) => a.from - b.from);
        if (from >= to) {
          expect(all).to.deep.equal([]);
          return;
        }
        expect(all[0]?.from).to.equal(from);
        expect(all.at(-1)?.to).to.equal(to);
        for (const [index, part] of all.entries()) if (index > 0) expect(part.from).to.equal(all[index - 1]?.to);
        for (const [parts, width] of [
          [days, DAY],
          [hours, HOUR],
        ] as const) {
          for (const part of parts) {
            expect(part.from % width).to.equal(0);
            expect(part.to === settled || part.to % width === 0).to.equal(true);
            expect(part.to).to.be.at.most(settled);
          }
        }
      }),
    );
  });

  it('counts rows of at most an hour at each edge, beside what is not settled', () => {
    fc.assert(
      fc.property(time, end, time, (from, to, settled) => {
        for (const part of cutRange({ from, to }, settled).rows) {
          expect(Math.min(part.to, settled) - part.from).to.be.below(2 * HOUR);
        }
      }),
    );
  });
});

describe('The stretches of a page', () => {
  it('are those that its rows are in, whatever the page', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 20 }),
        fc.integer({ min: 1, max: 25 }),
        fc.integer({ min: 0, max: 400 }),
        (totals, limit, offset) => {
          const rows = totals.flatMap((total, stretch) => Array.from({ length: total }, (_, n) => `${stretch}:${n}`));
          const { within, skip } = stretchesOfPage(
            totals.map((total, stretch) => ({ total, stretch })),
            { limit, offset },
          );
          const read = within.flatMap(({ total, stretch }) =>
            Array.from({ length: total }, (_, n) => `${stretch}:${n}`),
          );
          expect(read.slice(skip, skip + limit)).to.deep.equal(rows.slice(offset, offset + limit));
          expect(within.length).to.be.at.most(limit + 1);
        },
      ),
    );
  });
});
