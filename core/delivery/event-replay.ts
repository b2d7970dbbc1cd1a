// Replays of events selected by a filter: limits, pacing, and the text of their progress.
import type { NoRoom } from '../fairness/backlog-room.ts';
import { plural } from '../text/words.ts';

export const EVENT_REPLAY_STATUSES = ['pending', 'running', 'completed', 'cancelled', 'failed'] as const;
export type EventReplayStatus = (typeof EVENT_REPLAY_STATUSES)[number];
/** Of a replay that has not ended. */
export const OPEN_REPLAY_STATUSES: readonly EventReplayStatus[] = ['pending', 'running'];

/** Events per second. */
export const REPLAY_RATE = { min: 1, max: 1000, default: 50 };

const MAX_PAGE_EVENTS = 100;

/** How many events a page has at most: those of one second, so that a slow replay is not a series of bursts. */
export function pageSize(ratePerSecond: number): number {
  return Math.min(ratePerSecond, MAX_PAGE_EVENTS);
}

// A hundred events to fifty destinations each would keep PostgreSQL for half a second, and webhooks of others behind
// it.
const MAX_PAGE_DELIVERIES = 500;
// So many pages make up the deliveries of a second: what comes in waits behind a page at most, and behind its
// deliveries.
const PAGES_PER_SECOND = 20;
// Of slow replays fewer: a page costs a dozen statements, whatever is in it.
const SLOW_PAGES_PER_SECOND = 5;
const SMALL_PAGE_DELIVERIES = 50;

/** How many deliveries a page has at most, unless its only event has more. */
export function pageDeliveries(deliveriesPerSecond: number): number {
  const slow = Math.min(deliveriesPerSecond / SLOW_PAGES_PER_SECOND, SMALL_PAGE_DELIVERIES);
  const most = Math.ceil(Math.max(deliveriesPerSecond / PAGES_PER_SECOND, slow));
  return Math.max(1, Math.min(most, MAX_PAGE_DELIVERIES));
}

/**
 * How many events the next page looks at: about as many as lead to its deliveries, by those before. What an event has
 * been replayed to is read for each of them.
 */
export function pageEvents(
  progress: Pick<ReplayProgress, 'eventsReplayed' | 'eventsExpired' | 'eventsUnroutable' | 'deliveriesCreated'>,
  rates: { events: number; deliveries: number },
): number {
  const events = progress.eventsReplayed + progress.eventsExpired + progress.eventsUnroutable;
  const each = events === 0 ? 1 : progress.deliveriesCreated / events;
  return Math.min(pageSize(rates.events), Math.max(1, Math.ceil(pageDeliveries(rates.deliveries) / each)));
}

/** How many deliveries the next page may have, by those that were made. */
export function expectedDeliveries(
  { pages, deliveriesCreated }: Pick<ReplayProgress, 'pages' | 'deliveriesCreated'>,
  rates: { events: number; deliveries: number },
): number {
  const expected = pages === 0 ? pageSize(rates.events) : Math.ceil(deliveriesCreated / pages);
  return Math.min(expected, pageDeliveries(rates.deliveries));
}

/** Progress of a replay. Counts and ids only: it is stored in histories. */
export interface ReplayProgress {
  status: EventReplayStatus;
  pages: number;
  /** Events that matched when the replay was requested; null when counting them took too long. */
  eventsTotal: number | null;
  eventsReplayed: number;
  deliveriesCreated: number;
  eventsExpired: number;
  /** Matching events without a current route. */
  eventsUnroutable: number;
  /** Events received before this time have been processed, ISO 8601. */
  replayedUntil: string | null;
  /** The organization is suspended: no page was made. */
  suspended?: boolean;
  /** No page was made: what it waits for. */
  waitsFor?: string;
  /** Until its next page may be made, ms. Absent: at once. */
  restMs?: number;
}

/** Why no page of a replay can be made at the moment. */
export type PageWaits = NoRoom | { full: 'deliveriesPerEvent'; most: number } | { full: 'replayedPerSecond' };

/** For people. Figures that change are left out: it is stored in histories. */
export function waitsFor(waits: PageWaits): string {
  switch (waits.full) {
    case 'database':
      return 'The database has reached its maximum size';
    case 'share of the database':
      return 'This organization has used up its share of the database, and the database is nearly full';
    case 'service':
      return 'The service has reached its maximum number of waiting deliveries';
    case 'organization':
      return 'This organization has too many waiting deliveries';
    case 'destination':
      return `The destination ${waits.destinationId} has too many waiting deliveries`;
    case 'waitingDeliveries':
      return `This organization has reached its limit of ${plural(waits.most, 'waiting delivery')} (limit waitingDeliveries)`;
    case 'replayedPerSecond':
      return "This organization's replays are not allowed to create deliveries (limit replayedPerSecond)";
    case 'deliveriesPerEvent':
      return `The next event would create more than ${plural(waits.most, 'delivery')} (limit deliveriesPerEvent); disable routes, or cancel the replay`;
  }
}

/**
 * How long to wait after a page so that the rate is kept, in ms.
 * @param events replayed since the page was begun; a restarted workflow learns of many pages at once
 * @param tookMs since the page was begun
 */
export function pauseAfterPage(events: number, ratePerSecond: number, tookMs: number): number {
  const paced = Math.min(events, pageSize(ratePerSecond));
  return Math.max(0, Math.round((paced * 1000) / ratePerSecond - tookMs));
}

export function describeProgress(progress: ReplayProgress): string {
  const { eventsReplayed, eventsTotal, deliveriesCreated, eventsExpired, eventsUnroutable, replayedUntil } = progress;
  const replayed =
    eventsTotal === null ? plural(eventsReplayed, 'event') : `${eventsReplayed} of ${plural(eventsTotal, 'event')}`;
  const left = [
    ...(eventsExpired > 0 ? [`${plural(eventsExpired, 'event')} no longer had a payload`] : []),
    ...(eventsUnroutable > 0 ? [`${plural(eventsUnroutable, 'event')} had no route`] : []),
  ];
  return [
    `${replayed} replayed, ${plural(deliveriesCreated, 'delivery')} created.`,
    ...(left.length > 0 ? [`${left.join(', ')}.`] : []),
    ...(replayedUntil === null ? [] : [`Events received before ${replayedUntil} have been processed.`]),
  ].join(' ');
}
