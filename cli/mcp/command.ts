// hookyard mcp: the service for programs with a language model, by the Model Context Protocol.
import type { Command } from 'commander';
import { onEndRequest } from '../../core/process/end-request.ts';
import { secretOf } from '../../core/config/secret-files.ts';
import { contextOf, type GlobalOptions, serviceAddress } from '../context.ts';
import { usage } from '../errors.ts';
import { collect, integer } from '../input.ts';
import type { Connect } from './tool.ts';
import type { Output } from '../output.ts';

interface McpOptions {
  http?: boolean;
  port?: string;
  host?: string;
  allowHost?: string[];
  write?: boolean;
}

const DEFAULT_PORT = 3100;
const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

export function addMcp(program: Command): void {
  program
    .command('mcp')
    .description(
      'Run a Model Context Protocol (MCP) server, so that Claude, Cursor, VS Code and other clients can find failures and their causes',
    )
    .option('--write', 'Include tools that change data, to act on deliveries, replay events and connect providers')
    .option('--http', 'Serve over HTTP instead of stdin and stdout')
    .option('--port <n>', `Port for --http (default: ${DEFAULT_PORT}); 0 picks a free port`)
    .option('--host <address>', `Address to listen on with --http (default: ${LOOPBACK[0]})`)
    .option('--allow-host <name>', 'Host name to accept with --http, in addition to localhost; repeatable', collect)
    .addHelpText(
      'after',
      `
Without --http, a client starts this command and communicates with it over stdin and stdout. With --http, the command serves /mcp on
this machine to clients that send a token: the value of HOOKYARD_MCP_TOKEN (or HOOKYARD_MCP_TOKEN_FILE), or a token that it generates
and prints. docs/guide/mcp.md shows how to set up each client.`,
    )
    .action(async (options: McpOptions, command: Command) => {
      const { output } = contextOf(command);
      const connect: Connect = () => ({
        client: contextOf(command).client,
        address: serviceAddress(command.optsWithGlobals<GlobalOptions>()),
      });
      if (options.http) await serveHttp(connect, options, output);
      else await serveStdio(connect, options);
    });
}

// The SDK is loaded by this command alone.
async function serveStdio(connect: Connect, { write: canWrite = false, ...ofHttp }: McpOptions): Promise<void> {
  if (Object.keys(ofHttp).length > 0) throw usage('--port, --host and --allow-host require --http');
  const { serveOverStdio } = await import('./server.ts');
  await serveOverStdio(connect, canWrite);
}

async function serveHttp(connect: Connect, options: McpOptions, output: Output): Promise<void> {
  const { write: canWrite = false, host = '127.0.0.1', allowHost: allowedHosts = [] } = options;
  const port = options.port === undefined ? DEFAULT_PORT : integer(options.port, '--port');
  if (port < 0 || port > 65535) throw usage(`--port must be between 0 and 65535, not ${port}`);
  const { newToken, serveOverHttp } = await import('./http.ts');
  const given = givenToken();
  const token = given ?? newToken();
  const ended = new Promise<void>((resolve) => onEndRequest(() => resolve()));
  const served = await serveOverHttp(connect, canWrite, { host, port, allowedHosts, token });
  const shown = { url: served.url, canWrite, ...(given === undefined && { token }) };
  output.result(shown, () => {
    output.line(`MCP server running at ${served.url}${canWrite ? '' : ' (read-only)'}. Stop with Ctrl-C.`);
    if (given === undefined) output.line(`Clients must send the header Authorization: Bearer ${token}`);
  });
  if (!LOOPBACK.includes(host))
    output.note(
      'Other machines may be able to reach the server, and HTTP is not encrypted: put a TLS proxy in front of it, or use --host 127.0.0.1',
    );
  await ended;
  await served.close();
}

/** @throws CliError when it could be guessed; ConfigError when its file cannot be read */
function givenToken(): string | undefined {
  const token = secretOf(process.env, 'HOOKYARD_MCP_TOKEN');
  if (token === undefined || /^[\w-]{32,200}$/.test(token)) return token;
  throw usage(
    'HOOKYARD_MCP_TOKEN must contain only letters, digits, hyphens and underscores (32 to 200 characters); generate a token with: openssl rand -hex 32',
  );
}
