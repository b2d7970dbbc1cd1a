import { expect } from 'chai';
import { inRanges, parseRange } from '../../core/http/address-ranges.ts';

describe('address ranges', () => {
  const holds = (range: string, address: string): boolean => {
    const parsed = parseRange(range);
    return parsed !== null && inRanges(address, [parsed]);
  };

  it('hold what begins with their bits, in every spelling of an address', () => {
    for (const [range, address, isInside] of [
      ['10.0.0.0/8', '10.255.0.1', true],
      ['10.0.0.0/8', '11.0.0.1', false],
      ['10.0.0.1', '10.0.0.1', true],
      ['10.0.0.1', '10.0.0.2', false],
      ['10.0.0.1/32', '::ffff:10.0.0.1', true],
      ['::ffff:10.0.0.0/104', '10.9.9.9', true],
      ['2001:db8::/32', '2001:db8:1::2', true],
      ['2001:db8::1', '2001:db8::2', false],
      ['2001:db8::/32', '10.0.0.1', false],
      ['0.0.0.0/0', 'host', false],
    ] as const)
      expect(holds(range, address), `${address} in ${range}`).to.equal(isInside);
  });

  it('are refused when they are no range', () => {
    for (const text of [
      '',
      '10.1',
      '0x0a000001',
      '10.0.0.0/33',
      '::/129',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '10.0.0.0/-1',
      'host',
    ])
      expect(parseRange(text), text).to.equal(null);
  });
});
