// What the types have in common.
import { z } from 'zod';
import { secretProblem, type AnyScheme } from '../index.ts';

/** How long ago, or ahead, a signed time may be. */
export const toleranceSeconds = z
  .int()
  .min(1, 'must be at least 1')
  .max(86_400, 'must be at most 86400, which is a day')
  .default(300);

/** Between parts of a header, which Node joins with a comma and a space when it comes twice. */
export const separator = z
  .string()
  .min(1, 'must not be empty')
  .max(16, 'must be at most 16 characters')
  .refine((text) => !text.includes(', '), 'must not hold a comma and a space, by which repeated headers are joined');

/** What is wrong with a member, as the end of a sentence. */
export type MemberProblem = { member: string; message: string };

/** Makes the refinement of a schema: what is wrong with its members together, else with its secret. */
export const refineBy =
  <Config extends { secret?: string | undefined }>(
    problemOf: (config: Config) => MemberProblem | null,
    scheme: (config: Config) => AnyScheme,
  ) =>
  (config: Config, context: z.RefinementCtx): void => {
    const problem = problemOf(config);
    const ofSecret =
      problem === null && config.secret !== undefined ? secretProblem(scheme(config), config.secret) : null;
    if (problem !== null) context.addIssue({ code: 'custom', path: [problem.member], message: problem.message });
    if (ofSecret !== null) context.addIssue({ code: 'custom', path: ['secret'], message: ofSecret });
  };

export const nothingElse = (): null => null;
