// The steps of an organization's figures (GET /api/metrics): into which intervals a time is divided, and how fine they
// may be. What is older than a day is kept by the hour (db/ledger/roll-up.ts).

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The finest step, and the largest, in seconds. */
export const MIN_STEP = 300;
export const MAX_STEP = 86_400;
/** From so long ago on, figures may be kept in hours only. */
export const HOURS_AFTER_MS = 25 * HOUR_MS;
/** How far the clock of this process may be behind that of the database, by which old buckets are removed. */
const CLOCKS_MS = 5 * MINUTE_MS;
export const MOST_DAYS = 31;

/** The time of a question, cut into steps that begin at multiples of the step since 1970 (UTC). */
export interface Steps {
  from: Date;
  to: Date;
  step: number;
}

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
  if (from >= to) return { member: 'from', message: 'must be before "to"' };
  if (to - from > MOST_DAYS * DAY_MS)
    return { member: 'from', message: `must be at most ${MOST_DAYS} days before "to"` };
  if (from < nowMs - MOST_DAYS * DAY_MS)
    return { member: 'from', message: `must be at most ${MOST_DAYS} days ago; older metrics are not kept` };
  const stepMs = step * 1000;
  const first = Math.floor(from / stepMs) * stepMs;
  const age = nowMs - first + CLOCKS_MS;
  if (age >= HOURS_AFTER_MS && stepMs % HOUR_MS !== 0)
    return { member: 'step', message: 'must be a multiple of 3600 (1 hour) if "from" is more than one day ago' };
  return { from: new Date(first), to: new Date(Math.ceil(to / stepMs) * stepMs), step };
}
