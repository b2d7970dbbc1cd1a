// Which changes of issues a channel is notified of, and when. A channel is first notified of open issues that its
// filter names; then, whatever its filter says by now, of what becomes of them. While a message about an issue is on
// its way there is no other, so they arrive in their order.
import { type Change, isQuiet, type QuietHours } from './channel.ts';
import type { IssueState } from './issues.ts';
import { MAX_DIGEST_CHANGES } from './message.ts';

const MINUTE_MS = 60_000;
export const MAX_UNDER_WAY = 100;
// Until a first message has arrived, and while the channel fails.
const MAX_UNTIL_ARRIVED = 5;
const MAX_WHILE_FAILING = 1;
// A failing channel gets the next message after this time.
const TRY_FAILING_AFTER_MS = 15 * MINUTE_MS;
const MAX_CHANGES = 500;

export interface ChannelState {
  id: string;
  organizationId: string;
  onAcknowledged: boolean;
  onResolved: boolean;
  throttleMinutes: number;
  quietHours: QuietHours | null;
  digestMinutes: number | null;
  lastDigestAt: Date | null;
  failingSince: Date | null;
  failedAt: Date | null;
  lastSentAt: Date | null;
  underWay: number;
}

export interface IssueNews {
  issueId: string;
  /** `open` is news to a channel that does not know the issue only where its filter names it. */
  state: IssueState;
  changedAt: Date;
  exhaustedAt: Date | null;
  /** The last change that the channel was notified of. Null: none. */
  announced: Change | null;
  announcedAt: Date | null;
  announcedExhausted: boolean;
}

export interface AnnouncedChange {
  issueId: string;
  change: Change;
  before: Change | null;
  exhausted: boolean;
}

export interface Announcement {
  channel: ChannelState;
  changes: AnnouncedChange[];
  /** Whether it is a digest, and one that leaves nothing out. */
  digest: 'whole' | 'part' | null;
}

type Decision = { change: Change; at: Date } | 'forget' | null;

/** @returns what the channel is notified of; `forget`: of nothing, but it does not know the issue any more */
export function decideChange(channel: ChannelState, news: IssueNews, now: Date): Decision {
  const { state, changedAt, exhaustedAt, announced, announcedAt, announcedExhausted } = news;
  const isKnown = announced === 'opened' || announced === 'acknowledged';
  const isActive = state === 'open' || state === 'acknowledged';
  // Once, so it does not wait for the throttle.
  if (isKnown && isActive && exhaustedAt !== null && !announcedExhausted)
    return { change: 'exhausted', at: exhaustedAt };
  if (announcedAt !== null && !hasPassed(announcedAt, channel.throttleMinutes * MINUTE_MS, now)) return null;
  switch (state) {
    case 'open':
      return announced === 'opened' ? null : { change: 'opened', at: changedAt };
    case 'acknowledged':
      return announced === 'opened' && channel.onAcknowledged ? { change: state, at: changedAt } : null;
    case 'ignored':
      return isKnown && channel.onResolved ? { change: state, at: changedAt } : null;
    case 'resolved':
      if (!isKnown) return null;
      // Then the channel is notified again when the issue opens again.
      return channel.onResolved ? { change: state, at: changedAt } : 'forget';
  }
}

/** The messages of one channel, and the issues that it does not know any more. */
export function announce(
  channel: ChannelState,
  news: IssueNews[],
  now: Date,
): { messages: Announcement[]; forgotten: string[] } {
  const { failedAt, failingSince, quietHours } = channel;
  const isLeftAlone = failingSince !== null && failedAt !== null && !hasPassed(failedAt, TRY_FAILING_AFTER_MS, now);
  if (isLeftAlone || isQuiet(quietHours, now)) return { messages: [], forgotten: [] };
  const decided = news.map((each) => ({ news: each, decision: decideChange(channel, each, now) }));
  const forgotten = decided.flatMap(({ news, decision }) => (decision === 'forget' ? [news.issueId] : []));
  const due = decided
    .flatMap(({ news, decision }) => (decision === null || decision === 'forget' ? [] : [{ news, ...decision }]))
    .toSorted(
      (one, other) => one.at.getTime() - other.at.getTime() || (one.news.issueId < other.news.issueId ? -1 : 1),
    );
  const [oldest] = due;
  if (oldest === undefined) return { messages: [], forgotten };
  const changes = due.map(({ change, news: { issueId, announced, exhaustedAt } }) => ({
    ...{ issueId, change, before: announced, exhausted: exhaustedAt !== null },
  }));
  if (channel.digestMinutes !== null) {
    const isDue = isDigestDue(channel, oldest.at, channel.digestMinutes, now);
    const digest = changes.length <= MAX_DIGEST_CHANGES ? ('whole' as const) : ('part' as const);
    const message = { channel, changes: changes.slice(0, MAX_DIGEST_CHANGES), digest };
    return { messages: isDue ? [message] : [], forgotten };
  }
  const most = Math.max(0, roomOf(channel) - channel.underWay);
  return { messages: changes.slice(0, most).map((each) => ({ channel, changes: [each], digest: null })), forgotten };
}

function isDigestDue({ underWay, lastDigestAt }: ChannelState, oldest: Date, minutes: number, now: Date): boolean {
  const ms = minutes * MINUTE_MS;
  return underWay === 0 && hasPassed(oldest, ms, now) && (lastDigestAt === null || hasPassed(lastDigestAt, ms, now));
}

function roomOf({ failingSince, lastSentAt }: ChannelState): number {
  if (failingSince !== null) return MAX_WHILE_FAILING;
  return lastSentAt === null ? MAX_UNTIL_ARRIVED : MAX_UNDER_WAY;
}

/** What one round makes of the messages of several channels: the first of each comes before the second of any. */
export function inTurn(perChannel: Announcement[][]): Announcement[] {
  const longest = Math.max(0, ...perChannel.map(({ length }) => length));
  const taken: Announcement[] = [];
  let changes = 0;
  for (let nth = 0; nth < longest; nth += 1) {
    for (const messages of perChannel) {
      const message = messages[nth];
      if (message === undefined) continue;
      if (changes >= MAX_CHANGES) return taken;
      taken.push(message);
      changes += message.changes.length;
    }
  }
  return taken;
}

/**
 * The change that the channel was notified of last, after this one: a delivery that failed for good is one more word
 * about an issue.
 */
export const announcedAfter = ({ change, before }: AnnouncedChange): Change | null =>
  change === 'exhausted' ? before : change;

/** Whether a time is so long ago. One of the future is from before the clock was set back: it counts as past. */
function hasPassed(at: Date, ms: number, now: Date): boolean {
  const age = now.getTime() - at.getTime();
  return age >= ms || age < -MINUTE_MS;
}

export interface OtherChannel {
  id: string;
  type: string;
  quietHours: QuietHours | null;
}

/**
 * Which of the channels is notified that another one fails: one that may be notified now, and is read as a message,
 * before one that makes an incident that nobody ends.
 * @param others those that work and were not tried, the oldest first
 */
export function chooseOther(others: OtherChannel[], now: Date): OtherChannel | undefined {
  const rank = ({ quietHours, type }: OtherChannel) =>
    (isQuiet(quietHours, now) ? 2 : 0) + (type === 'pagerduty' ? 1 : 0);
  return others.toSorted((one, other) => rank(one) - rank(other))[0];
}
