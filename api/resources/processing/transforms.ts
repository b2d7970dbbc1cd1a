// Transforms: code that turns an event into the request that is sent.
import { z } from 'zod';
import { TRANSFORM_TYPES } from '../../../core/config/transform-types.ts';
import { sampleContent } from '../../../core/forms/forms.ts';
import { isMediaType } from '../../../core/http/headers.ts';
import { METHODS } from '../../../core/http/methods.ts';
import { MAX_PATH_LENGTH } from '../../../core/ingest/ingest-path.ts';
import { parseExact } from '../../../core/text/exact-json.ts';
import { newId } from '../../../core/text/ids.ts';
import { Transform } from '../../../db/records/entities.ts';
import type { TransformCode, TransformProblem } from '../../../outbound/transforms/language.ts';
import { inThreads } from '../../request/threads.ts';
import { type ApiDeps, type Context, organizationId } from '../../request/context.ts';
import { ApiError } from '../../request/errors.ts';
import type { Operation } from '../../request/operation.ts';
import { parseBody, parseOptionalBody } from '../../request/validation.ts';
import {
  answerShape,
  createShape,
  defaultsOf,
  membersOf,
  optional,
  readOnly,
  required,
  updateShape,
} from '../table.ts';
import { exampleSample, text, version } from '../values.ts';
import { NamedRecords, namedRows, usedRows } from './named-records.ts';

const MAX_CODE_LENGTH = 100_000;

const code = z
  .string()
  .max(MAX_CODE_LENGTH)
  .refine((text) => text.trim() !== '', 'must not be empty')
  .meta({ examples: ['{ "id": payload.order.id }'] });
const outputContentType = z
  .string()
  .refine(isMediaType, 'must be a media type, for example application/xml')
  .nullable()
  .meta({ examples: ['application/json'] });

/** Clients may send what is `required` or `optional`, with its default, and a slug; the others are read-only. */
const transformMembers = membersOf<Transform>()({
  ...namedRows('tfm', 'To the CRM'),
  type: required(z.enum(TRANSFORM_TYPES)),
  code: required(code),
  outputContentType: optional(outputContentType, null),
  version: readOnly(version),
  ...usedRows,
});

const transformDefaults = defaultsOf(transformMembers);

const createTransformSchema = z.object(createShape(transformMembers));
const updateTransformSchema = z.object(updateShape(transformMembers));
const transformAnswer = z.object(answerShape(transformMembers)).meta({ id: 'Transform' });

/** Input of the test endpoint; nothing is stored. */
const { type, code: codeRow, outputContentType: outputRow } = transformMembers;
const codeShape = createShape({ type, code: codeRow, outputContentType: outputRow });

const sampleSchema = z.object({
  payload: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  path: z.string().max(MAX_PATH_LENGTH).optional(),
  query: z.string().max(8192).optional(),
  method: z.enum(METHODS).optional(),
});
const testCodeSchema = sampleSchema.extend(codeShape);

const transforms = new NamedRecords<Pick<Transform, 'type' | 'code' | 'outputContentType'>>({
  kind: 'transform',
  entity: Transform,
  prefix: 'tfm',
  limit: 'transforms',
  constraint: 'transforms_slug_unique',
  usedAs: 'transformId',
  members: transformMembers,
  answer: transformAnswer,
});

const exampleCode = { type: 'jsonata', code: '{ "id": payload.order.id }' };
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

