import { expect } from 'chai';
import fc from 'fast-check';
import { createAnswerReader } from '../../outbound/http/answer-body.ts';

const LETTERS = 'ab☃';

describe('What is kept of an answer', () => {
  it('does not depend on the pieces that it comes in', () => {
    const text = (length: number) => fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: length });
    fc.assert(
      fc.property(
        // Long enough for several parts, which the text that is looked for may overlap.
        fc.tuple(text(20), fc.integer({ min: 0, max: 40_000 }), text(20)).map(([a, b, c]) => a + 'a'.repeat(b) + c),
        text(5).filter((looked) => looked !== ''),
        fc.integer({ min: 1, max: 40_000 }),
        fc.integer({ min: 1, max: 20_000 }),
        (body, lookFor, pieceBytes, keptBytes) => {
          const bytes = Buffer.from(body);
          const reader = createAnswerReader(keptBytes, lookFor);
          for (let at = 0; at < bytes.length; at += pieceBytes) {
            const piece = Buffer.from(bytes.subarray(at, at + pieceBytes));
            expect(reader.add(piece)).to.equal(true);
            // Where it was read into may be used again.
            piece.fill('z');
          }
          const { bodyText, truncated, contains } = reader.end();
          expect(contains).to.equal(body.includes(lookFor));
          expect(truncated).to.equal(bytes.length > keptBytes);
          expect(body.startsWith(bodyText)).to.equal(true);
          const lost = Math.min(bytes.length, keptBytes) - Buffer.byteLength(bodyText);
          expect(lost).to.be.within(0, truncated ? 2 : 0);
        },
      ),
    );
  });
});
