import { expect } from 'chai';
import { Turns } from '../../outbound/compute/turns.ts';

const MIB = 1024 * 1024;

describe('what waits for a thread of filters and schemas', () => {
  /** Adds as many as there is room for. */
  function fill(turns: Turns<{ organizationId: string; bytes: number }>, organizationId: string, bytes = 1): number {
    let count = 0;
    while (turns.add({ organizationId, bytes })) count += 1;
    return count;
  }

  it('has room for one item of each organization, however much of others waits', () => {
    const turns = new Turns();
    for (let at = 0; at < 30; at += 1) expect(fill(turns, `greedy_${at}`), `greedy_${at}`).to.be.at.least(1);
    for (let at = 0; at < 500; at += 1) expect(turns.add({ organizationId: `org_${at}`, bytes: MIB })).to.equal(true);
    expect(turns.add({ organizationId: 'org_0', bytes: 1 })).to.equal(false);
  });

  it('is shared: the greedy leave room for several items of the next', () => {
    const turns = new Turns();
    const taken = Array.from({ length: 12 }, (_, at) => fill(turns, `org_${at}`));
    expect(taken).to.deep.equal([...Array.from({ length: 9 }, () => 100), 50, 25, 13]);
  });

  it('is shared by bytes too', () => {
    const turns = new Turns();
    const taken = Array.from({ length: 5 }, (_, at) => fill(turns, `org_${at}`, MIB));
    expect(taken).to.deep.equal([64, 64, 64, 32, 16]);
  });

  it('is bounded, whatever the number of organizations', () => {
    const turns = new Turns();
    for (let at = 0; at < 3000; at += 1) turns.add({ organizationId: `org_${at}`, bytes: 1 });
    expect(turns.size).to.equal(1000);
    for (let at = 0; at < 3000; at += 1) fill(turns, `org_${at}`);
    expect(turns.size).to.be.at.most(2000);
  });

  it('gives back the room of what was taken out', () => {
    const turns = new Turns();
    for (let at = 0; at < 1000; at += 1) turns.add({ organizationId: `org_${at}`, bytes: MIB });
    for (const item of turns.all()) turns.remove(item, true);
    expect(turns.size).to.equal(0);
    expect(fill(turns, 'org_0')).to.equal(100);
  });
});
