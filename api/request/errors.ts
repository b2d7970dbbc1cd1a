// Errors as the API answers them: one class to throw (rendered by api/http/middleware.ts).
import { STATUS_CODES } from 'node:http';
import type { LimitName } from '../../core/fairness/organization-limits.ts';
import { isTransientDatabaseError } from '../../db/connections/database-errors.ts';

/** One invalid member of a request; `path` is dotted: `retryPolicy.maxRetries`. */
export interface ErrorDetail {
  path: string;
  message: string;
  /** Where in a text that is code, from 1. */
  line?: number;
  column?: number;
}

/** An error answer. `code` is undefined for errors without a code. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string | undefined;
  readonly details: ErrorDetail[] | undefined;
  readonly headers: Record<string, string>;
  readonly limit: LimitName | undefined;
  /** Whether it is answered without a body, because its receiver takes none. */
  isEmpty = false;

  constructor(
    status: number,
    code: string | undefined,
    message: string,
    details?: ErrorDetail[],
    headers: Record<string, string> = {},
    limit?: LimitName,
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.headers = headers;
    this.limit = limit;
  }
}

/** 404: the record does not exist, or belongs to another organization (both get the same answer). */
export function notFound(kind: string, id: string): ApiError {
  return missing(`There is no ${kind} with ID ${id} in this organization; check the ID`);
}

/** 404: nothing of this name or address. */
export const missing = (message: string): ApiError => new ApiError(404, 'RESOURCE_NOT_FOUND', message);

/** 400 about one member of the request. */
export function invalid(path: string, message: string, code = 'VALIDATION_ERROR'): ApiError {
  return new ApiError(400, code, `${path} ${message}`, [{ path, message }]);
}

/** 429: too many requests of a kind that no limit of the organization is about. */
export const rateLimited = (message: string, seconds: number): ApiError =>
  new ApiError(429, 'RATE_LIMITED', message, undefined, { 'Retry-After': String(seconds) });

/** 401, with what to send. */
export const unauthorized = (message: string): ApiError =>
  new ApiError(401, 'UNAUTHORIZED', message, undefined, { 'WWW-Authenticate': 'Bearer' });

/** 409: not in the state that the record is in now. */
export const conflict = (message: string): ApiError => new ApiError(409, 'INVALID_STATE', message);

/** 403: not with this API key. */
export const forbidden = (message: string): ApiError => new ApiError(403, 'FORBIDDEN', message);

/** 403: an operator has suspended the organization. @param consequence what that means for this request */
export function suspended(consequence: string): ApiError {
  return new ApiError(
    403,
    'ORGANIZATION_SUSPENDED',
    `The organization is suspended, so ${consequence}; contact the operator`,
  );
}

/** 503: something this request needs is unavailable; the caller may retry. */
export function unavailable(what: string): ApiError {
  return new ApiError(503, 'UNAVAILABLE', `${what}; try again in a moment`, undefined, { 'Retry-After': '1' });
}

export const DATABASE_AWAY = 'The database cannot be reached or is overloaded';

type Failure = Pick<ApiError, 'status' | 'code' | 'message' | 'limit'>;

// Made once: while the database is away every webhook may fail with it, and an error costs a stack trace.
const AWAY: Failure = { status: 503, code: 'UNAVAILABLE', message: DATABASE_AWAY, limit: undefined };
const INTERNAL: Failure = { status: 500, code: 'INTERNAL_ERROR', message: 'Something went wrong', limit: undefined };

/**
 * Any error of the ingest as renderErrors answers it, without the request ID and the advice: its receiver may be none
 * who asked for something.
 */
export function asApiError(error: unknown): Failure {
  if (error instanceof ApiError) return error;
  return isTransientDatabaseError(error) ? AWAY : INTERNAL;
}

type Told = Pick<ApiError, 'status' | 'message' | 'code' | 'details'> & { limit?: LimitName | undefined };

export function errorBody({ status, message, code, details, limit }: Told) {
  return {
    error: STATUS_CODES[status] ?? 'Error',
    message,
    ...(code !== undefined && { code }),
    ...(details !== undefined && { details }),
    ...(limit !== undefined && { limit }),
  };
}

/**
 * Retry-After of what no time heals by itself: records must be deleted, or the operator raises the limit. Long, so that
 * programs that obey it do not ask again and again, and finite, because 429 says that the request may succeed later.
 */
export const UNTIL_CHANGED_SECONDS = 3600;

/**
 * 429 with the name of the limit.
 * @param what says what may be, and what to do
 * @param retryAfterSeconds raised to a whole second; never above an hour, because the operator may raise the limit
 */
export function limitExceeded(limit: LimitName, what: string, retryAfterSeconds: number): ApiError {
  const seconds = Math.min(UNTIL_CHANGED_SECONDS, Math.max(1, Math.ceil(retryAfterSeconds)));
  const message = `${what} (limit ${limit})`;
  return new ApiError(429, 'LIMIT_EXCEEDED', message, undefined, { 'Retry-After': String(seconds) }, limit);
}
