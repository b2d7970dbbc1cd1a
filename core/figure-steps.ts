// The steps of an organization's figures (GET /api/metrics): into which intervals a time is divided, and how fine they may be. What
// is older is kept in larger buckets (db/history/figures/pack-figures.ts).
// Rules: METRIC-03 to METRIC-05.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The finest step, and the largest, in seconds. Figures are kept in these and in hours. */
export const MIN_STEP = 300;
export const MAX_STEP = 86_400;
const HOUR_STEP = 3600;
/** From so long ago on, figures may be kept in hours only, and in days. */
export const HOURS_AFTER_MS = 25 * HOUR_MS;
export const DAYS_AFTER_MS = 8 * DAY_MS;
/** How far the clock of this process may be behind that of the database, by which old buckets are removed. */
const CLOCKS_MS = 5 * MINUTE_MS;
/** How far a question may go back, and how long its time may be. */
export const MOST_DAYS = 31;

/** The time of a question, cut into steps that begin at multiples of the step since 1970 (UTC). */
export interface Steps {
  /** The beginning of the first one. */
  from: Date;
  /** The end of the last one. */
  to: Date;
  /** s */
  step: number;
}

/** What is wrong with a question. */
interface StepProblem {
  member: 'from' | 'to' | 'step';
  message: string;
}

/**
 * @param time `from` is rounded down, `to` up. By default `to` is now, and `from` a day before it
 * @param step s, a multiple of MIN_STEP up to MAX_STEP
 */
export function stepsOf(time: { from?: Date; to?: Date }, step: number, nowMs: number): Steps | StepProblem {
  const to = time.to?.getTime() ?? nowMs;
  const from = time.from?.getTime() ?? to - DAY_MS;
  if (from >= to) return { member: 'from', message: 'must be before to' };
  if (to - from > MOST_DAYS * DAY_MS) return { member: 'from', message: `must be at most ${MOST_DAYS} days before to` };
  if (from < nowMs - MOST_DAYS * DAY_MS)
    return { member: 'from', message: `must not be more than ${MOST_DAYS} days ago: older figures are not kept` };
  const stepMs = step * 1000;
  const first = Math.floor(from / stepMs) * stepMs;
  const age = nowMs - first + CLOCKS_MS;
  if (age >= DAYS_AFTER_MS && stepMs % DAY_MS !== 0)
    return { member: 'step', message: 'must be 86400 (a day) where from is about 8 days ago or more' };
  if (age >= HOURS_AFTER_MS && stepMs % HOUR_MS !== 0)
    return { member: 'step', message: 'must be a multiple of 3600 (an hour) where from is more than a day ago' };
  return { from: new Date(first), to: new Date(Math.ceil(to / stepMs) * stepMs), step };
}

/** The steps that figures are kept in, in seconds, the largest first. */
export const KEPT_STEPS = [MAX_STEP, HOUR_STEP, MIN_STEP] as const;
export type KeptStep = (typeof KEPT_STEPS)[number];

/** The largest step that figures are kept in of which a step consists. @param step s, a multiple of MIN_STEP */
export const keptStepOf = (step: number): KeptStep => KEPT_STEPS.find((kept) => step % kept === 0) ?? MIN_STEP;
