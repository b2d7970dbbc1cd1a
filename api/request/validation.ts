// Reads JSON bodies and checks them; an error of zod becomes a 400 whose message names the first offending member and
// what it must be.
import { z } from 'zod';
import { ExactNumber, magnitudeOf, parseExact } from '../../core/text/exact-json.ts';
import { plural } from '../../core/text/words.ts';
import { type UnknownMember, unknownMembers } from '../../core/text/unknown-members.ts';
import { BodyError, noRoom, receiveBody, tooSlow } from '../http/receive-body.ts';
import type { AppContext } from './context.ts';
import { ApiError, type ErrorDetail } from './errors.ts';
import { nearestOf, noteIgnored, type Place } from './ignored.ts';

/** Largest body of a management request, in bytes. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Largest body that any management request may have, in bytes: an import of 1,000 items of 8 KiB. */
export const MAX_IMPORT_BYTES = 8 * 1024 * 1024;

/** Undefined: there is no body. @throws ApiError 415 for another content type, 413 when too large, 400 when not JSON */
export async function readJson(ctx: AppContext, maxBytes: number = MAX_BODY_BYTES): Promise<unknown> {
  if (!announcesBody(ctx)) return undefined;
  requireJsonType(ctx);
  ctx.state.sent = parseJson(await readBytes(ctx, maxBytes));
  return ctx.state.sent;
}

/**
 * Reads the bytes of a JSON body before its handler runs; the handler then gets them from memory.
 * @returns an empty buffer when there is no body
 * @throws ApiError 415, 413, 400
 */
export async function bufferBody(ctx: AppContext): Promise<Buffer> {
  if (!announcesBody(ctx)) return Buffer.alloc(0);
  requireJsonType(ctx);
  ctx.state.body = await readBytes(ctx, MAX_IMPORT_BYTES);
  return ctx.state.body;
}

function announcesBody(ctx: AppContext): boolean {
  const declared = ctx.request.length;
  return declared !== 0 && !(declared === undefined && ctx.get('transfer-encoding') === '');
}

function requireJsonType(ctx: AppContext): void {
  if (!ctx.is('application/json'))
    throw new ApiError(415, 'UNSUPPORTED_MEDIA_TYPE', 'The body must be sent with Content-Type: application/json');
  const encoding = ctx.get('content-encoding').toLowerCase();
  if (encoding !== '' && encoding !== 'identity')
    throw new ApiError(415, 'UNSUPPORTED_MEDIA_TYPE', 'The body must be sent without Content-Encoding');
}

async function readBytes(ctx: AppContext, limit: number): Promise<Buffer> {
  const known = ctx.state.body;
  if (known) {
    if (known.length > limit) throw tooLarge(limit);
    return known;
  }
  const room = ctx.state.memory.forManagement(ctx.state.caller?.organization.id ?? '');
  ctx.state.room = room;
  try {
    return await receiveBody(ctx.req, limit, room);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    // The client may still be sending, so the connection cannot be reused.
    if (error.reason === 'too_large') throw tooLarge(limit, { Connection: 'close' });
    if (error.reason === 'too_slow') throw tooSlow('nothing was changed');
    if (error.reason === 'no_room') throw noRoom('nothing was changed, so try again in a moment');
    throw new ApiError(400, 'INVALID_JSON', 'The request ended before its body was complete; send the request again');
  }
}

function tooLarge(limit: number, headers?: Record<string, string>): ApiError {
  return new ApiError(413, 'PAYLOAD_TOO_LARGE', `The body must be at most ${limit} bytes`, undefined, headers);
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return parseExact(decoder.decode(bytes));
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'it is not UTF-8';
    throw new ApiError(400, 'INVALID_JSON', `The body is not valid JSON: ${reason}; send a JSON object in UTF-8`);
  }
}

/** Adds an issue, which may carry a code of its own (INVALID_URL, ...). */
export function refuse(
  context: z.RefinementCtx,
  code: string | undefined,
  message: string,
  path: PropertyKey[] = [],
): void {
  context.addIssue({ code: 'custom', message, path, params: { apiCode: code ?? 'VALIDATION_ERROR' } });
}

/** The same in a transform. @returns what it returns then */
export function refused(...issue: Parameters<typeof refuse>): typeof z.NEVER {
  refuse(...issue);
  return z.NEVER;
}

/**
 * Checks the body of a request, or a value in it, against a schema. Members that the schema does not know are ignored
 * and named in the answer (ignored.ts); a strict object refuses them.
 * @param what names the value itself in messages about it as a whole
 * @throws ApiError 400; an issue with a code of its own wins over the others
 */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown, what = 'The body'): z.output<Schema> {
  return checkIn('body', schema, value, what);
}

/** Checks one member of a body by itself; errors name it. @throws ApiError 400 */
export function checkMember<Schema extends z.ZodType>(name: string, schema: Schema, value: unknown): z.output<Schema> {
  const checked: Record<string, unknown> = check(z.object({ [name]: schema }), { [name]: value });
  return checked[name] as z.output<Schema>;
}

function checkIn<Schema extends z.ZodType>(
  place: Place,
  schema: Schema,
  value: unknown,
  what: string,
): z.output<Schema> {
  const unstorable = findUnstorable(value, []);
  if (unstorable) throw problem([unstorable], what);
  const unknown = unknownMembers(schema, value);
  const refused = unknown.filter(({ isRefused }) => isRefused);
  if (refused.length > 0) throw problem(refused.slice(0, MAX_DETAILS).map(refusalOf), what);
  noteIgnored(place, unknown);
  const parsed = schema.safeParse(value, { error: explain });
  if (parsed.success) return parsed.data;
  const found = parsed.error.issues;
  // A whole number beyond the safe ones breaks the bound of its member too, which says more.
  const saysMore = (issue: z.core.$ZodIssue) =>
    !isSafeBound(issue) || found.every((other) => other === issue || String(other.path) !== String(issue.path));
  const issues = found.filter(saysMore).map((issue) => ({
    path: issue.path,
    message: issue.message,
    code: issue.code === 'custom' ? issue.params?.apiCode : undefined,
  }));
  const special = issues.find((issue) => typeof issue.code === 'string' && issue.code !== 'VALIDATION_ERROR');
  throw special
    ? problem([special, ...issues.filter((issue) => issue !== special)], what, special.code)
    : problem(issues, what);
}

