// What a tool says when it fails: what is wrong, and what to do next. Never a stack.
import { ConfigError } from '../../core/config/config-error.ts';
import { HookyardError } from '../../client/index.ts';
import type { ServiceAddress } from '../context.ts';
import { CliError, endingOf } from '../errors.ts';

export type Address = Pick<ServiceAddress, 'url' | 'from'>;

/** @param address of the service, for messages */
export function problemOf(error: unknown, address: Address): string {
  if (error instanceof ConfigError) return error.message;
  if (!(error instanceof HookyardError || error instanceof CliError)) return unexpected(error);
  const lines = [forTools(endingOf(error, address).line)];
  if (error instanceof HookyardError) lines.push(...membersOf(error), ...waitOf(error));
  return lines.join('\n');
}

/** The advice of the command line, with tools in place of its commands. */
const forTools = (line: string) =>
  line.replace(/hookyard (\w+) list shows those there are/, 'the tool list_$1 shows those there are');

/** The message names the only one. */
const membersOf = ({ details }: HookyardError) =>
  details.length > 1 ? details.map(({ path, message }) => `- ${path}: ${message}`) : [];

const waitOf = ({ retryAfterMs }: HookyardError) =>
  retryAfterMs === null ? [] : [`Try again in ${Math.ceil(retryAfterMs / 1000)} seconds.`];

/** The cause is for who runs the server. */
function unexpected(error: unknown): string {
  process.stderr.write(`hookyard: ${error instanceof Error ? error.stack : String(error)}\n`);
  return 'The MCP server of Hookyard failed at this call. Nothing more is known here; its log (stderr) has the cause.';
}
