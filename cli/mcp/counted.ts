// Tools that change many records at once count first. The call that acts must name what the dry run counted: what matches may have
// changed since, and a filter may mean more than was meant.
import { z } from 'zod';
import { usage } from '../errors.ts';

export const expectedCount = z
  .int()
  .min(0)
  .describe(
    'Acts, if so many match now: what the dry run counted. Without it this is a dry run: it counts, and changes nothing',
  )
  .optional();

export const dryRunMembers = {
  dryRun: z.boolean(),
  count: z.int().describe('What matches'),
  next: z.looseObject({}).optional().describe('Of a dry run: the arguments of the call that acts'),
};

/** Time up to which records count: fixed by the dry run, so that what comes later does not change its count. */
export const untilNow = (until: string | undefined): string => until ?? new Date().toISOString();

/** What a dry run answers. @param args of the call, with `until` fixed */
export function dryRun(count: number, what: string, args: object) {
  const next = { ...args, expectedCount: count };
  const how = `Nothing was changed. To do it, call this tool again with ${JSON.stringify(next)}, after the user has agreed.`;
  return {
    summary: count === 0 ? `Nothing matches: ${what}. Nothing was changed.` : `${what}. ${how}`,
    data: { dryRun: true, count, ...(count > 0 && { next }) },
  };
}

/** @throws CliError when another number matches now */
export function requireCount(found: number, expected: number): void {
  if (found === expected) return;
  throw usage(
    `${found} match now, not ${expected}: nothing was changed. Call it without expectedCount to count again, ` +
      'then with what that says, until included',
  );
}

/** @throws CliError when no filter would say what is meant */
export function requireFilter(filters: object, names: string): void {
  if (Object.values(filters).some((value) => value !== undefined)) return;
  throw usage(`Give at least one of ${names}`);
}
