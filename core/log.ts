// One logger per process: JSON lines for machines, readable lines on a terminal. Payloads and secrets are never passed to it.
import { type Logger, pino } from 'pino';
import type { Settings } from './config.ts';

export type Log = Logger;

// A second line of defence: callers must not pass secrets in the first place.
const REDACTED_PATHS = [
  'authorization',
  'cookie',
  'headers.authorization',
  'headers.cookie',
  '*.headers.authorization',
];

/**
 * Makes the logger of a process.
 * @param role the process: `api` or `worker`, in every line
 */
export function createLog(settings: Pick<Settings, 'LOG_LEVEL'>, role: string): Log {
  const options = { level: settings.LOG_LEVEL, base: { role }, redact: REDACTED_PATHS };
  if (!process.stdout.isTTY) return pino({ ...options, timestamp: pino.stdTimeFunctions.isoTime });
  return pino({
    ...options,
    transport: { target: 'pino-pretty', options: { ignore: 'role', translateTime: 'HH:MM:ss.l' } },
  });
}
