import { expect } from 'chai';
import { hopsOf, MAX_HOPS } from '../../core/ingest/hops.ts';

describe('the count of hops', () => {
  const counts: [value: string | undefined, hops: number][] = [
    [undefined, 0],
    ['0', 0],
    ['1', 1],
    [' 4 ', 4],
    ['1, 3', 3],
    ['3, 1', 3],
    ['', 0],
    ['-1', 0],
    ['1.5', 0],
    ['x', 0],
    ['x, 2', 2],
    ['0x10', 0],
    ['999999999999999999999999', MAX_HOPS],
  ];
  for (const [value, hops] of counts) {
    it(`of ${value === undefined ? 'no header' : JSON.stringify(value)} is ${hops}`, () => {
      expect(hopsOf(value === undefined ? {} : { 'x-hookyard-hops': value })).to.equal(hops);
    });
  }
});
