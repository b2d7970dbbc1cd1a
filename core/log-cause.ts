// Why something failed, for a log line: who answered, with which code, in which words. A line that only said that "the database or
// Temporal" is away would leave that open.

export interface Cause {
  /** Missing where the error does not tell. */
  system?: 'temporal' | 'postgresql';
  /** The name of a gRPC status (`UNAVAILABLE`), an SQLSTATE (`57P03`) or a code of Node (`ECONNREFUSED`). */
  code?: string;
  details: string;
  /** Of an error without a code: likely a mistake of ours. */
  stack?: string;
}

// https://grpc.io/docs/guides/status-codes/
const GRPC_CODES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
];

// The classes of PostgreSQL's manual, appendix A. Codes of Node begin with other letters (`EPIPE`).
const SQLSTATE = /^[0-9FHPX][0-9A-Z]{4}$/;
const LONGEST_DETAILS = 500;
// Errors stand for others, which stand for others.
const MOST_LEVELS = 5;

/** Reads an error, and the errors it stands for. Never more than its code, its words and its stack: others may hold what was sent. */
export function causeOf(error: unknown): Cause {
  let at: unknown = error;
  for (let level = 0; level < MOST_LEVELS && at instanceof Error; level += 1) {
    const known = withCode(at);
    if (known !== null) return known;
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  if (!(error instanceof Error)) return { details: short(String(error)) };
  return { details: short(error.message), ...(error.stack !== undefined && { stack: error.stack }) };
}

/** The name of a gRPC status; its number when it is none that we know. */
function grpcCode(status: number): string {
  return GRPC_CODES[status] ?? String(status);
}

function withCode(error: Error & { code?: unknown; details?: unknown }): Cause | null {
  const { code, details, message, name } = error;
  if (typeof code === 'number' && typeof details === 'string')
    return { system: 'temporal', code: grpcCode(code), details: short(details || message) };
  // The SDK's words for a server that cannot be connected to (@temporalio/core-bridge, errors.ts).
  if (name === 'TransportError') return { system: 'temporal', code: 'UNAVAILABLE', details: short(message) };
  if (typeof code !== 'string') return null;
  // Node gives the code of several failed tries to their sum, and the words to each.
  const words = error instanceof AggregateError && message === '' ? String(error.errors[0]) : message;
  return { ...(SQLSTATE.test(code) && { system: 'postgresql' as const }), code, details: short(words) };
}

function short(text: string): string {
  return text.length > LONGEST_DETAILS ? `${text.slice(0, LONGEST_DETAILS)}...` : text;
}
