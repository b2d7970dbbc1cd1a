import { expect } from 'chai';
import { type Turn, WorkflowTurns } from '../../core/workflow-turns.ts';

describe('turns of organizations at Temporal', () => {
  let now: number;
  let isAlone: boolean;
  let turns: WorkflowTurns;
  beforeEach(() => {
    [now, isAlone] = [1_000_000, false];
    turns = new WorkflowTurns({ perSecond: 80, alone: () => isAlone, now: () => now });
    turns.seen('quiet');
    turns.seen('busy');
  });
  afterEach(() => turns.end());

  /** How many it gets at this moment. */
  function takeAll(organizationId: string, most = 500): number {
    let taken = 0;
    while (taken < most && turns.take(organizationId)) taken += 1;
    return taken;
  }

  it('are some at once, and then as many in each second as one may have of what is shared', () => {
    expect(takeAll('busy')).to.equal(20);
    now += 1000;
    // Half of them: the other half is left for others.
    expect(takeAll('busy')).to.be.within(20, 21);
    now += 250;
    expect(takeAll('busy')).to.be.within(9, 11);
    expect(takeAll('quiet'), 'of another one').to.equal(20);
  });

  it('are more while no other organization has had anything to deliver for a minute, and never all at once', () => {
    now += 59_000;
    expect(takeAll('busy')).to.equal(20);
    now += 500;
    expect(takeAll('busy'), 'while another one may come back at any moment').to.be.within(19, 21);
    now += 60_000;
    expect(takeAll('busy')).to.equal(20);
    now += 50;
    expect(takeAll('busy'), 'of 320 a second').to.be.within(15, 17);
    expect(turns.take('quiet'), 'a retry of the other one').to.equal(true);
    now += 50;
    expect(takeAll('busy')).to.be.within(1, 3);
  });

  it('are not counted for the only organization', () => {
    isAlone = true;
    expect(takeAll('busy')).to.equal(500);
    for (let done = 0; done < 100; done += 1) turns.spend('busy');
    expect(takeAll('busy')).to.equal(500);
  });

  it('are counted for what was done without one', () => {
    for (let done = 0; done < 15; done += 1) turns.spend('busy');
    expect(takeAll('busy')).to.equal(5);
  });

  it('are taken by first attempts but for ten, and not needed by them while there is room to spare', async () => {
    const begun = (hasRoomToSpare: boolean) =>
      Array.from({ length: 50 }, () => turns.mayBegin('busy', hasRoomToSpare)).filter((may) => may).length;
    expect(begun(false)).to.equal(10);
    expect(begun(true)).to.equal(50);
    expect(takeAll('busy'), 'for retries and signals').to.equal(10);
    const waits = turns.wait('busy', 60_000);
    expect(begun(true), 'while a retry waits').to.equal(0);
    turns.end();
    await waits;
  });

  it('come in order of arrival, shared by those that wait', async () => {
    const came: string[] = [];
    const names = ['busy', 'greedy'];
    for (const name of names) takeAll(name);
    const waits = names.flatMap((name) =>
      [1, 2, 3].map((number) => turns.wait(name, 60_000).then((turn) => came.push(`${name} ${number} ${turn}`))),
    );
    expect(turns.waiting).to.equal(6);
    expect(turns.take('busy'), 'before those that wait').to.equal(false);
    expect(turns.take('quiet')).to.equal(true);
    // Two wait, so each has a third.
    now += 40;
    turns.look();
    await Promise.resolve();
    expect(came).to.deep.equal(['busy 1 turn', 'greedy 1 turn']);
    now += 1000;
    turns.look();
    await Promise.all(waits);
    expect(came.filter((each) => each.startsWith('busy'))).to.deep.equal(['busy 1 turn', 'busy 2 turn', 'busy 3 turn']);
    expect(turns.waiting).to.equal(0);
  });

  it('are no longer waited for when time is up, or the worker ends', async () => {
    takeAll('busy');
    expect(await turns.wait('busy', 0)).to.equal('none');
    expect(await turns.wait('busy', 1)).to.equal('none');
    const waits: Promise<Turn> = turns.wait('busy', 60_000);
    turns.end();
    expect(await waits).to.equal('ended');
    expect(await turns.wait('busy', 60_000)).to.equal('ended');
    expect(await turns.wait('quiet', 60_000), 'without waiting').to.equal('turn');
  });
});
