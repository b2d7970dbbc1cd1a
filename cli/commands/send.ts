import type { Command } from 'commander';
import type { Source } from '../../client/index.ts';
import { headerBytes } from '../../core/http/headers.ts';
import { isRedacted } from '../../core/text/redaction.ts';
import { type Context, contextOf } from '../context.ts';
import { CliError, EXIT, type ExitCode, usage } from '../errors.ts';
import { privateKeyOf, readBytes, secretOf } from '../input.ts';
import { nodeFetch } from '../node-fetch.ts';
import { printable } from '../output.ts';
import { findSource } from '../operations.ts';
import { watchEvent } from '../show.ts';

interface SendOptions {
  source: string;
  provider?: string;
  event?: string;
  secret?: string;
  privateKey?: string;
  data?: string;
  watch?: boolean;
}

const DEADLINE_MS = 30_000;

export function addSend(program: Command): void {
  program
    .command('send')
    .description('Send a sample event or your own body to a source, as its provider would')
    .requiredOption('--source <source>', 'Source to send to (slug or ID)')
    .option(
      '--provider <provider>',
      "Provider to send as (default: the source's provider); list providers with: hookyard providers",
    )
    .option('--event <name>', 'Sample event to send (for example push or invoice.paid); with --data, any event name')
    .option('--secret <secret>', 'Secret that the source verifies webhooks with, or @file to read it from a file')
    .option(
      '--private-key <file>',
      'PEM file with the private key, if the sender signs with one; the source has the public key',
    )
    .option('--data <body>', 'Body to send instead of the sample (@file reads a file, - reads stdin)')
    .option(
      '--watch',
      "Print the event's deliveries until all have finished; exits with code 1 unless all were delivered",
    )
    .action(async (options: SendOptions, command: Command) => send(contextOf(command), options));
}

async function send(context: Context, options: SendOptions): Promise<void> {
  const { webhookFor } = await import('../webhook.ts');
  const source = await findSource(context.client, options.source);
  const { headers, body, query } = webhookFor(source, {
    ...{ provider: options.provider, event: options.event, data: bodyOf(options.data) },
    ...{ secret: secretOf(options.secret), privateKey: privateKeyOf(options.privateKey) },
    url: ingestAddress(source, new URL(source.webhookUrl).origin),
  });
  const address = ingestAddress(source, context.url);
  await show(context, options, await post(query === '' ? address : `${address}?${query}`, headers, body));
}

async function show(context: Context, options: SendOptions, answer: Accepted): Promise<void> {
  const { output } = context;
  if (!options.watch || answer.eventId === undefined)
    return output.result(answer, () => output.line(answer.eventId ?? answer.answered ?? JSON.stringify(answer)));
  output.note(`${answer.eventId} was stored`);
  await watchEvent(context, answer.eventId);
}

function bodyOf(text: string | undefined): Buffer | undefined {
  if (text === undefined) return undefined;
  if (text === '-') return readBytes('-');
  return text.startsWith('@') ? readBytes(text.slice(1)) : Buffer.from(text);
}

/** @param url at which this machine reaches the service, which need not be the public one */
function ingestAddress({ webhookUrl, slug, ingestToken }: Source, url: string): string {
  const path = webhookUrl.slice(webhookUrl.lastIndexOf('/ingest/'));
  const end = path.lastIndexOf('/');
  if (!isRedacted(path.slice(end + 1))) return url + path;
  if (ingestToken === 'optional') return url + path.slice(0, end);
  throw usage(
    `The ingest URL of ${slug} contains a token; viewing the token requires the sources:write or secrets:read scope`,
  );
}

interface Accepted {
  eventId?: string;
  /** What a source with an answer of its own says. */
  answered?: string;
}

async function post(address: string, headers: Record<string, string>, body: Buffer): Promise<Accepted> {
  let response: Response;
  let text: string;
  try {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    response = await nodeFetch(address, {
      method: 'POST',
      headers: headerBytes(headers),
      body: new Uint8Array(body),
      signal,
    });
    text = await response.text();
  } catch (error) {
    throw new CliError(
      EXIT.unavailable,
      `${address} cannot be reached (${(error as Error).message}); is the service running?`,
    );
  }
  if (response.ok) return acceptedOf(response, text);
  throw new CliError(exitCodeOf(response.status), refusalOf(response.status, text));
}

function acceptedOf({ status }: Response, text: string): Accepted {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && ('eventId' in parsed || 'challenge' in parsed))
      return parsed as Accepted;
  } catch {
    // It is no JSON.
  }
  return { answered: `The source returned ${status}${text === '' ? '' : `: ${printable(text)}`}` };
}

function refusalOf(status: number, text: string): string {
  try {
    const { message, code } = JSON.parse(text) as { message: string; code?: string };
    if (code === 'INVALID_SIGNATURE')
      return `${message}; --secret (or --private-key) and --provider must match the source`;
    if (code === 'SOURCE_DISABLED')
      return `${message}; enable the source with: hookyard sources update <source> --enable`;
    return message;
  } catch {
    return `The service returned ${status}: ${text.slice(0, 200)}`;
  }
}

function exitCodeOf(status: number): ExitCode {
  if (status === 404) return EXIT.notFound;
  if (status === 401) return EXIT.auth;
  return status >= 500 || status === 429 ? EXIT.unavailable : EXIT.refused;
}
