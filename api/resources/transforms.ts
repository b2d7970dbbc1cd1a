// Transforms: code that makes of an event what is sent.
// Rules: TFM-02, TFM-03, TFM-07, TFM-10, TFM-11, ERR-15.
import { z } from 'zod';
import { SandboxUnavailableError, type TransformCode, type TransformProblem } from '../../outbound/transforms/index.ts';
import { isMediaType } from '../../core/headers.ts';
import { newId } from '../../core/ids.ts';
import { parseExact } from '../../core/numbers/exact-json.ts';
import { Transform } from '../../db/entities.ts';
import { TRANSFORM_TYPES } from '../../core/transform-types.ts';
import { type ApiDeps, type ApiRouter, type Context, organizationId } from '../context.ts';
import { ApiError, unavailable } from '../errors.ts';
import { parseBody, parseOptionalBody } from '../validation.ts';
import { namedMembers, NamedRecords } from './named-records.ts';

const MAX_CODE_LENGTH = 100_000;

const codeMembers = {
  type: z.enum(TRANSFORM_TYPES),
  code: z
    .string()
    .max(MAX_CODE_LENGTH)
    .refine((code) => code.trim() !== '', 'must not be empty'),
  outputContentType: z
    .string()
    .refine(isMediaType, 'must be a media type, for example application/xml')
    .nullable()
    .optional(),
};
export const createSchema = z.object({ ...namedMembers, ...codeMembers });
export const updateSchema = createSchema.partial();
export const sampleSchema = z.object({
  payload: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  query: z.string().max(8192).optional(),
  method: z.enum(['POST', 'PUT', 'PATCH']).optional(),
});
export const testCodeSchema = sampleSchema.extend(codeMembers);

const transforms = new NamedRecords<Pick<Transform, 'type' | 'code' | 'outputContentType'>>({
  kind: 'transform',
  entity: Transform,
  prefix: 'tfm',
  constraint: 'transforms_slug_unique',
  usedAs: 'transformId',
  show: ({ type, code, outputContentType = null, version }) => ({ type, code, outputContentType, version }),
});

export function mountTransforms(router: ApiRouter, deps: ApiDeps): void {
  const base = '/api/transforms';
  transforms.mount(router, deps, base, { create, update });
  router.post(`${base}/test`, (ctx) => testCode(ctx, deps));
  router.post(`${base}/:id/test`, (ctx) => test(ctx, deps));
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, createSchema);
  const { type, code, outputContentType = null } = body;
  await requireGoodCode(ctx, deps, { type, code });
  await transforms.create(ctx, deps, body, { type, code, outputContentType });
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const patch = await parseBody(ctx, updateSchema);
  while (!(await tryUpdate(ctx, deps, patch)));
}

/**
 * Applies a patch. The code is checked before the record is locked: that may take a second.
 * @returns false when the code was changed by another request meanwhile
 */
async function tryUpdate(ctx: Context, deps: ApiDeps, patch: z.output<typeof updateSchema>): Promise<boolean> {
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

/** Tries code that is not stored. */
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
    query: sample.query ?? '',
    headers: { 'content-type': 'application/json', ...sample.headers },
    body: Buffer.from(JSON.stringify(sample.payload ?? null)),
    receivedAt: new Date(),
  };
  const result = await inSandbox(() => deps.transforms.run(transform, event, organizationId(ctx)));
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
  const problem = await inSandbox(() => deps.transforms.check(code, organizationId(ctx)));
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

/** @throws ApiError 503 when the sandbox cannot be used at the moment */
async function inSandbox<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof SandboxUnavailableError) throw unavailable(error.detail);
    throw error;
  }
}
