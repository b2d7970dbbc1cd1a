import { expect } from 'chai';
import fc from 'fast-check';
import { boundTime, idAfter, idFloor, idTime, isId, newId, shardOf } from '../../core/text/ids.ts';

const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });

/** The 128 bits of an id as a UUID text, read independently of the code under test. */
function asUuid(id: string): string {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  let bits = 0n;
  for (const char of id.slice(-26)) bits = bits * 32n + BigInt(alphabet.indexOf(char));
  const hex = bits.toString(16).padStart(32, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

describe('ids', () => {
  it('are a prefix and 26 characters that hold a UUID of version 7 and the RFC variant', () => {
    for (let i = 0; i < 1000; i += 1) {
      const id = newId('dst_wh');
      expect(id).to.match(/^dst_wh_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
      expect(asUuid(id)).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
  });

  it('carry the time as the first 48 bits of the UUID (the example of RFC 9562, appendix A.6)', () => {
    const id = newId('evt', 1645557742000);
    expect(asUuid(id).slice(0, 13)).to.equal('017f22e2-79b0');
    expect(idTime(id)).to.equal(1645557742000);
  });

  it('give back any time they were made for', () => {
    fc.assert(fc.property(time, (ms) => idTime(newId('evt', ms)) === ms && idTime(idFloor('dlv', ms)) === ms));
  });

  it('sort by time, whatever the times', () => {
    fc.assert(fc.property(time, time, (a, b) => a === b || newId('evt', a) < newId('evt', b) === a < b));
  });

  it('sort in the order of their making inside one millisecond, and never repeat', () => {
    const made = Array.from({ length: 50_000 }, () => newId('evt', 1_700_000_000_000));
    expect(made.toSorted()).to.deep.equal(made);
    expect(new Set(made).size).to.equal(made.length);
  });

  it('have a floor that is at most every id of its millisecond and above every id of the one before', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 48 - 1 }), (ms) => {
        const floor = idFloor('evt', ms);
        return floor <= newId('evt', ms) && floor > newId('evt', ms - 1);
      }),
    );
  });

  it('bound a range that ends with one of them, which keeps its time', () => {
    const [before, id] = [newId('evt', 1000), newId('evt', 1000)];
    expect([before, id, idAfter(before)].toSorted()).to.deep.equal([before, idAfter(before), id]);
    expect([boundTime(idAfter(id)), boundTime(id), boundTime('evt_'), boundTime('')]).to.deep.equal([
      ...[1000, 1000, null, null],
    ]);
  });

  it('spread evenly over 64 shards, also when made in one millisecond', () => {
    const counts = new Array<number>(64).fill(0);
    for (let i = 0; i < 64_000; i += 1) {
      const shard = shardOf(newId('dlv', 1_700_000_000_000));
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    expect(counts).to.have.length(64);
    // 1,000 expected, standard deviation 31: eight of them on either side.
    expect(Math.min(...counts)).to.be.greaterThan(750);
    expect(Math.max(...counts)).to.be.lessThan(1250);
  });

  it('are told by their prefix', () => {
    const id = newId('evt');
    const text = id.slice(4);
    expect(isId('evt', id)).to.equal(true);
    expect(isId('dst', newId('dst_wh'))).to.equal(false);
    for (const wrong of ['', 'evt', 'evt_', text, `dlv_${text}`, `${id}0`, id.slice(0, -1), id.toUpperCase()]) {
      expect(isId('evt', wrong), wrong).to.equal(false);
    }
    expect(isId('evt', `evt_8${text.slice(1)}`), 'more than 128 bits').to.equal(false);
    expect(isId('evt', `evt_${text.slice(0, 25)}u`), 'a letter outside the alphabet').to.equal(false);
  });

  it('refuse what is no time and no id', () => {
    for (const ms of [-1, 1.5, Number.NaN, 2 ** 48]) expect(() => newId('evt', ms)).to.throw(RangeError);
    for (const text of ['', 'evt_', 'evt_xyz', 'x'.repeat(25)]) expect(() => idTime(text)).to.throw(TypeError);
  });
});
