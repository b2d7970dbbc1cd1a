import { z } from 'zod';
import { TRANSFORM_TYPES } from '../../../core/config/transform-types.ts';
import { sampleContent } from '../../../core/forms/forms.ts';
import { isMediaType } from '../../../core/http/headers.ts';
import { METHODS } from '../../../core/delivery/delivery.ts';
import { MAX_PATH_LENGTH } from '../../../core/ingest/ingest-url.ts';
import { parseExact } from '../../../core/text/exact-json.ts';
import { newId } from '../../../core/text/ids.ts';
import { Transform } from '../../../db/records/entities.ts';
import type { TransformCode } from '../../../outbound/transforms/language.ts';
import { inThreads } from '../../request/threads.ts';
import { type Context, organizationId } from '../../request/context.ts';
import { ApiError, invalid } from '../../request/errors.ts';
import { type Operation, operation } from '../../request/operation.ts';
import * as table from '../table.ts';
import { exampleSample, text, version, withExample } from '../values.ts';
import { namedRecords, namedRows, usedRows } from './named-records.ts';

const MAX_CODE_LENGTH = 100_000;

const code = withExample(
  z
    .string()
    .max(MAX_CODE_LENGTH)
    .refine((text) => text.trim() !== '', 'must not be empty'),
  '{ "id": payload.order.id }',
);
const outputContentType = withExample(
  z.string().refine(isMediaType, 'must be a media type, for example application/xml').nullable(),
  'application/json',
);

const transformMembers = table.membersOf<Transform>()({
  ...namedRows('tfm', 'To the CRM'),
  type: table.required(z.enum(TRANSFORM_TYPES)),
  code: table.required(code),
  outputContentType: table.optional(outputContentType, null),
  version: table.readOnly(version),
  ...usedRows,
});

const sampleSchema = z.object({
  payload: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  path: z.string().max(MAX_PATH_LENGTH).optional(),
  query: z.string().max(8192).optional(),
  method: z.enum(METHODS).optional(),
});
const testCodeSchema = sampleSchema.extend(
  table.createShape(table.only(transformMembers, 'type', 'code', 'outputContentType')),
);

const exampleCode = { type: 'jsonata', code: '{ "id": payload.order.id }' };

const transforms = namedRecords<Pick<Transform, 'type' | 'code' | 'outputContentType'>>({
  name: 'Transform',
  kind: 'transform',
  entity: Transform,
  prefix: 'tfm',
  members: transformMembers,
  check: { of: ['type', 'code'], run: requireGoodCode },
  examples: {
    create: {
      jsonata: { name: 'To the CRM', ...exampleCode },
      javascript: {
        name: 'To XML',
        type: 'javascript',
        code: "export default (event) => '<order>' + event.payload.order.id + '</order>'",
        outputContentType: 'application/xml',
      },
    },
    update: { code: { code: '{ "number": payload.order.id }' } },
  },
  leadsTo: 'testTransform',
});
const tried = {
  outputContentType: text('application/json').nullable(),
  durationMs: withExample(z.number(), 1.2),
};
const transformResult = z
  .union([
    z.object({
      success: z.literal(true),
      output: withExample(z.unknown(), { id: 42 }, 'The output: parsed if JSON, otherwise text.'),
      ...tried,
    }),
    z.object({
      success: z.literal(false),
      error: z.object({
        message: text('The transform took longer than 500 ms'),
        line: z.int().nullable(),
        column: z.int().nullable(),
      }),
      ...tried,
    }),
  ])
  .meta({ id: 'TransformResult' });

export const transformOperations: Operation[] = [
  ...transforms.operations,
  operation('testCode', 'post', '/api/transforms/test', {
    tag: 'Transforms',
    changesNothing: true,
    summary: 'Test code without saving it',
    body: { schema: testCodeSchema, examples: { plain: { ...exampleCode, ...exampleSample } } },
    answer: {
      description: 'The output for the sample, or the error.',
      schema: transformResult,
    },
    async run(ctx, { body: { type, code, outputContentType, ...sample } }) {
      const transform = { key: null, type, code, outputContentType: outputContentType ?? null };
      return await tryOut(ctx, transform, sample);
    },
  }),
  operation('testTransform', 'post', '/api/transforms/{id}/test', {
    tag: 'Transforms',
    of: transforms.find,
    changesNothing: true,
    summary: 'Test a transform',
    body: { schema: sampleSchema, optional: true, examples: { plain: exampleSample } },
    answer: {
      description: 'The output for the sample, or the error.',
      schema: transformResult,
    },
    async run(ctx, { body: sample, record: { id, version, type, code, outputContentType } }) {
      const transform = { key: `${id}:${version}`, type, code, outputContentType: outputContentType ?? null };
      return await tryOut(ctx, transform, sample);
    },
  }),
];

async function tryOut(ctx: Context, transform: TransformCode, sample: z.output<typeof sampleSchema>) {
  const event = {
    id: newId('evt'),
    source: 'test',
    method: sample.method ?? 'POST',
    path: sample.path ?? '',
    query: sample.query ?? '',
    headers: { 'content-type': 'application/json', ...sample.headers },
    body: sampleContent(sample.payload, sample.headers).body,
    receivedAt: new Date(),
  };
  const result = await inThreads(() => ctx.deps.threads.runTransform(transform, event, organizationId(ctx)));
  const durationMs = Math.round(result.durationMs * 100) / 100;
  if (!result.ok) {
    const { message, line, column } = result.problem;
    return { success: false, error: { message, line, column }, outputContentType: null, durationMs };
  }
  const { body, isText, contentType } = result.output;
  const text = Buffer.from(body).toString();
  return { success: true, output: isText ? text : parseExact(text), outputContentType: contentType, durationMs };
}

/** @throws ApiError 400 INVALID_TRANSFORM with the place in the code */
async function requireGoodCode(ctx: Context, { type, code }: Pick<Transform, 'type' | 'code'>) {
  const problem = await inThreads(() => ctx.deps.threads.checkTransform({ type, code }, organizationId(ctx)));
  if (!problem) return;
  const { message, line, column } = problem;
  if (line === null || column === null) throw invalid('code', `cannot be used: ${message}`, 'INVALID_TRANSFORM');
  throw new ApiError(400, 'INVALID_TRANSFORM', `code has an error on line ${line}, column ${column}: ${message}`, [
    { path: 'code', message, line, column },
  ]);
}
