import { expect } from 'chai';
import { DatabaseRoom, sharedFrom, type Stored } from '../../core/database-room.ts';

const LIMIT = 1000;
const look = (room: DatabaseRoom, size: number, parts: Record<string, number>, alone = false) =>
  room.look(() => Promise.resolve({ size, limit: LIMIT, parts: new Map(Object.entries(parts)), alone }));

describe('the room in the database', () => {
  // Who holds what of 1,000, and who holds more than nine times what is free.
  const cases: [size: number, parts: Record<string, number>, full: string[]][] = [
    [899, { a: 1 }, []],
    [901, { a: 1 }, ['a']],
    [940, { a: 0.5, b: 0.5 }, []],
    [950, { a: 0.5, b: 0.5 }, ['a', 'b']],
    [950, { a: 0.9, b: 0.1 }, ['a']],
    [999, { a: 0.5, b: 0.489, c: 0.005 }, ['a', 'b']],
  ];
  for (const [size, parts, full] of cases) {
    it(`of ${size} among ${JSON.stringify(parts)} is taken for ${full.join(', ') || 'nobody'}`, async () => {
      const room = new DatabaseRoom();
      await look(room, size, parts);
      expect([...room.fullOrganizations]).to.deep.equal(full);
      for (const id of [...Object.keys(parts), 'quiet']) expect(room.isFullFor(id), id).to.equal(full.includes(id));
      if (full.length === 0) return;
      expect(size, 'a look asks whose it is').to.be.at.least(sharedFrom(LIMIT));
    });
  }

  it('is all for an organization that is alone', async () => {
    const room = new DatabaseRoom();
    await look(room, 999, { a: 1 }, true);
    expect(room.isFullFor('a')).to.equal(false);
    expect(room.isFull).to.equal(false);
    await look(room, 1000, { a: 1 }, true);
    expect(room.isFull).to.equal(true);
  });

  it('has what was let in since the last look', async () => {
    const room = new DatabaseRoom();
    await look(room, 800, { a: 0.9, b: 0.1 });
    room.add('a', 90).keep();
    expect(room.isFullFor('a')).to.equal(false);
    const place = room.add('a', 40);
    expect(room.isFullFor('a'), 'while it is being stored').to.equal(true);
    expect(room.isFullFor('b'), '80 of 1,000, and 70 are free').to.equal(false);
    place.release(false);
    expect(room.isFullFor('a')).to.equal(false);
    room.add('a', 40).keep();
    expect(room.isFullFor('a')).to.equal(true);
    // The next look has all of it.
    await look(room, 850, { a: 0.9, b: 0.1 });
    expect(room.isFullFor('a')).to.equal(false);
  });

  it('opens for an organization below nine tenths of what it may hold', async () => {
    const room = new DatabaseRoom();
    await look(room, 901, { a: 1 });
    await look(room, 895, { a: 1 });
    expect(room.isFullFor('a')).to.equal(true);
    await look(room, 889, { a: 1 });
    expect(room.isFullFor('a')).to.equal(false);
  });

  it('asks to be looked at again when a twentieth of what was free is taken', async () => {
    const room = new DatabaseRoom();
    await look(room, 800, {});
    room.add('a', 10).keep();
    expect(room.mayBeFull).to.equal(false);
    room.add('b', 1).keep();
    expect(room.mayBeFull).to.equal(true);
  });

  it('has no end without a limit, and stays as it was when it cannot be looked at', async () => {
    const room = new DatabaseRoom();
    room.add('a', Number.MAX_SAFE_INTEGER).keep();
    expect([room.isFull, room.mayBeFull, room.isFullFor('a')]).to.deep.equal([false, false, false]);
    await look(room, 950, { a: 1 });
    const away = () => Promise.reject<Stored>(new Error('away'));
    await room.look(away).catch(() => undefined);
    expect(room.isFullFor('a')).to.equal(true);
  });
});
