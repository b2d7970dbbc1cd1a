import { expect } from 'chai';
import { RecentStarts } from '../../core/recent-starts.ts';

describe('The recent starts of a worker', () => {
  /** One that is due, started, and begins after some time. */
  const start = (starts: RecentStarts, id: string, atMs: number, tookMs: number) => {
    starts.due(atMs);
    starts.started(id, atMs);
    starts.begun(id, atMs + tookMs);
  };

  it('count what is due and what has begun in the last second', () => {
    const starts = new RecentStarts();
    for (let number = 0; number < 30; number += 1) start(starts, `d${number}`, 1000 + number * 100, 10);
    expect(starts.sample(3950)).to.include({ duePerSecond: 10, begunPerSecond: 10, recent: 20, late: 0, waiting: 0 });
    expect(starts.sample(4950)).to.include({ duePerSecond: 0, recent: 10 });
    expect(starts.sample(60_000)).to.include({ duePerSecond: 0, begunPerSecond: 0, recent: 0 });
  });

  it('count as late what begins late, and what should have begun', () => {
    const starts = new RecentStarts();
    start(starts, 'prompt', 0, 20);
    start(starts, 'late', 100, 70);
    starts.started('waits', 200);
    expect(starts.sample(240)).to.include({ waiting: 1, recent: 2, late: 1 });
    expect(starts.sample(270)).to.include({ waiting: 1, recent: 3, late: 2 });
    starts.begun('waits', 280);
    expect(starts.sample(280)).to.include({ waiting: 0, recent: 3, late: 2 });
  });

  it('tell a pause from starts that are late again and again', () => {
    const pause = new RecentStarts();
    start(pause, 'prompt', 900, 10);
    for (let number = 0; number < 20; number += 1) start(pause, `d${number}`, 1000, 130 + number);
    expect(pause.sample(1500)).to.include({ late: 20, lateTenths: 1 });
    const often = new RecentStarts();
    start(often, 'prompt', 900, 10);
    for (let number = 0; number < 6; number += 1) start(often, `d${number}`, 1000 + number * 200, 110);
    expect(often.sample(2200)).to.include({ late: 6, lateTenths: 6 });
    expect(often.sample(3450), 'those of the last two seconds').to.include({ lateTenths: 4 });
  });

  it('do not take a tenth for late because of one in many', () => {
    const starts = new RecentStarts();
    for (let number = 0; number < 20; number += 1) start(starts, `d${number}`, 1000, 10);
    start(starts, 'late', 1000, 60);
    expect(starts.sample(1200)).to.include({ late: 1, lateTenths: 0 });
  });

  it('measure against the shortest time of the last minute: a Temporal that is far away is not busy', () => {
    const starts = new RecentStarts();
    for (let number = 0; number < 10; number += 1) start(starts, `far${number}`, number * 100, 120);
    expect(starts.sample(1200)).to.include({ recent: 10, late: 0 });
    start(starts, 'later', 1200, 400);
    expect(starts.sample(1700).late).to.equal(1);
    // It has come nearer, and goes away again.
    start(starts, 'near', 10_000, 10);
    start(starts, 'far', 10_100, 120);
    expect(starts.sample(10_300).late).to.equal(1);
    for (let second = 11; second < 80; second += 1) start(starts, `far at ${second}`, second * 1000, 120);
    expect(starts.sample(79_200)).to.include({ recent: 2, late: 0 });
  });

  it('forgive what was late before', () => {
    const starts = new RecentStarts();
    start(starts, 'late', 0, 100);
    starts.forgive();
    expect(starts.sample(200)).to.include({ duePerSecond: 1, recent: 0, late: 0 });
  });

  it('forget what was not started here, and after a while what does not begin here', () => {
    const starts = new RecentStarts();
    starts.started('elsewhere', 0);
    starts.forget('elsewhere');
    starts.begun('elsewhere', 500);
    starts.begun('of an earlier process', 500);
    expect(starts.sample(500)).to.include({ waiting: 0, recent: 0 });
    starts.started('stuck', 1000);
    expect(starts.sample(9000)).to.include({ waiting: 1, late: 1 });
    starts.sample(12_000);
    expect(starts.sample(12_000)).to.include({ waiting: 0, late: 0 });
  });

  it('are not remembered without end where nobody asks for a sample', () => {
    const starts = new RecentStarts();
    for (let second = 0; second < 100; second += 1) starts.started(`d${second}`, second * 1000);
    // As of the first one: nothing is old then, so what was kept shows.
    expect(starts.sample(0).waiting).to.equal(11);
  });
});
