// The lane `adaptive`: whether the workers have room for another workflow, or the relay makes first attempts itself. A pure
// function of what one worker sees of its own starts (recent-starts.ts), so that the choice needs no query.
//
// Queues of workers that keep up are short-lived; a queue that stays means too much work (the idea of CoDel, RFC 8289). So one late
// start changes nothing. Many, or more of them waiting than the workers begin in a moment, do: from then on the relay makes the
// attempts, before a queue of workflows can form that later deliveries would wait for.
//
// While the relay makes them, nothing shows how many workflows there would be room for. So the rate that was too high is remembered:
// it goes back when the rate is clearly lower. Because a pause of the machine looks like pressure for a moment, it also tries again,
// soon after the first time, and later and later when that fails (exponential backoff).
import type { Lane } from './lane.ts';

/** What a worker sees of its starts. */
export interface StartSample {
  /** Of a monotonic clock, ms. */
  atMs: number;
  /** First attempts that became due in the last second, in whichever lane. */
  duePerSecond: number;
  /** Workflows whose first attempt has begun in the last second. */
  begunPerSecond: number;
  /** Workflows that were started and whose first attempt has not begun. */
  waiting: number;
  /** Starts of the last two seconds, and how many of them were late. */
  recent: number;
  late: number;
  /** In how many tenths of these two seconds late ones were more than a few. */
  lateTenths: number;
}

/** Why the workers have no room: too many workflows wait, too many start late, or Temporal has refused one. */
export type Pressure = 'waiting' | 'late' | 'refused';

export interface LaneState {
  /** The lane of the next delivery. */
  lane: Lane;
  /** When it was chosen, ms. */
  sinceMs: number;
  /** While the lane is `express`: what brought it. */
  pressure: Pressure | null;
  /** The rate that was too high, first attempts per second. */
  tooMany: number;
  /** How often the pressure came back soon after the workers had seemed to have room. */
  relapses: number;
  /** While the lane is `workflow`: whether it tries a rate that was too high before. */
  onTrial: boolean;
  /** While the lane is `express`: since when the rate is clearly lower, ms; null: it is not. */
  calmSinceMs: number | null;
}

export const ROOM: LaneState = {
  lane: 'workflow',
  sinceMs: Number.NEGATIVE_INFINITY,
  pressure: null,
  tooMany: 0,
  relapses: 0,
  onTrial: false,
  calmSinceMs: null,
};

// As many may wait as the workers begin in this time, and always a few: a handful of webhooks often comes at once.
const WAIT_SECONDS = 0.2;
const MAY_WAIT = 20;
// When it tries a rate that was too high, fewer: they wait in vain if it still is.
const MAY_WAIT_ON_TRIAL = 8;
const TRIAL_MS = 2000;
// Starts are late in a pause of the machine and in a burst too, but then they are few.
const MANY_LATE = 30;
const LATE_SHARE = 0.2;
// Late ones again and again are no pause, and few late ones are enough to make the slowest in a hundred slow.
const OFTEN_LATE = 5;
interface Parts {
  waiting: number;
  late: number;
}
const ALL: Parts = { waiting: 1, late: 1 };
// There is room to spare while less than these parts of what is pressure are there. With more that wait, a flood that takes what is spare
// becomes pressure; with fewer late ones, an ordinary pause of the machine ends it.
const SPARE: Parts = { waiting: 1 / 4, late: 1 / 2 };
// Clearly lower than what was too much.
const CALM_SHARE = 0.7;
// How long the rate must be that low; doubled by each relapse.
const CALM_MS = 1000;
const LONGEST_CALM_MS = 8000;
// When it tries again at a rate that was too high: at first, after the first relapse, and at last. Each relapse doubles it.
const FIRST_TRY_MS = 1000;
const NEXT_TRY_MS = 30_000;
const LAST_TRY_MS = 120_000;
// Pressure that comes back in this time is a relapse. Without pressure for so long, the earlier ones are forgotten.
const STEADY_MS = 10_000;

/**
 * The state after a sample.
 * @param refused whether Temporal has refused a start, or cannot be reached
 * @returns the same object when nothing changes
 */
export function nextLane(state: LaneState, sample: StartSample, refused = false): LaneState {
  if (state.lane === 'workflow') return underWorkflows(state, sample, refused);
  return refused ? state : underExpress(state, sample);
}

function underWorkflows(state: LaneState, sample: StartSample, refused: boolean): LaneState {
  const isSteady = sample.atMs - state.sinceMs >= STEADY_MS;
  const pressure = refused ? 'refused' : pressureOf(sample, isOnTrial(state, sample));
  if (pressure === null) return isSteady && state.relapses > 0 ? { ...state, relapses: 0 } : state;
  return {
    lane: 'express',
    sinceMs: sample.atMs,
    pressure,
    tooMany: sample.duePerSecond,
    relapses: isSteady ? 0 : state.relapses + 1,
    onTrial: false,
    calmSinceMs: null,
  };
}

/**
 * Whether nothing is near pressure. Then no organization is held to its turns (workflow-turns.ts): nobody would gain by it.
 * @param state the one after the sample
 */
export const hasRoomToSpare = (state: LaneState, sample: StartSample): boolean =>
  state.lane === 'workflow' && pressureOf(sample, isOnTrial(state, sample), SPARE) === null;

const isOnTrial = ({ onTrial, sinceMs }: LaneState, { atMs }: StartSample) => onTrial && atMs - sinceMs < TRIAL_MS;

/** @param parts of what is pressure that are enough */
function pressureOf(sample: StartSample, onTrial: boolean, parts = ALL): Pressure | null {
  const { begunPerSecond, waiting, recent, late, lateTenths } = sample;
  const mayWait = onTrial ? MAY_WAIT_ON_TRIAL : Math.max(MAY_WAIT, begunPerSecond * WAIT_SECONDS);
  if (waiting >= mayWait * parts.waiting) return 'waiting';
  const isLate = lateTenths >= OFTEN_LATE * parts.late || late >= Math.max(MANY_LATE, recent * LATE_SHARE) * parts.late;
  return isLate ? 'late' : null;
}

function underExpress(state: LaneState, sample: StartSample): LaneState {
  const { atMs } = sample;
  const isLow = sample.duePerSecond <= state.tooMany * CALM_SHARE;
  const calmSinceMs = isLow ? (state.calmSinceMs ?? atMs) : null;
  const isCalm = calmSinceMs !== null && atMs - calmSinceMs >= Math.min(LONGEST_CALM_MS, CALM_MS * 2 ** state.relapses);
  const triesAgain = atMs - state.sinceMs >= tryAfterMs(state.relapses);
  // What was started before has begun by then; if not, there is no room at all.
  const hasRoom = sample.waiting < MAY_WAIT / 2;
  if (hasRoom && (isCalm || triesAgain)) {
    const onTrial = !isCalm && state.relapses > 0;
    return { ...state, lane: 'workflow', sinceMs: atMs, pressure: null, onTrial, calmSinceMs: null };
  }
  return calmSinceMs === state.calmSinceMs ? state : { ...state, calmSinceMs };
}

const tryAfterMs = (relapses: number) =>
  relapses === 0 ? FIRST_TRY_MS : Math.min(LAST_TRY_MS, NEXT_TRY_MS * 2 ** (relapses - 1));
