// Turns zod errors into the API's 400: the message names the first offending field and what it must be.
// Rules: HTTP-20, HTTP-24, ERR-02, ERR-03, ERR-08.
import { z } from 'zod';
import { magnitudeOf } from '../../core/text/decimal.ts';
import { ExactNumber } from '../../core/text/exact-json.ts';
import { type UnknownMember, unknownMembers } from '../../core/text/unknown-members.ts';
import { readJson } from './body.ts';
import type { AppContext } from './context.ts';
import { ApiError, type ErrorDetail } from './errors.ts';
import { nearestOf, noteIgnored, type Place } from './ignored.ts';

/** Adds an issue that carries a code of its own (INVALID_URL, ...) instead of VALIDATION_ERROR. */
export function refuse(
  context: z.RefinementCtx,
  code: string | undefined,
  message: string,
  path: PropertyKey[] = [],
): void {
  context.addIssue({ code: 'custom', message, path, params: { apiCode: code ?? 'VALIDATION_ERROR' } });
}

/**
 * Checks the body of a request, or a value in it, against a schema. Members that the schema does not know are ignored and named in
 * the answer (ignored.ts); a strict object refuses them.
 * @param what names the value itself in messages about it as a whole: `The body`
 * @throws ApiError 400; an issue with a code of its own wins over the others (ERR-03)
 */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.output<Schema> {
  return checkIn('body', schema, value, what);
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
  const issues = parsed.error.issues.map((issue) => ({
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
  return check(schema, await readJson(ctx), 'The body');
}

/** Like `parseBody`, but no body counts as `{}`. */
export async function parseOptionalBody<Schema extends z.ZodType>(
  ctx: AppContext,
  schema: Schema,
): Promise<z.output<Schema>> {
  return check(schema, (await readJson(ctx)) ?? {}, 'The body');
}

/** Checks the query parameters of a request. @throws ApiError 400 */
export function parseQuery<Schema extends z.ZodType>(ctx: AppContext, schema: Schema): z.output<Schema> {
  return checkIn('query', schema, { ...ctx.query }, 'The query');
}

/**
 * Reads and checks the body of a request that acts on the records that the body selects. Its schema is strict, and a query is
 * refused too: with a misspelt name, or a filter in the wrong place, it would act on more records than intended.
 * @throws ApiError 400, 413, 415
 */
export async function parseChoice<Schema extends z.ZodType>(
  ctx: AppContext,
  schema: Schema,
  isOptional: 'optional' | 'required' = 'required',
): Promise<z.output<Schema>> {
  parseQuery(ctx, noQuery);
  return isOptional === 'optional' ? parseOptionalBody(ctx, schema) : parseBody(ctx, schema);
}

const noQuery = z.strictObject({});

type Issue = { path: readonly PropertyKey[]; message: string };

// Maximum number of details about unknown names in one answer.
const MAX_DETAILS = 20;

function refusalOf(member: UnknownMember): Issue {
  const nearest = nearestOf(member);
  const hint =
    nearest === null
      ? member.known.length > 0
        ? `; known are ${member.known.join(', ')}`
        : ''
      : `; did you mean ${nearest}?`;
  return { path: member.path, message: `is not known here${hint}` };
}

function problem(issues: Issue[], what: string, code: unknown = 'VALIDATION_ERROR'): ApiError {
  const details: ErrorDetail[] = issues.map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: issue.message,
  }));
  const first = details[0] ?? { path: '', message: 'is not valid' };
  return new ApiError(400, String(code), `${first.path || what} ${first.message}`, details);
}

// Deeper than any member of the API; the check below is recursive, and so is everything that prints the value later.
const MAX_DEPTH = 64;

/** The first thing that cannot be stored: text with NUL or half of a surrogate pair, huge numbers, values nested too deeply. */
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

// PostgreSQL's numeric, which jsonb holds numbers as, allows 131,072 digits before the decimal point and 16,383 after it.
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

/** The expected value, as the end of a sentence that starts with the member's name; messages of schemas take precedence. */
function explain(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type': {
      const name = TYPE_NAMES[issue.expected] ?? issue.expected;
      // Only free-form values of users accept one.
      const wanted = `must be ${name}${issue.input instanceof ExactNumber ? ' with fewer digits' : ''}`;
      return issue.input === undefined ? `is required and ${wanted}` : wanted;
    }
    case 'invalid_value':
      return `${issue.input === undefined ? 'is required and ' : ''}must be ${issue.values
        .map(String)
        .join(', ')
        .replace(/, ([^,]*)$/, ' or $1')}`;
    case 'too_small':
      return tooSmall(issue.origin, Number(issue.minimum));
    case 'too_big':
      return `must be at most ${unit(issue.origin, Number(issue.maximum))}`;
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options)
        ? `must be ${issue.options
            .map(String)
            .join(', ')
            .replace(/, ([^,]*)$/, ' or $1')}`
        : 'has a type that is not accepted here';
    default:
      return undefined;
  }
}

function tooSmall(origin: string, minimum: number): string {
  if (origin === 'string' && minimum === 1) return 'must not be empty';
  return `must be at least ${unit(origin, minimum)}`;
}

function unit(origin: string, count: number): string {
  if (origin === 'string') return `${count} characters long`;
  return origin === 'array' ? `${count} ${count === 1 ? 'item' : 'items'} long` : String(count);
}
