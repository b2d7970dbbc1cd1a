// Shared schemas of query strings: pages, booleans, times, search texts. Bodies with the same members use some of them too.
// Rules: HTTP-09, LIST-06, LIST-07.
import { z } from 'zod';
import { parseIsoTime } from '../../core/text/timestamps.ts';

const once = z.string({
  error: ({ input }) => (Array.isArray(input) ? 'must be given once' : 'must be a string'),
});

/** `true` or `false`. */
export const booleanParam = once
  .refine((text) => text === 'true' || text === 'false', 'must be true or false')
  .transform((text) => text === 'true')
  .meta({ override: { type: 'boolean' } })
  .optional();

/** An ISO 8601 time; the answer is a Date. */
export const timeParam = once
  .transform((text, context) => {
    const time = parseTime(text);
    if (time !== null) return time;
    context.addIssue({
      code: 'custom',
      message: 'must be an ISO 8601 date and time, for example 2026-11-21T10:00:00Z',
    });
    return z.NEVER;
  })
  .meta({
    description: 'An ISO 8601 date and time, or a date; UTC where no zone is given.',
    examples: ['2026-11-21T10:00:00Z'],
  })
  .optional();

const boundedText = once.max(1000, 'must be at most 1000 characters long');

/** A text; empty counts as not given. */
export const textParam = boundedText.transform((given) => given || undefined).optional();

/** A text in the body of a request that acts on what it selects: without the filter it would act on more than intended. */
export const textMember = boundedText.min(1, 'must not be empty; leave it out').optional();

/** One of some words; empty counts as not given. */
export function choiceParam<const Choices extends readonly [string, ...string[]]>(choices: Choices) {
  return z.preprocess((value) => (value === '' ? undefined : value), z.enum(choices).optional());
}

/** Some of these words, with commas between them; empty counts as not given. */
export function choicesParam<const Choice extends string>(choices: readonly Choice[]) {
  const known = (word: string): word is Choice => (choices as readonly string[]).includes(word);
  const one = { type: 'string' as const, enum: [...choices] };
  return once
    .transform((text, context) => {
      const words = text.split(',');
      if (text === '') return undefined;
      if (words.every(known)) return [...new Set(words)];
      context.addIssue({
        code: 'custom',
        message: `must be one of ${choices.join(', ')}, or several with commas between them`,
      });
      return z.NEVER;
    })
    .meta({ override: { type: undefined, anyOf: [one, { type: 'array', items: one }] } })
    .optional()
    .meta({ param: { style: 'form', explode: false } });
}

/** A whole number; empty counts as not given. */
export function integerParam(minimum: number, maximum: number) {
  return once
    .transform((text, context) => {
      const value = Number(text);
      if (text === '') return undefined;
      if (/^\d{1,9}$/.test(text) && value >= minimum && value <= maximum) return value;
      context.addIssue({ code: 'custom', message: `must be a whole number from ${minimum} to ${maximum}` });
      return z.NEVER;
    })
    .meta({ override: { type: 'integer', minimum, maximum } })
    .optional();
}

/** Parses an ISO 8601 time, from 1970 on; a time without a zone is UTC. */
export function parseTime(text: string): Date | null {
  // A plus sign that was not percent-encoded arrives as a space.
  const ms = parseIsoTime(text.replace(/(:\d{2}(?:[.,]\d+)?) (\d{2}(?::?\d{2})?)$/, '$1+$2'));
  return ms === null || ms < 0 ? null : new Date(ms);
}

/** A text as a LIKE pattern that matches it anywhere; its own wildcards are taken literally. */
export function containsPattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
