// Errors of commands: one line that says what to do next, and an exit code for scripts.
import { CommanderError } from 'commander';
import { HookyardError } from '../client/index.ts';
import { isPackage } from '../core/config/folders.ts';
import { pluralOf } from '../core/text/words.ts';
import type { ServiceAddress } from './context.ts';

/** The exit codes; docs/guide/cli.md documents them. */
export const EXIT = { ok: 0, refused: 1, usage: 2, notFound: 3, auth: 4, unavailable: 5 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;
  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

export const usage = (message: string) => new CliError(EXIT.usage, message);
export const notFound = (message: string) => new CliError(EXIT.notFound, message);
/** What to do about a record that there is none of. @param command of its kind, such as `routes` */
export const listAdvice = (command: string): string =>
  `. List ${command.replaceAll('-', ' ')} with: hookyard ${command} list`;

export interface Ending {
  exitCode: number;
  /** One line; empty when everything has been said. */
  line: string;
  body: Record<string, unknown>;
}

const IN_SERVER =
  'This command accesses the database directly and is part of the hookyard-server package; run it with npx hookyard-server instead of hookyard';

/** @param address of the service, for messages about what it answered */
export function endingOf(error: unknown, address: () => Pick<ServiceAddress, 'url' | 'from'>): Ending {
  // Commander has printed what is wrong, or the help or version that was asked for.
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : EXIT.usage, line: '', body: {} };
  if (error instanceof CliError)
    return { exitCode: error.exitCode, line: error.message, body: { message: error.message } };
  if (error instanceof HookyardError) {
    // The API's advice on 401 and 404 is for those who write requests.
    const advice = adviceOn(error, address());
    const hasOwn = error.status === 401 || (error.status === 404 && advice !== '');
    const line = `${hasOwn ? error.message.replace(/;.*/, '') : error.message}${advice}`;
    const { status, code, details, limit, requestId } = error;
    const body = { message: error.message, status, code, details, ...(limit !== null && { limit }), requestId };
    return { exitCode: exitCodeOf(error), line, body };
  }
  // The package of the command line alone leaves out what works on the database.
  const isOfServer = isPackage && (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
  const line = isOfServer ? IN_SERVER : error instanceof Error ? error.message : String(error);
  return { exitCode: EXIT.refused, line, body: { message: line } };
}

function exitCodeOf({ status }: HookyardError): ExitCode {
  if (status === 401 || status === 403) return EXIT.auth;
  if (status === 404) return EXIT.notFound;
  if (status === null || status === 429 || status >= 500 || status < 400) return EXIT.unavailable;
  return EXIT.refused;
}

const LISTED = ['source', 'destination', 'route', 'event', 'delivery'];

function adviceOn(
  { status, code, requestId, message }: HookyardError,
  { url, from }: Pick<ServiceAddress, 'url' | 'from'>,
): string {
  const kind = status === 404 ? /^There is no (\w+) with id/i.exec(message)?.[1] : undefined;
  if (kind !== undefined && LISTED.includes(kind)) return listAdvice(pluralOf(kind));
  if (status === 401) return '; pass a key with --api-key or HOOKYARD_API_KEY';
  if (code === 'UNREACHABLE')
    return `; is the service running (npx hookyard start)? The URL comes from ${from}; set another with --url or HOOKYARD_URL`;
  if (status !== null && status >= 500 && requestId !== null) return ` (request ${requestId} in the log of ${url})`;
  return '';
}
