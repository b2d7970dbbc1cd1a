// Temporal's own log lines, in the process's log.
import type { LogLevel, Logger } from '@temporalio/worker';
import type { Log } from '../core/log.ts';

const levels: Record<LogLevel, 'trace' | 'debug' | 'info' | 'warn' | 'error'> = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
};

// The mail worker runs only activities, and the SDK warns that this may be a mistake.
const EXPECTED = /^No workflows registered/;

/** A logger for the SDK. Its information lines about ordinary operation are shown at level `debug` only. */
export function temporalLogger(log: Log): Logger {
  const write = (level: LogLevel, message: string, meta?: object): void => {
    const quieter = level === 'INFO' || EXPECTED.test(message) ? 'debug' : levels[level];
    // The SDK reports every workflow and activity: lines that are not shown must cost nothing.
    if (!log.isLevelEnabled(quieter)) return;
    log[quieter]({ ...facts(meta), component: 'temporal' }, message);
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

function errorFacts(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: String(error) };
  // The error of an activity is in the cause.
  const { message, stack } = error.cause instanceof Error ? error.cause : error;
  return { error: message, stack };
}

// Ids and errors only: nothing else that the SDK passes may be logged.
function facts(meta: object | undefined): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(meta ?? {})) {
    if (key === 'error') Object.assign(shown, errorFacts(value));
    else if (typeof value === 'string' || typeof value === 'number') shown[key] = value;
  }
  return shown;
}
