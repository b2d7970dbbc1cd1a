// What routes and destinations say of their pause, and what a pause and its end take.
// Rules: PAUSE-01 to PAUSE-04.
import { z } from 'zod';
import type { Pause } from '../../../db/circuits/pauses.ts';
import { parseTime } from '../../request/query.ts';
import { isoTime } from '../records.ts';
import { refuse } from '../../request/validation.ts';
import { answerShape, computed } from '../table.ts';
import { flag, idOf, text, timestamp } from '../values.ts';

const MAX_REASON = 500;
const MAX_RELEASE_PER_SECOND = 10_000;

export const pauseMembers = {
  paused: computed(flag(false, 'Whether its deliveries wait until it is resumed.')),
  pausedSince: computed(timestamp.nullable().meta({ description: 'Null when it is not paused.', examples: [null] })),
  pausedUntil: computed(
    timestamp.nullable().meta({ description: 'When the pause ends by itself; null: it does not.', examples: [null] }),
  ),
  pauseReason: computed(
    text('The CRM is moved', 'As it was given.')
      .nullable()
      .meta({ examples: [null] }),
  ),
};

const until = z
  .string()
  .transform((given, context) => {
    const time = parseTime(given);
    if (time && time.getTime() > Date.now()) return time;
    refuse(context, undefined, 'must be an ISO 8601 date and time in the future, for example 2030-01-01T00:00:00Z');
    return z.NEVER;
  })
  .nullable()
  .optional()
  .meta({
    description: 'When it ends by itself, in the future. Left out, or null: it lasts until somebody ends it.',
    examples: ['2036-01-01T00:00:00Z'],
  });

export const pauseSchema = z.object({
  reason: z
    .string()
    .max(MAX_REASON)
    .regex(/\S/, 'must not be empty; leave it out, or send null, for none')
    .nullable()
    .optional()
    .meta({ description: 'Shown wherever the pause is.', examples: ['The CRM is moved'] }),
  until,
});

export const resumeSchema = z.object({
  releasePerSecond: z
    .int()
    .min(1)
    .max(MAX_RELEASE_PER_SECOND)
    .optional()
    .meta({
      description:
        'How many of the deliveries that wait go out per second at most. Left out: as the server is set (50).',
      examples: [10],
    }),
});

export const pauseAnswer = z
  .object({ id: idOf('rte', 'dst', 'dst_wh'), ...answerShape(pauseMembers) })
  .meta({ id: 'Pause' });

/** Of a route or destination; undefined: it is not paused. */
export function showPause(pause: Pause | undefined) {
  return {
    paused: pause !== undefined,
    pausedSince: isoTime(pause?.since),
    pausedUntil: isoTime(pause?.until),
    pauseReason: pause?.reason ?? null,
  };
}
