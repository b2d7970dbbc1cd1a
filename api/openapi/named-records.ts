// Filters, transforms and schemas in the API's description; their handlers are in the files of those names in ../resources.
import { z } from 'zod';
import { TRANSFORM_TYPES } from '../../core/transform-types.ts';
import { OPERATOR_NAMES } from '../../core/filters/conditions.ts';
import { logic, shownConditions } from '../members/filter-conditions.ts';
import * as filters from '../resources/filters.ts';
import { listSchema } from '../resources/named-records.ts';
import * as schemas from '../resources/schemas.ts';
import * as transforms from '../resources/transforms.ts';
import { count, flag, idOf, listOf, stamps, text } from '../members/values.ts';
import type { Operation, RequestBody, Tag } from './operation.ts';

const operator = z.enum(OPERATOR_NAMES as [string, ...string[]]).meta({ examples: ['equals'] });

/** The members that all three kinds have. */
function record(prefix: string, name: string, own: z.ZodRawShape) {
  return z.object({
    id: idOf(prefix),
    name: text(name),
    slug: text('orders'),
    description: text('For the CRM').nullable(),
    ...own,
    routeCount: count.meta({ description: 'Routes that use it.', examples: [1] }),
    ...stamps,
  });
}
const version = z
  .int()
  .min(1)
  .meta({ description: 'Grows with every change.', examples: [1] });

const filter = record('flt', 'Paid orders', { conditions: shownConditions, logic }).meta({
  id: 'Filter',
});
const transform = record('tfm', 'To the CRM', {
  type: z.enum(TRANSFORM_TYPES),
  code: text('{ "id": payload.order.id }'),
  outputContentType: text('application/json').nullable(),
  version,
}).meta({ id: 'Transform' });
const schema = record('sch', 'Order', {
  schema: z
    .union([z.record(z.string(), z.unknown()), z.boolean()])
    .meta({ description: 'A JSON Schema.', examples: [{ type: 'object', required: ['id'] }] }),
  version,
}).meta({ id: 'Schema' });

interface Kind {
  tag: Tag;
  /** In operation ids and in sentences: `Filter`, `filter`. */
  name: string;
  prefix: string;
  base: string;
  record: z.ZodType;
  create: RequestBody;
  update: RequestBody;
  refusal: string;
  alsoLeadsTo: string;
}

/** List, create, get, update and delete of one kind. */
function operationsOf({
  tag,
  name,
  prefix,
  base,
  record: shown,
  create,
  update,
  refusal,
  alsoLeadsTo,
}: Kind): Operation[] {
  const common = { tag, idOf: [prefix] };
  const what = `a ${name.toLowerCase()}`;
  const is = `The ${name.toLowerCase()}`;
  return [
    {
      ...common,
      method: 'get',
      path: base,
      operationId: `list${name}s`,
      summary: `List ${name.toLowerCase()}s`,
      query: listSchema,
      answer: { status: 200, description: 'One page, newest first.', schema: listOf(shown) },
    },
    {
      ...common,
      method: 'post',
      path: base,
      operationId: `create${name}`,
      summary: `Create ${what}`,
      body: create,
      answer: {
        status: 201,
        description: `${is}.`,
        schema: shown,
        leadsTo: [`get${name}`, `update${name}`, alsoLeadsTo, `delete${name}`],
      },
      errors: { 400: [refusal, 'INVALID_SLUG'], 409: ['DUPLICATE_SLUG'] },
    },
    {
      ...common,
      method: 'get',
      path: `${base}/{id}`,
      operationId: `get${name}`,
      summary: `Get ${what}`,
      answer: { status: 200, description: `${is}.`, schema: shown },
    },
    {
      ...common,
      method: 'patch',
      path: `${base}/{id}`,
      operationId: `update${name}`,
      summary: `Update ${what}`,
      description: 'Members that are not sent stay as they are.',
      body: update,
      answer: { status: 200, description: `${is} as it is now.`, schema: shown },
      errors: { 400: [refusal, 'INVALID_SLUG'], 409: ['DUPLICATE_SLUG'] },
    },
    {
      ...common,
      method: 'delete',
      path: `${base}/{id}`,
      operationId: `delete${name}`,
      summary: `Delete ${what}`,
      answer: { status: 204, description: 'It is deleted.' },
      errors: { 409: ['IN_USE'] },
    },
  ];
}

const conditions = [{ field: 'payload.kind', operator: 'equals', value: 'order.paid' }];
const sample = { payload: { kind: 'order.paid', order: { id: 42 } }, headers: { 'x-shop': 'main' } };
const code = { type: 'jsonata', code: '{ "id": payload.order.id }' };
const jsonSchema = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };

const filterResult = z
  .object({
    matches: flag(true, 'Whether a route with this filter takes the sample.'),
    conditions: z.array(z.object({ field: text('payload.kind'), operator, matches: flag(true) })),
  })
  .meta({ id: 'FilterResult' });

