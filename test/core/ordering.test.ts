import { expect } from 'chai';
import { orderKeyOf, orderKeyOfRoute, shardOfOrder } from '../../core/delivery/ordering.ts';
import { parseExact } from '../../core/text/exact-json.ts';

const hashOf = (json: string) => orderKeyOf([parseExact(json)])?.hash;

describe('the ordering key', () => {
  it('is the first value that a field leads to: a text, a number or a boolean', () => {
    expect(orderKeyOf(['a', 'b'])?.text).to.equal('a');
    expect(orderKeyOf([42])?.text).to.equal('42');
    expect(orderKeyOf([false])?.text).to.equal('false');
    for (const values of [[], [''], [null], [{ id: 1 }], [['a']], [undefined]])
      expect(orderKeyOf(values)).to.equal(null);
  });

  it('is the same for equal values, however they are written', () => {
    expect(hashOf('1.0')).to.equal(hashOf('1'));
    expect(hashOf('12345678901234567890')).not.to.equal(hashOf('12345678901234567891'));
    expect(hashOf('"1"')).to.equal(hashOf('1'));
    expect(hashOf('"A"')).not.to.equal(hashOf('"a"'));
    expect(hashOf('"a"')).to.match(/^[0-9a-f]{32}$/);
  });

  it('is not that of a route with the same text', () => {
    expect(orderKeyOfRoute('rte_1').hash).not.to.equal(orderKeyOf(['rte_1'])?.hash);
    expect(orderKeyOfRoute('rte_1').text).to.equal('rte_1');
  });

  it('shows the first 64 characters, without what PostgreSQL or a header cannot hold', () => {
    const long = orderKeyOf([`${'😀'.repeat(63)}ab`]);
    expect(long?.text).to.equal(`${'😀'.repeat(63)}a`);
    expect(long?.hash).not.to.equal(orderKeyOf([`${'😀'.repeat(63)}ac`])?.hash);
    expect(orderKeyOf(['a\0b'])?.text).to.equal('a\ufffdb');
    expect(orderKeyOf(['\ud800'])?.text).to.equal('\ufffd');
  });

  it('gives all its deliveries one of 64 shards', () => {
    expect([0, 63, 64, 255].map((byte) => shardOfOrder(Buffer.from([byte])))).to.deep.equal([0, 63, 0, 63]);
  });
});
