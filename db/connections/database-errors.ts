// What an error of PostgreSQL, or of the connection to it, means for the caller of the statement. Codes: PostgreSQL
// manual, appendix A; those of Node: errno(3).
import { type ErrorSummary, named, ownWords } from '../../core/text/error-summary.ts';

// Classes after which the same statement may succeed later: connection lost, no resources (memory, disk, connections),
// ended by the server or by a deadline, a failing disk, a deadlock.
const TRANSIENT_CLASSES = ['08', '40', '53', '57', '58'];
const READ_ONLY_SERVER = '25006';
const LOCK_NOT_AVAILABLE = '55P03';
const QUERY_CANCELED = '57014';
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
// Values that PostgreSQL cannot store or compute (class 22), or that are too large (54): characters, numbers out of
// range, rows too large.
const VALUE_CLASSES = ['22', '54'];
const UNIQUE_VIOLATION = '23505';

const CONNECTION_LOST_CODES = [
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  '57P01',
  '57P02',
  // What PgBouncer says of a connection that it lost (proto.c): nothing of the transaction.
  '08P01',
  '08003',
  '08006',
  '08007',
  '40003',
];
// How PostgreSQL refuses a password (28P01): it has been replaced there, and not yet here, or the other way round.
const PASSWORD_REFUSED = '28P01';
const NOT_CONNECTED_CODES = [
  PASSWORD_REFUSED,
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
];
// Errors of node-postgres that have no code (pg/lib/client.js, pg-pool/index.js).
const LOST_MESSAGES = /terminated|Connection ended|server closed|Query read timeout/i;
const TRANSIENT_MESSAGES = /timeout|not queryable/i;

/** The error's own code, or that of the error it stands for; empty when it has none. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('code' in error && error.code !== undefined) return String(error.code);
  if (error instanceof AggregateError) return error.errors.map(codeOf).find((code) => code !== '') ?? '';
  return codeOf(error.cause);
}

const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code);

/**
 * Whether the database is unreachable, saturated or read-only, and not the statement or its values wrong: the same
 * statement may succeed later.
 */
export function isTransientDatabaseError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (NOT_CONNECTED_CODES.includes(code) || CONNECTION_LOST_CODES.includes(code)) return true;
  if (code === READ_ONLY_SERVER || code === LOCK_NOT_AVAILABLE) return true;
  if (isSqlState(code)) return TRANSIENT_CLASSES.includes(code.slice(0, 2));
  return TRANSIENT_MESSAGES.test(messageOf(error)) || LOST_MESSAGES.test(messageOf(error));
}

/** Whether a connection was refused because of its password. */
export const isPasswordRefused = (error: unknown): boolean => codeOf(error) === PASSWORD_REFUSED;

export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === LOCK_NOT_AVAILABLE;
}

/**
 * Whether an error comes from rows of a statement, which others may lock or PostgreSQL refuse to change, and not from
 * the database.
 */
export const isOfRows = (error: unknown): boolean =>
  isStatementTimeout(error) || isWriteConflict(error) || !isTransientDatabaseError(error);

/** Whether the connection was lost during a statement: it is unknown whether it was committed. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (CONNECTION_LOST_CODES.includes(code)) return true;
  return code === '' && LOST_MESSAGES.test(messageOf(error));
}

/** Whether the server accepts no writes at the moment: a standby, or one that was set read-only. */
export const isReadOnlyServer = (error: unknown): boolean => codeOf(error) === READ_ONLY_SERVER;

/** Whether the statement was rolled back because of another one (deadlock, for example): it may be repeated at once. */
export const isWriteConflict = (error: unknown): boolean =>
  [SERIALIZATION_FAILURE, DEADLOCK_DETECTED].includes(codeOf(error));

export const isStatementTimeout = (error: unknown): boolean => codeOf(error) === QUERY_CANCELED;

export const isRefusedValue = (error: unknown): boolean => {
  const code = codeOf(error);
  return isSqlState(code) && VALUE_CLASSES.includes(code.slice(0, 2));
};

/** Such a refusal as one sentence. PostgreSQL's own message may quote the value (db/connections/pool.ts). */
export const refusalOf = (error: unknown): ErrorSummary =>
  ownWords`PostgreSQL rejected a value in the delivery (SQLSTATE ${named(codeOf(error))})`;

export const isUniqueViolation = (error: unknown): boolean => codeOf(error) === UNIQUE_VIOLATION;

function messageOf(error: Error): string {
  return error.cause instanceof Error ? `${error.message} ${messageOf(error.cause)}` : error.message;
}