export const transformOperations: Operation[] = [
  ...transforms.operations({
    tag: 'Transforms',
    name: 'Transform',
    base: '/api/transforms',
    create: {
      body: {
        schema: createTransformSchema,
        examples: {
          jsonata: { name: 'To the CRM', ...exampleCode },
          javascript: {
            name: 'To XML',
            type: 'javascript',
            code: "export default (event) => '<order>' + event.payload.order.id + '</order>'",
            outputContentType: 'application/xml',
          },
        },
      },
      run: create,
    },
    put,
    update: {
      body: { schema: updateTransformSchema, examples: { code: { code: '{ "number": payload.order.id }' } } },
      run: update,
    },
    refusal: 'INVALID_TRANSFORM',
    alsoLeadsTo: 'testTransform',
  }),
  {
    tag: 'Transforms',
    method: 'post',
    path: '/api/transforms/test',
    operationId: 'testCode',
    changesNothing: true,
    run: testCode,
    summary: 'Try code that is not stored',
    body: { schema: testCodeSchema, examples: { plain: { ...exampleCode, ...exampleSample } } },
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
    changesNothing: true,
    run: test,
    summary: 'Try a transform',
    body: { schema: sampleSchema, optional: true, examples: { plain: exampleSample } },
    answer: {
      status: 200,
      description: 'What the code makes of the sample, or what is wrong.',
      schema: transformResult,
    },
  },
];

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const { body, own } = await goodTransform(ctx, deps);
  await transforms.create(ctx, deps, body, own);
}

async function put(ctx: Context, deps: ApiDeps): Promise<void> {
  const { body, own } = await goodTransform(ctx, deps);
  await transforms.put(ctx, deps, body, own);
}

/** The body of a create. @throws ApiError 400 when its code does not compile */
async function goodTransform(ctx: Context, deps: ApiDeps) {
  const body = await parseBody(ctx, createTransformSchema);
  const { type, code, outputContentType = transformDefaults.outputContentType } = body;
  await requireGoodCode(ctx, deps, { type, code });
  return { body, own: { type, code, outputContentType } };
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const patch = await parseBody(ctx, updateTransformSchema);
  while (!(await tryUpdate(ctx, deps, patch)));
}

/**
 * Applies a patch. The code is checked before the record is locked, because the check may take a second.
 * @returns false when the code was changed by another request meanwhile
 */
async function tryUpdate(ctx: Context, deps: ApiDeps, patch: z.output<typeof updateTransformSchema>): Promise<boolean> {
  const { type, code } = await transforms.find(ctx, deps);
  if (patch.type !== undefined || patch.code !== undefined) {
    await requireGoodCode(ctx, deps, { type: patch.type ?? type, code: patch.code ?? code });
  }
  return transforms.update(ctx, deps, patch, (stored) => stored.type === type && stored.code === code);
}

async function test(ctx: Context, deps: ApiDeps): Promise<void> {
  const sample = await parseOptionalBody(ctx, sampleSchema);
  const { id, version, type, code, outputContentType } = await transforms.find(ctx, deps);
  const transform = { key: `${id}:${version}`, type, code, outputContentType: outputContentType ?? null };
  ctx.body = await tryOut(ctx, deps, transform, sample);
}

/** Tests code that is not stored. */
async function testCode(ctx: Context, deps: ApiDeps): Promise<void> {
  const { type, code, outputContentType, ...sample } = await parseBody(ctx, testCodeSchema);
  const transform = { key: null, type, code, outputContentType: outputContentType ?? null };
  ctx.body = await tryOut(ctx, deps, transform, sample);
}

async function tryOut(ctx: Context, deps: ApiDeps, transform: TransformCode, sample: z.output<typeof sampleSchema>) {
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
  const result = await inThreads(() => deps.threads.runTransform(transform, event, organizationId(ctx)));
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
async function requireGoodCode(ctx: Context, deps: ApiDeps, code: Pick<TransformCode, 'type' | 'code'>): Promise<void> {
  const problem = await inThreads(() => deps.threads.checkTransform(code, organizationId(ctx)));
  if (problem) throw invalidTransform(problem);
}

function invalidTransform({ message, line, column }: TransformProblem): ApiError {
  if (line === null || column === null) {
    return new ApiError(400, 'INVALID_TRANSFORM', `code cannot be used: ${message}`, [{ path: 'code', message }]);
  }
  return new ApiError(400, 'INVALID_TRANSFORM', `code has an error in line ${line}, column ${column}: ${message}`, [
    { path: 'code', message, line, column },
  ]);
}
