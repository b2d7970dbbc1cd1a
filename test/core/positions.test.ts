import { expect } from 'chai';
import { newId } from '../../core/ids.ts';
import {
  ALL_POSITIONS,
  bucketsOf,
  isAmong,
  POSITIONS,
  positionOf,
  readPositions,
  sizeOf,
  writePositions,
} from '../../core/positions.ts';

describe('positions', () => {
  it('of ids are spread evenly, also when these were made in one millisecond', () => {
    const counts = new Array<number>(16).fill(0);
    for (let i = 0; i < 16_000; i += 1) {
      const position = positionOf(newId('dlv', 1_700_000_000_000));
      expect(position).to.be.within(0, POSITIONS - 1);
      const part = Math.floor((position * 16) / POSITIONS);
      counts[part] = (counts[part] ?? 0) + 1;
    }
    for (const count of counts) expect(count).to.be.within(800, 1200);
  });

  it('follow from the last three characters of an id', () => {
    expect(positionOf('dlv_06f3k2v8q0e7aaaaaaaaaaa000')).to.equal(0);
    expect(positionOf('dlv_06f3k2v8q0e7aaaaaaaaaaaz00')).to.equal(31);
    expect(positionOf('dlv_06f3k2v8q0e7aaaaaaaaaaa001')).to.equal(32);
    expect(positionOf('dlv_06f3k2v8q0e7aaaaaaaaaaa010')).to.equal(1024);
    expect(positionOf('dlv_06f3k2v8q0e7aaaaaaaaaaazzz')).to.equal(POSITIONS - 1);
  });

  it('are read and written as PostgreSQL does', () => {
    const positions = [
      { from: 0, to: 40 },
      { from: 1000, to: 1041 },
    ];
    expect(writePositions(positions)).to.equal('{[0,40),[1000,1041)}');
    expect(readPositions('{[0,40),[1000,1041)}')).to.deep.equal(positions);
    expect([writePositions([]), readPositions('{}')]).to.deep.equal(['{}', []]);
  });

  it('begin with the first of a range, and end before the last', () => {
    const positions = [{ from: 10, to: 12 }];
    expect([9, 10, 11, 12].map((position) => isAmong(positions, position))).to.deep.equal([false, true, true, false]);
    expect(sizeOf(positions)).to.equal(2);
  });

  it('lie in buckets', () => {
    expect([...bucketsOf([{ from: 63, to: 64 }])]).to.deep.equal([[0, 1]]);
    expect([...bucketsOf([{ from: 63, to: 66 }])]).to.deep.equal([
      [0, 1],
      [1, 2],
    ]);
    const apart = [
      { from: 0, to: 1 },
      { from: 2, to: 129 },
    ];
    expect([...bucketsOf(apart)]).to.deep.equal([
      [0, 63],
      [1, 64],
      [2, 1],
    ]);
    expect(bucketsOf(ALL_POSITIONS).size).to.equal(32);
  });
});