/** Reads and checks the JSON body of a request that must have one. @throws ApiError 400, 413, 415 */
export async function parseBody<Schema extends z.ZodType>(ctx: AppContext, schema: Schema): Promise<z.output<Schema>> {
  return check(schema, await readJson(ctx));
}

/** Checks the query parameters of a request. @throws ApiError 400 */
export function parseQuery<Schema extends z.ZodType>(ctx: AppContext, schema: Schema): z.output<Schema> {
  return checkIn('query', schema, { ...ctx.query }, 'The query');
}

type Issue = { path: readonly PropertyKey[]; message: string };

// Maximum number of details about unknown names in one answer.
const MAX_DETAILS = 20;

function refusalOf(member: UnknownMember): Issue {
  const nearest = nearestOf(member);
  if (nearest !== null) return { path: member.path, message: `is unknown; did you mean ${nearest}?` };
  const hint = member.known.length > 0 ? `. Valid names: ${member.known.join(', ')}` : '';
  return { path: member.path, message: `is unknown${hint}` };
}

function problem(issues: Issue[], what: string, code: unknown = 'VALIDATION_ERROR'): ApiError {
  const details: ErrorDetail[] = issues.map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: issue.message,
  }));
  const first = details[0] ?? { path: '', message: 'is invalid' };
  return new ApiError(400, String(code), `${first.path || what} ${first.message}`, details);
}

// Deeper than any member of the API; the check below is recursive, and so is everything that prints the value later.
const MAX_DEPTH = 64;

function findUnstorable(value: unknown, path: PropertyKey[]): Issue | null {
  if (typeof value === 'string') return isStorable(value) ? null : { path, message: UNSTORABLE_TEXT };
  if (typeof value !== 'object' || value === null) return null;
  if (value instanceof ExactNumber)
    return isStorableNumber(String(value)) ? null : { path, message: UNSTORABLE_NUMBER };
  if (path.length >= MAX_DEPTH)
    return { path: path.slice(0, 1), message: `must not be nested more than ${MAX_DEPTH} levels deep` };
  for (const [key, member] of Object.entries(value)) {
    if (!isStorable(key)) return { path, message: UNSTORABLE_TEXT };
    const found = findUnstorable(member, [...path, key]);
    if (found) return found;
  }
  return null;
}

// PostgreSQL's numeric, which jsonb holds numbers as, allows 131,072 digits before the decimal point and 16,383 after
// it.
const MAX_DIGITS = 5000;
const UNSTORABLE_NUMBER = `must be a number with at most ${MAX_DIGITS} digits`;
const isStorableNumber = (text: string): boolean =>
  text.length <= MAX_DIGITS && Math.abs(magnitudeOf(text)) < MAX_DIGITS;
const UNSTORABLE_TEXT = 'must not contain NUL or unpaired surrogates';
const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

const TYPE_NAMES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
};

function explain(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type': {
      const name = TYPE_NAMES[issue.expected] ?? issue.expected;
      // Only free-form values of users accept one.
      const wanted = `must be ${name}${issue.input instanceof ExactNumber ? ' with fewer digits' : ''}`;
      return issue.input === undefined ? `is required and ${wanted}` : wanted;
    }
    case 'invalid_value':
      return `${issue.input === undefined ? 'is required and ' : ''}must be ${alternatives(issue.values)}`;
    case 'too_small':
      return tooSmall(issue.origin, Number(issue.minimum));
    case 'too_big':
      return `must ${bound('at most', issue.origin, Number(issue.maximum))}`;
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options)
        ? `must be ${alternatives(issue.options)}`
        : ofUnion(issue.errors.flat());
    default:
      return undefined;
  }
}

/** `a, b or c` */
export const alternatives = (values: readonly unknown[]): string =>
  values
    .map(String)
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1');

/** What the closest form of a union found. @param found by all of them */
function ofUnion(found: z.core.$ZodIssue[]): string {
  const [deepest] = found.toSorted((one, other) => other.path.length - one.path.length);
  if (deepest && deepest.path.length > 0)
    return `has an invalid value at ${deepest.path.join('.')}: it ${deepest.message}`;
  const listed = found.find((issue) => issue.code === 'invalid_value' && issue.values.length > 1);
  return listed?.message ?? 'has an invalid type';
}

/** The bound of every whole number: those that a double holds exactly. */
const isSafeBound = (issue: z.core.$ZodIssue): boolean =>
  (issue.code === 'too_big' && issue.maximum === Number.MAX_SAFE_INTEGER) ||
  (issue.code === 'too_small' && issue.minimum === Number.MIN_SAFE_INTEGER);

function tooSmall(origin: string, minimum: number): string {
  if (origin === 'string' && minimum === 1) return 'must not be empty';
  return `must ${bound('at least', origin, minimum)}`;
}

function bound(limit: 'at least' | 'at most', origin: string, count: number): string {
  if (origin === 'array') return `contain ${limit} ${plural(count, 'item')}`;
  return `be ${limit} ${origin === 'string' ? `${plural(count, 'character')} long` : count}`;
}
