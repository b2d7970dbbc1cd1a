// Conditions as clients send them, inline in a route or in a filter; what cannot work is 400 INVALID_FILTER.
// Rules: FLT-10, FLT-11, ERR-13.
import { z } from 'zod';
import { OPERATOR_NAMES } from '../../core/filters/conditions.ts';
import { filterProblems, hasTooManyPatterns, MAX_CONDITIONS, MAX_PATTERNS } from '../../core/filters/filter.ts';
import { refuse } from '../validation.ts';

const MAX_FIELD_LENGTH = 1024;
const MAX_CONDITIONS_BYTES = 64 * 1024;

const condition = z
  .object({
    field: z
      .string()
      .min(1)
      .max(MAX_FIELD_LENGTH)
      .meta({
        description: '`payload.<path>`, `headers.<name>`, `query.<name>` or `method`',
        examples: ['payload.kind'],
      }),
    operator: z.string().meta({ override: { enum: [...OPERATOR_NAMES] }, examples: ['equals'] }),
    value: z
      .unknown()
      .optional()
      .meta({ examples: ['order.paid'] }),
  })
  .meta({ id: 'FilterConditionInput' });

export const conditions = z
  .array(condition)
  .max(MAX_CONDITIONS)
  .superRefine((given, context) => {
    for (const { index, error } of filterProblems(given)) {
      refuse(context, 'INVALID_FILTER', error.message, [index, error.member]);
    }
    if (hasTooManyPatterns(given)) {
      refuse(context, 'INVALID_FILTER', `must be at most ${MAX_PATTERNS} with the operator matches`);
    }
    if (Buffer.byteLength(JSON.stringify(given)) > MAX_CONDITIONS_BYTES) {
      refuse(context, 'INVALID_FILTER', `must be at most ${MAX_CONDITIONS_BYTES} bytes of JSON`);
    }
  });

export const logic = z.enum(['AND', 'OR']);
