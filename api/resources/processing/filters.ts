// Filters: conditions that several routes share. Routes may hold conditions themselves.
import { z } from 'zod';
import {
  FILTER_LOGICS,
  type FilterCondition,
  type FilterLogic,
  filterProblems,
  hasTooManyPatterns,
  MAX_CONDITIONS,
  MAX_PATTERNS,
  OPERATOR_NAMES,
} from '../../../core/filters/filter.ts';
import { MAX_PATH_LENGTH } from '../../../core/ingest/ingest-url.ts';
import { Filter } from '../../../db/records/entities.ts';
import { inThreads } from '../../request/threads.ts';
import { type Context, organizationId } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import { type Operation, operation } from '../../request/operation.ts';
import { refuse, refused } from '../../request/validation.ts';
import * as table from '../table.ts';
import { component, exampleSample, flag, text, withExample } from '../values.ts';
import { namedRecords, namedRows, usedRows } from './named-records.ts';

const MAX_FIELD_LENGTH = 1024;
const MAX_CONDITIONS_BYTES = 64 * 1024;

const conditionMembers = {
  field: withExample(
    z.string().min(1).max(MAX_FIELD_LENGTH),
    'payload.kind',
    'The value to compare: `payload.<path>`, `headers.<name>`, `query.<name>`, `request.path` or `method`.',
  ),
  operator: z.string().meta({ override: { enum: [...OPERATOR_NAMES] }, examples: ['equals'] }),
  value: withExample(z.unknown().optional(), 'order.paid'),
};

/** As clients send them; invalid conditions are 400 INVALID_FILTER. */
export const conditions = z
  .array(component('FilterConditionInput', conditionMembers))
  .max(MAX_CONDITIONS)
  .superRefine((given, context) => {
    // First what keeps the compiler's work small.
    if (hasTooManyPatterns(given))
      return refused(
        context,
        'INVALID_FILTER',
        `must contain at most ${MAX_PATTERNS} conditions with the operator "matches"`,
      );
    if (Buffer.byteLength(JSON.stringify(given)) > MAX_CONDITIONS_BYTES)
      return refused(context, 'INVALID_FILTER', `must be at most ${MAX_CONDITIONS_BYTES} bytes of JSON`);
    for (const { index, error } of filterProblems(given)) {
      refuse(context, 'INVALID_FILTER', error.message, [index, error.member]);
    }
  });

export const shownConditions = z
  .array(component('FilterCondition', conditionMembers))
  .max(MAX_CONDITIONS)
  .meta({ id: 'FilterConditions' });

export const logic = z.enum(FILTER_LOGICS).describe('Whether all conditions must match, or at least one.');

const filterMembers = table.membersOf<Filter>()({
  ...namedRows('flt', 'Paid orders'),
  conditions: table.required(conditions.min(1), { answer: shownConditions }),
  logic: table.optional(logic, 'AND'),
  ...usedRows,
});

const testSchema = z.object({
  payload: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  query: z.union([z.record(z.string(), z.string()), z.string()]).optional(),
  path: z.string().max(MAX_PATH_LENGTH).optional(),
  method: z.string().max(20).optional(),
});
const testConditionsSchema = testSchema.extend({ conditions, logic: logic.optional() });

const exampleConditions = [{ field: 'payload.kind', operator: 'equals', value: 'order.paid' }];

const filters = namedRecords<Pick<Filter, 'conditions' | 'logic'>>({
  name: 'Filter',
  kind: 'filter',
  entity: Filter,
  prefix: 'flt',
  members: filterMembers,
  examples: {
    create: { plain: { name: 'Paid orders', conditions: exampleConditions, logic: 'AND' } },
    update: { logic: { logic: 'OR' } },
  },
  leadsTo: 'testFilter',
});
const filterResult = component('FilterResult', {
  matches: flag(true, 'Whether the sample matches.'),
  conditions: z.array(
    z.object({
      ...{ field: text('payload.kind'), operator: conditionMembers.operator, value: conditionMembers.value },
      matches: flag(true),
    }),
  ),
});

export const filterOperations: Operation[] = [
  ...filters.operations,
  operation('testConditions', 'post', '/api/filters/test', {
    tag: 'Filters',
    changesNothing: true,
    summary: 'Test conditions without saving them',
    body: { schema: testConditionsSchema, examples: { plain: { conditions: exampleConditions, ...exampleSample } } },
    answer: { description: 'Whether the sample matches, and which conditions do.', schema: filterResult },
    errors: { 400: ['INVALID_FILTER'] },
    run: async (ctx, { body: { conditions: given, logic: how, ...body } }) =>
      await tryOut(ctx, { conditions: given, logic: how ?? filterMembers.logic.default }, body),
  }),
  operation('testFilter', 'post', '/api/filters/{id}/test', {
    tag: 'Filters',
    of: filters.find,
    changesNothing: true,
    summary: 'Test a filter',
    body: { schema: testSchema, examples: { plain: exampleSample } },
    answer: { description: 'Whether the sample matches, and which conditions do.', schema: filterResult },
    errors: { 400: ['INVALID_FILTER'] },
    run: (ctx, { body, record }) => tryOut(ctx, record, body),
  }),
];

async function tryOut(
  ctx: Context,
  { conditions: given, logic: how }: { conditions: FilterCondition[]; logic: FilterLogic },
  sample: z.output<typeof testSchema>,
) {
  const headers = Object.entries(sample.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const trial = {
    conditions: given,
    logic: how,
    method: (sample.method ?? 'POST').toUpperCase(),
    headers: Object.fromEntries(headers),
    path: sample.path ?? '',
    query: new URLSearchParams(sample.query ?? '').toString(),
    payload: sample.payload,
  };
  const result = await inThreads(() => ctx.deps.threads.tryFilter(organizationId(ctx), trial));
  if (!result.ok) throw invalid('conditions', `are too complex for this sample: ${result.problem}`, 'INVALID_FILTER');
  return {
    matches: result.matches,
    conditions: given.map(({ field, operator, value }, index) => ({
      ...{ field, operator, value },
      matches: result.met[index],
    })),
  };
}
