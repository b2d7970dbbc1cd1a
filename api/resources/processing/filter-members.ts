// What a filter holds (FLT-01 to FLT-11). Routes may hold conditions themselves.
import { z } from 'zod';
import { OPERATOR_NAMES } from '../../../core/filters/conditions.ts';
import {
  FILTER_LOGICS,
  filterProblems,
  hasTooManyPatterns,
  MAX_CONDITIONS,
  MAX_PATTERNS,
} from '../../../core/filters/filter.ts';
import type { Filter } from '../../../db/entities.ts';
import { refuse } from '../../request/validation.ts';
import { namedRows, usedRows } from './named-members.ts';
import { answerShape, createShape, defaultsOf, membersOf, optional, required, updateShape } from '../table.ts';

const MAX_FIELD_LENGTH = 1024;
const MAX_CONDITIONS_BYTES = 64 * 1024;

export const conditionMembers = {
  field: z
    .string()
    .min(1)
    .max(MAX_FIELD_LENGTH)
    .meta({
      description: '`payload.<path>`, `headers.<name>`, `query.<name>`, `request.path` or `method`',
      examples: ['payload.kind'],
    }),
  operator: z.string().meta({ override: { enum: [...OPERATOR_NAMES] }, examples: ['equals'] }),
  value: z
    .unknown()
    .optional()
    .meta({ examples: ['order.paid'] }),
};

/** As clients send them; invalid conditions are 400 INVALID_FILTER. */
export const conditions = z
  .array(z.object(conditionMembers).meta({ id: 'FilterConditionInput' }))
  .max(MAX_CONDITIONS)
  .superRefine((given, context) => {
    // First what keeps the compiler's work small.
    if (hasTooManyPatterns(given)) {
      return refuse(context, 'INVALID_FILTER', `must be at most ${MAX_PATTERNS} with the operator matches`);
    }
    if (Buffer.byteLength(JSON.stringify(given)) > MAX_CONDITIONS_BYTES) {
      return refuse(context, 'INVALID_FILTER', `must be at most ${MAX_CONDITIONS_BYTES} bytes of JSON`);
    }
    for (const { index, error } of filterProblems(given)) {
      refuse(context, 'INVALID_FILTER', error.message, [index, error.member]);
    }
  });

/** As answers and files hold them. */
export const shownConditions = z
  .array(z.object(conditionMembers).meta({ id: 'FilterCondition' }))
  .max(MAX_CONDITIONS)
  .meta({ id: 'FilterConditions' });

export const logic = z.enum(FILTER_LOGICS).meta({ description: 'Whether all conditions must be met, or one.' });

/** Clients may send what is `required` or `optional`, with its default, and a slug; the others are read-only. */
export const filterMembers = membersOf<Filter>()({
  ...namedRows('flt', 'Paid orders'),
  conditions: required(conditions.min(1), { answer: shownConditions }),
  logic: optional(logic, 'AND'),
  ...usedRows,
});

export const filterDefaults = defaultsOf(filterMembers);

export const createFilterSchema = z.object(createShape(filterMembers));
export const updateFilterSchema = z.object(updateShape(filterMembers));
export const filterAnswer = z.object(answerShape(filterMembers)).meta({ id: 'Filter' });
