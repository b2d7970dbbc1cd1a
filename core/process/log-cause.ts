// Why something failed, for a log line: who answered, with which code, in which words. A line that only said that "the
// database or Temporal" is away would leave that open. Content of a webhook may not leave PostgreSQL for the log, so
// words that may quote a value are left out.

export interface Cause {
  /** Missing where the error does not tell. */
  system?: 'temporal' | 'postgresql';
  /** The name of a gRPC status (`UNAVAILABLE`), an SQLSTATE (`57P03`) or a code of Node (`ECONNREFUSED`). */
  code?: string;
  details: string;
  table?: string;
  column?: string;
  constraint?: string;
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
// Of these the words, or the detail, may quote the value: `invalid input syntax for type json`, `Failing row contains
// (...)`.
const REFUSED_VALUE = /^2[23]/;
// Of a statement that PostgreSQL cannot run: an unknown table or column, a missing right.
const OWN_MISTAKE = /^42/;
const NAMES = ['table', 'column', 'constraint'] as const;
const LONGEST_DETAILS = 500;
// Errors stand for others, which stand for others.
const MOST_LEVELS = 5;

/**
 * Reads an error, and the errors it stands for. Never more than its code, its words and its stack: others may hold what
 * was sent.
 */
export function causeOf(error: unknown): Cause {
  let at: unknown = error;
  for (let level = 0; level < MOST_LEVELS && at instanceof Error; level += 1) {
    const known = withCode(at);
    if (known !== null) return known;
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  if (!(error instanceof Error)) return { details: short(String(error)) };
  // What cannot be parsed is quoted (V8's JSON.parse and RegExp).
  if (error instanceof SyntaxError) return { details: error.name, ...framesOf(error) };
  return { details: short(error.message), ...(error.stack !== undefined && { stack: error.stack }) };
}

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
  if (REFUSED_VALUE.test(code) && SQLSTATE.test(code)) return refusedValue(code, error);
  // Node gives the code of several failed tries to their sum, and the words to each.
  const words = error instanceof AggregateError && message === '' ? String(error.errors[0]) : message;
  if (!SQLSTATE.test(code)) return { code, details: short(words) };
  return { system: 'postgresql', code, details: short(words), ...(OWN_MISTAKE.test(code) && framesOf(error)) };
}

function refusedValue(code: string, error: Error): Cause {
  const names = NAMES.flatMap((name) => {
    const value: unknown = Object.entries(error).find(([member]) => member === name)?.[1];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  const where: Pick<Cause, (typeof NAMES)[number]> = Object.fromEntries(names);
  return { system: 'postgresql', code, details: 'a value was rejected', ...where, ...framesOf(error) };
}

/** The stack without the message, with which it begins. */
function framesOf({ stack = '' }: Error): { stack?: string } {
  const frames = stack.split('\n').filter((line) => /^ +at /.test(line));
  return frames.length > 0 ? { stack: frames.join('\n') } : {};
}

function short(text: string): string {
  return text.length > LONGEST_DETAILS ? `${text.slice(0, LONGEST_DETAILS)}...` : text;
}
