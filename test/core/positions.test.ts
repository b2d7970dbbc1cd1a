import { expect } from 'chai';
import { newId } from '../../core/ids.ts';
import {
  ALL_POSITIONS,
  bucketsOf,
  isAmong,
  isToldOf,
  newsOf,
  POSITIONS,
  positionOf,
  readPositions,
  sizeOf,
  tellPositions,
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

  it('are told to the relays that hold them, and to all when there are many or the text is not understood', () => {
    const told = tellPositions([70, 2047, 70, 0]);
    expect(told).to.equal('1y,1kv,0');
    const isOf = (from: number, to: number) => isToldOf(told, [{ from, to }]);
    expect([isOf(0, 1), isOf(1, 70), isOf(70, 71), isOf(71, 2047), isOf(2000, 2048)]).to.deep.equal([
      ...[true, false, true, false, true],
    ]);
    expect(isToldOf(told, [])).to.equal(false);
    const many = tellPositions(Array.from({ length: 201 }, (_, position) => position));
    for (const text of [many, tellPositions([]), 'circuits', '?', '1kw'])
      expect(isToldOf(text, []), text).to.equal(true);
    const most = tellPositions(Array.from({ length: 200 }, (_, index) => 2047 - index));
    expect(most.length).to.be.within(200, 8000);
  });

  it('are told to the relays of their bucket, and to all when there are many buckets', () => {
    expect(newsOf([70, 71, 2047, 70])).to.deep.equal([
      { bucket: 1, told: '1y,1z' },
      { bucket: 31, told: '1kv' },
    ]);
    expect(newsOf([0, 64, 128, 192])).to.have.length(4);
    expect(newsOf([0, 64, 128, 192, 256])).to.deep.equal([
      { bucket: null, told: tellPositions([0, 64, 128, 192, 256]) },
    ]);
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
