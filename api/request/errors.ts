// Errors as the API answers them: one class to throw (rendered by render-errors.ts).
// Rules: ERR-01, ERR-04, ERR-05, ERR-23, ERR-31.
import { STATUS_CODES } from 'node:http';
import type { LimitName } from '../../core/fairness/limits.ts';

/** One invalid member of a request; `path` is dotted: `retryPolicy.maxRetries`. */
export interface ErrorDetail {
  path: string;
  message: string;
  /** Where in a text that is code, from 1. */
  line?: number;
  column?: number;
}

/** An error answer. `code` is undefined for errors without a code (ERR-09, ERR-21). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string | undefined;
  readonly details: ErrorDetail[] | undefined;
  readonly headers: Record<string, string>;
  /** The limit of the organization that it is about. */
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
  return new ApiError(
    404,
    'RESOURCE_NOT_FOUND',
    `There is no ${kind} with id ${id} in this organization; look for it in the list`,
  );
}

/** 400 about one member of the request. */
export function invalid(path: string, message: string, code = 'VALIDATION_ERROR'): ApiError {
  return new ApiError(400, code, `${path} ${message}`, [{ path, message }]);
}

/** 403: an operator has suspended the organization. @param consequence what that means for this request */
export function suspended(consequence: string): ApiError {
  return new ApiError(403, 'ORGANIZATION_SUSPENDED', `The organization is suspended: ${consequence}; ask the operator`);
}

/** 503: something this request needs is unavailable; the caller may retry. */
export function unavailable(what: string): ApiError {
  return new ApiError(503, 'UNAVAILABLE', `${what}; try again in a moment`, undefined, { 'Retry-After': '1' });
}

/** The body of an error answer. */
export function errorBody({
  status,
  message,
  code,
  details,
  limit,
}: Pick<ApiError, 'status' | 'message' | 'code' | 'details'> & { limit?: LimitName | undefined }) {
  return {
    error: STATUS_CODES[status] ?? 'Error',
    message,
    ...(code !== undefined && { code }),
    ...(details !== undefined && { details }),
    ...(limit !== undefined && { limit }),
  };
}
