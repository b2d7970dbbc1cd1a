import { expect } from 'chai';
import {
  describeProgress,
  expectedDeliveries,
  pageDeliveries,
  pageEvents,
  pageSize,
  pauseAfterPage,
  REPLAY_RATE,
} from '../../core/delivery/event-replay.ts';

describe('event replays', () => {
  it('have pages of a second, and of at most 100 events', () => {
    const sizes: [rate: number, size: number][] = [
      [REPLAY_RATE.min, 1],
      [50, 50],
      [100, 100],
      [REPLAY_RATE.max, 100],
    ];
    for (const [rate, size] of sizes) expect(pageSize(rate)).to.equal(size);
  });

  it('have pages of a twentieth of a second, of a fifth when there are few deliveries, and of at most 500 deliveries', () => {
    const sizes: [perSecond: number, size: number][] = [
      [1, 1],
      [50, 10],
      [500, 50],
      [1000, 50],
      [2000, 100],
      [Number.POSITIVE_INFINITY, 500],
    ];
    for (const [perSecond, size] of sizes) expect(pageDeliveries(perSecond), `${perSecond}/s`).to.equal(size);
  });

  it('look at no more events than lead to the deliveries of a page, by what was made before', () => {
    const counts = { eventsReplayed: 0, eventsExpired: 0, eventsUnroutable: 0, deliveriesCreated: 0 };
    const rates = { events: 1000, deliveries: 1000 };
    expect(pageEvents(counts, rates), 'nothing is known').to.equal(50);
    expect(pageEvents({ ...counts, eventsReplayed: 10, deliveriesCreated: 200 }, rates), '20 each').to.equal(3);
    expect(pageEvents({ ...counts, eventsReplayed: 1, deliveriesCreated: 1000 }, rates), 'at least one').to.equal(1);
    expect(pageEvents({ ...counts, eventsReplayed: 10, deliveriesCreated: 10 }, rates)).to.equal(50);
    const few = { ...counts, eventsUnroutable: 75, eventsExpired: 15, eventsReplayed: 10, deliveriesCreated: 20 };
    expect(pageEvents(few, rates), 'few lead anywhere').to.equal(100);
    expect(pageEvents({ ...counts, eventsUnroutable: 10 }, rates), 'none leads anywhere').to.equal(100);
    expect(
      pageEvents({ ...counts, eventsReplayed: 5, deliveriesCreated: 5 }, { events: 7, deliveries: 1000 }),
    ).to.equal(7);
  });

  it('expect as many deliveries of a page as those before had, of the first one as many as it has events', () => {
    const rates = { events: 50, deliveries: 1000 };
    const rows: [pages: number, deliveriesCreated: number, of: typeof rates, expected: number][] = [
      [0, 0, rates, 50],
      [0, 0, { ...rates, deliveries: 50 }, 10],
      [4, 81, rates, 21],
      [1, 1000, rates, 50],
    ];
    for (const [pages, deliveriesCreated, of, expected] of rows)
      expect(expectedDeliveries({ pages, deliveriesCreated }, of), `${pages} ${deliveriesCreated}`).to.equal(expected);
  });

  it('wait after a page for what is left of the time its events take', () => {
    const pauses: [events: number, rate: number, tookMs: number, pause: number][] = [
      [50, 50, 0, 1000],
      [50, 50, 300, 700],
      [50, 50, 1500, 0],
      [100, 1000, 40, 60],
      [1, 3, 0, 333],
      [0, 50, 0, 0],
      // Pages that an earlier workflow made are not waited for.
      [57_000, 1000, 0, 100],
    ];
    for (const [events, rate, tookMs, pause] of pauses) expect(pauseAfterPage(events, rate, tookMs)).to.equal(pause);
  });

  it('tell what they did, and only what there is to tell', () => {
    const progress = {
      ...{ status: 'running' as const, pages: 2, eventsTotal: 120, eventsReplayed: 96, deliveriesCreated: 192 },
      ...{ eventsExpired: 3, eventsUnroutable: 1, replayedUntil: '2026-11-21T10:00:00.000Z' },
    };
    expect(describeProgress(progress)).to.equal(
      '96 of 120 events replayed, 192 deliveries created. 3 events no longer had a payload, 1 event had no route. Events received before 2026-11-21T10:00:00.000Z have been processed.',
    );
    expect(
      describeProgress({ ...progress, eventsTotal: null, eventsExpired: 0, eventsUnroutable: 0, replayedUntil: null }),
    ).to.equal('96 events replayed, 192 deliveries created.');
  });
});
