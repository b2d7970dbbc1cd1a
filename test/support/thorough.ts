// Tests whose length is a choice, of time, of rows or of cases: they are shorter in every run than with `npm test -- --all`.
const isThorough = process.env.TEST_THOROUGH === 'yes';

export const DAY_MS = 86_400_000;

/** For the environment of such tests. */
export const THOROUGH = { TEST_THOROUGH: 'yes' };

/** For the environment of tests whose cases are dealt to several days. */
export const dayOfRun = (nowMs: number) => ({ TEST_DAY: String(Math.floor(nowMs / DAY_MS)) });

/** @returns so many times as long when all tests were asked for */
export const atLength = (usual: number, times: number): number => (isThorough ? usual * times : usual);

/** Leaves tests out that take minutes, but where their file is named or all tests were asked for. */
export function onlyWhenAskedFor(context: Mocha.Context): void {
  if (!isThorough && process.env.TEST_DAY !== undefined) context.skip();
}

/** @returns those of so many days that are due today; all of them when all tests were asked for, or single files */
export function dueToday<T>(cases: T[], days: number, today = process.env.TEST_DAY ?? ''): T[] {
  return today === '' ? cases : cases.filter((_case, index) => index % days === Number(today) % days);
}
