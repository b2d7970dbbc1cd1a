// Temporal's own log lines, of the SDK's TypeScript side and of its Rust core, in the process's log. While Temporal is
// away the core says so many times a second, so repeats are counted.
import { type LogLevel, type Logger, Runtime, type TelemetryOptions } from '@temporalio/worker';
import { type Log, throttled } from '../../core/process/log.ts';
import type { Cause } from '../../core/process/log-cause.ts';

// The mail worker runs only activities, and the SDK warns that this may be a mistake.
const EXPECTED = /^No workflows registered/;

// At lower levels the core would log what activities and workflows pass to each other.
const CORE_FILTER = { core: 'WARN', other: 'ERROR' } as const;

/**
 * Installs the SDK's runtime with the process's log; before any other use of the SDK.
 * @param telemetry what else the runtime exports
 */
export function installTemporalRuntime(log: Log, telemetry: Omit<TelemetryOptions, 'logging'> = {}): void {
  const logger = temporalLogger(log);
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: { ...telemetry, logging: { filter: CORE_FILTER, forward: {} } },
  });
  // The runtime would keep every line for 100 ms, to sort those of both sides by time. That costs processor time for
  // each workflow and activity, shown or not, so only the core's lines go that way.
  Object.assign(Runtime.instance().logger, logger);
}

/** A logger for the SDK. Its information lines about ordinary operation are shown at level `debug` only. */
export function temporalLogger(log: Log): Logger {
  const repeats = throttled(log);
  const write = (level: LogLevel, message: string, meta?: object): void => {
    const quieter = level === 'INFO' || EXPECTED.test(message) ? 'debug' : (level.toLowerCase() as Lowercase<LogLevel>);
    // The SDK reports every workflow and activity: lines that are not shown must cost nothing.
    if (!log.isLevelEnabled(quieter)) return;
    const shown = { ...facts(meta), component: 'temporal' };
    if (quieter === 'warn' || quieter === 'error') repeats[quieter](shown, message, kindOf(message, shown));
    else log[quieter](shown, message);
  };
  return {
    log: write,
    trace: (message, meta) => write('TRACE', message, meta),
    debug: (message, meta) => write('DEBUG', message, meta),
    info: (message, meta) => write('INFO', message, meta),
    warn: (message, meta) => write('WARN', message, meta),
    error: (message, meta) => write('ERROR', message, meta),
  };
}

interface Facts extends Record<string, unknown> {
  error?: string;
  cause?: Cause;
}

/**
 * Numbers and ids differ in each repeat. An id is looked for at its beginning only: a text may be one long run of its
 * letters.
 */
function kindOf(message: string, { error = '', cause }: Facts): string {
  return `temporal ${message} ${cause?.code ?? error}`.replaceAll(
    /(?<![0-9a-f])[0-9a-f]+(?:-[0-9a-f]+){2,}|\d+/gi,
    '#',
  );
}

// What the core says about an error is Rust's debug form of a gRPC status, or of something that contains one.
const GRPC_STATUS = /\bcode: (?:'([^"]{1,100}?)'|(\w+)), message: "((?:[^"\\]|\\.)*)"/;
const MESSAGE = /\bmessage: "((?:[^"\\]|\\.)*)"/;
// Others of its facts may hold what activities and workflows pass to each other.
const ERRORS_OF_CORE = ['error', 'details', 'err'];
const IDS_OF_CORE = ['run_id', 'workflow_id', 'activity_id', 'target'];
const LONGEST = 500;

/** Ids and errors only: nothing else that the SDK passes may be logged. */
function facts(meta: object | undefined): Facts {
  const entries = Object.entries(meta ?? {});
  if (entries.some(([key, value]) => key === 'sdkComponent' && value === 'core')) return factsOfCore(entries);
  const shown: Facts = {};
  for (const [key, value] of entries) {
    if (key === 'error') Object.assign(shown, errorFacts(value));
    else if (typeof value === 'string' || typeof value === 'number') shown[key] = value;
  }
  return shown;
}

function errorFacts(error: unknown): Facts {
  if (!(error instanceof Error)) return { error: String(error) };
  // The error of an activity is in the cause.
  const { message, stack } = error.cause instanceof Error ? error.cause : error;
  return { error: message, stack };
}

function factsOfCore(entries: [string, unknown][]): Facts {
  const shown: Facts = { sdkComponent: 'core' };
  for (const [key, value] of entries) {
    if (typeof value !== 'string') continue;
    if (IDS_OF_CORE.includes(key)) shown[key] = value.slice(0, LONGEST);
    else if (key === 'failure') shown.error = short(MESSAGE.exec(value)?.[1] ?? '');
    else if (ERRORS_OF_CORE.includes(key)) Object.assign(shown, errorOfCore(value));
  }
  return shown;
}

function errorOfCore(text: string): Facts {
  const [, sentence, name, details = ''] = GRPC_STATUS.exec(text) ?? [];
  const code = sentence === undefined ? name : (NAMES[sentence] ?? sentence);
  if (code === undefined) return { error: short(text) };
  return { cause: { system: 'temporal', code: upperSnakeCase(code), details: short(details) } };
}

// How the core's library words what happens most (tonic, `Code::description`).
const NAMES: Record<string, string> = {
  'The service is currently unavailable': 'Unavailable',
  'The operation was cancelled': 'Cancelled',
  'Unknown error': 'Unknown',
  'Client specified an invalid argument': 'InvalidArgument',
  'Deadline expired before operation could complete': 'DeadlineExceeded',
  'Some requested entity was not found': 'NotFound',
  'The caller does not have permission to execute the specified operation': 'PermissionDenied',
  'Some resource has been exhausted': 'ResourceExhausted',
  'Operation is not implemented or not supported': 'Unimplemented',
  'Internal error': 'Internal',
  'The request does not have valid authentication credentials': 'Unauthenticated',
};

/** `DeadlineExceeded` as gRPC names it: `DEADLINE_EXCEEDED`. */
const upperSnakeCase = (name: string): string => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();

const short = (text: string): string => text.slice(0, LONGEST);
