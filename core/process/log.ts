// One logger per process: JSON lines on standard output. Payloads and secrets are never passed to it.
import { type Logger, pino } from 'pino';
import type { LogSettings } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { causeOf } from './log-cause.ts';
import { throttled } from './throttled-log.ts';

export type Log = Logger;

// A second line of defence: callers must not pass secrets in the first place.
const REDACTED_PATHS = [
  'authorization',
  'cookie',
  'headers.authorization',
  'headers.cookie',
  'headers["x-api-key"]',
  '*.headers.authorization',
  '*.headers["x-api-key"]',
];

/**
 * Makes the logger of a process.
 * @param role the process: `api` or `worker`, in every line
 */
export function createLog(settings: LogSettings, role: string): Log {
  const options = { level: settings.LOG_LEVEL, base: { role }, redact: REDACTED_PATHS };
  if (settings.HOOKYARD_LOG_FORMAT === 'text') {
    const readable = { ignore: 'role', translateTime: 'HH:MM:ss.l', colorize: process.stdout.isTTY === true };
    return pino({ ...options, transport: { target: 'pino-pretty', options: readable } });
  }
  return pino({
    ...options,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level) => ({ level }) },
  });
}

/** Sends what Node itself would print as text to the log: its warnings, and the error that ends the process. */
export function logForNode(log: Log): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message, stack }) =>
    throttled(log).warn({ warning: name, details: message, stack }, 'Node warns', `${name} ${message}`),
  );
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ cause: causeOf(error), origin }, 'the process ends: an error that nobody handled');
    process.exit(1);
  });
  // Before the listener of pino, which writes what it has in its buffer.
  process.prependOnceListener('exit', () => throttled(log).flush());
}

/** Says why a process cannot run, and ends it. */
export function exitWith(log: Log, error: unknown): never {
  const problems =
    error instanceof ConfigError ? error.problems : [error instanceof Error ? error.message : String(error)];
  for (const problem of problems) log.fatal(`cannot run: ${problem}`);
  process.exit(1);
}
