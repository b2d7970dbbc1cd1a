import { expect } from 'chai';
import { ShareCache } from '../../core/share-cache.ts';

describe('a cache that owners share', () => {
  it('drops what the owner with the most has used least recently', () => {
    const cache = new ShareCache<number>(10);
    cache.set('few', 'a', 1, 3);
    for (const key of ['a', 'b', 'c', 'd']) cache.set('many', key, 2, 2);
    expect(cache.get('many', 'a'), 'the weight is 11').to.equal(undefined);
    expect(cache.get('many', 'b')).to.equal(2);
    cache.set('many', 'e', 2, 2);
    expect(cache.get('many', 'b'), 'used since').to.equal(2);
    expect(cache.get('many', 'c')).to.equal(undefined);
    expect(cache.get('few', 'a')).to.equal(1);
  });

  it('counts a value once that is set again, and holds nothing that is heavier than all', () => {
    const cache = new ShareCache<number>(10);
    for (let n = 0; n < 20; n += 1) cache.set('a', 'x', n, 6);
    expect(cache.get('a', 'x')).to.equal(19);
    cache.set('b', 'huge', 1, 11);
    expect(cache.get('b', 'huge')).to.equal(undefined);
    expect(cache.get('a', 'x')).to.equal(19);
  });

  it('drops of two owners with as much what was used least recently, and tells', () => {
    const evicted: number[] = [];
    const cache = new ShareCache<number>(2, (value) => evicted.push(value));
    cache.set('a', 'x', 1, 1);
    cache.set('b', 'x', 2, 1);
    cache.get('a', 'x');
    cache.set('c', 'x', 3, 1);
    expect(evicted).to.deep.equal([2]);
    cache.set('a', 'x', 4, 1);
    cache.delete('c', 'x');
    expect(evicted, 'replaced and deleted ones were not evicted').to.deep.equal([2]);
    expect(cache.values()).to.deep.equal([4]);
    cache.set('a', 'y', 5, 1);
    expect(evicted, 'the weight of the deleted one is free').to.deep.equal([2]);
    cache.clear();
    expect(cache.values()).to.deep.equal([]);
  });

  it('forgets a value that is taken out, and what it weighed', () => {
    const cache = new ShareCache<number>(10);
    cache.set('a', 'x', 1, 6);
    cache.set('a', 'y', 2, 4);
    cache.delete('a', 'x');
    cache.delete('a', 'x');
    cache.delete('b', 'x');
    cache.set('b', 'z', 3, 6);
    expect([cache.get('a', 'x'), cache.get('a', 'y'), cache.get('b', 'z')]).to.deep.equal([undefined, 2, 3]);
  });

  it('keeps names apart by owner', () => {
    const cache = new ShareCache<number>(10);
    cache.set('a', 'x', 1, 1);
    expect(cache.get('b', 'x')).to.equal(undefined);
  });
});