const tried = {
  outputContentType: text('application/json').nullable(),
  durationMs: z.number().meta({ examples: [1.2] }),
};
const transformResult = z
  .union([
    z.object({
      success: z.literal(true),
      output: z.unknown().meta({ description: 'Parsed when it is JSON, else its text.', examples: [{ id: 42 }] }),
      ...tried,
    }),
    z.object({
      success: z.literal(false),
      error: z.object({
        message: text('The transform took too long'),
        line: z.int().nullable(),
        column: z.int().nullable(),
      }),
      ...tried,
    }),
  ])
  .meta({ id: 'TransformResult' });

const schemaResult = z
  .object({
    valid: flag(false),
    errors: z.array(
      z.object({
        path: text('/id', 'A JSON pointer into the payload; empty for the payload itself.'),
        message: text('must be integer'),
      }),
    ),
  })
  .meta({ id: 'SchemaResult' });

export const namedRecordOperations: Operation[] = [
  ...operationsOf({
    tag: 'Filters',
    name: 'Filter',
    prefix: 'flt',
    base: '/api/filters',
    record: filter,
    create: { schema: filters.createSchema, examples: { plain: { name: 'Paid orders', conditions, logic: 'AND' } } },
    update: { schema: filters.updateSchema, examples: { logic: { logic: 'OR' } } },
    refusal: 'INVALID_FILTER',
    alsoLeadsTo: 'testFilter',
  }),
  {
    tag: 'Filters',
    method: 'post',
    path: '/api/filters/test',
    operationId: 'testConditions',
    summary: 'Try conditions that are not stored',
    body: { schema: filters.testConditionsSchema, examples: { plain: { conditions, ...sample } } },
    answer: { status: 200, description: 'What the conditions make of the sample.', schema: filterResult },
    errors: { 400: ['INVALID_FILTER'] },
  },
  {
    tag: 'Filters',
    idOf: ['flt'],
    method: 'post',
    path: '/api/filters/{id}/test',
    operationId: 'testFilter',
    summary: 'Try a filter',
    body: { schema: filters.testSchema, examples: { plain: sample } },
    answer: { status: 200, description: 'What the filter makes of the sample.', schema: filterResult },
  },
  ...operationsOf({
    tag: 'Transforms',
    name: 'Transform',
    prefix: 'tfm',
    base: '/api/transforms',
    record: transform,
    create: {
      schema: transforms.createSchema,
      examples: {
        jsonata: { name: 'To the CRM', ...code },
        javascript: {
          name: 'To XML',
          type: 'javascript',
          code: "export default (event) => '<order>' + event.payload.order.id + '</order>'",
          outputContentType: 'application/xml',
        },
      },
    },
    update: { schema: transforms.updateSchema, examples: { code: { code: '{ "number": payload.order.id }' } } },
    refusal: 'INVALID_TRANSFORM',
    alsoLeadsTo: 'testTransform',
  }),
  {
    tag: 'Transforms',
    method: 'post',
    path: '/api/transforms/test',
    operationId: 'testCode',
    summary: 'Try code that is not stored',
    body: { schema: transforms.testCodeSchema, examples: { plain: { ...code, ...sample } } },
    answer: {
      status: 200,
      description: 'What the code makes of the sample, or what is wrong.',
      schema: transformResult,
    },
  },
  {
    tag: 'Transforms',
    idOf: ['tfm'],
    method: 'post',
    path: '/api/transforms/{id}/test',
    operationId: 'testTransform',
    summary: 'Try a transform',
    body: { schema: transforms.sampleSchema, optional: true, examples: { plain: sample } },
    answer: {
      status: 200,
      description: 'What the code makes of the sample, or what is wrong.',
      schema: transformResult,
    },
  },
  ...operationsOf({
    tag: 'Schemas',
    name: 'Schema',
    prefix: 'sch',
    base: '/api/schemas',
    record: schema,
    create: { schema: schemas.createSchema, examples: { plain: { name: 'Order', schema: jsonSchema } } },
    update: { schema: schemas.updateSchema, examples: { schema: { schema: { ...jsonSchema, required: [] } } } },
    refusal: 'INVALID_SCHEMA',
    alsoLeadsTo: 'validatePayload',
  }),
  {
    tag: 'Schemas',
    idOf: ['sch'],
    method: 'post',
    path: '/api/schemas/{id}/validate',
    operationId: 'validatePayload',
    summary: 'Try a schema on a payload',
    body: { schema: schemas.validateSchema, examples: { wrong: { payload: { id: 'not a number' } } } },
    answer: {
      status: 200,
      description: 'Whether the payload matches, and the first ten mismatches.',
      schema: schemaResult,
    },
  },
];
