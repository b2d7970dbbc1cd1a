import { expect } from 'chai';
import * as fc from 'fast-check';
import { threadCpuMs } from '../../core/process/event-loop.ts';
import { includesText } from '../../core/filters/comparison.ts';

describe('a text in a text', () => {
  it('is found as the engine finds it, also in texts that are long', () => {
    const short = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 6 });
    void fc.assert(
      fc.property(short, short, fc.boolean(), (text, part, isLong) => {
        // Repeated until the product of the lengths is beyond what is left to the engine.
        const times = isLong ? Math.ceil(3000 / text.length) : 1;
        const long = `${text.repeat(times)}${isLong ? 'c' : ''}`;
        const wanted = part.repeat(isLong ? Math.ceil(2000 / part.length) : 1);
        expect(includesText(long, wanted)).to.equal(long.includes(wanted));
        expect(includesText(`${long}${wanted}`, wanted)).to.equal(true);
      }),
    );
  });

  it('takes linear time where the engine does not', () => {
    const text = 'a'.repeat(2_000_000);
    const before = threadCpuMs();
    expect(includesText(text, `b${'a'.repeat(9998)}`)).to.equal(false);
    expect(includesText(text, `${'a'.repeat(4999)}b${'a'.repeat(4999)}`)).to.equal(false);
    expect(threadCpuMs() - before).to.be.lessThan(2000);
  });
});
