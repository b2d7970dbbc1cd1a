// Where the service is and with which key, from options, environment and data folder; and what every command gets.
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { type Client, createClient } from 'hookyard/client';
import { parseExact } from '../core/numbers/exact-json.ts';
import { usage } from './errors.ts';
import { createOutput, type Output } from './output.ts';

const project = dirname(import.meta.dirname);
export const VERSION: string = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')).version;

/** The options that every command takes. */
export interface GlobalOptions {
  url?: string;
  apiKey?: string;
  json?: boolean;
  timeout?: string;
}

export interface Context {
  client: Client;
  output: Output;
  url: string;
}

/** @throws CliError when the address is none, or the time-out no number */
export function contextOf(command: Command): Context {
  const options = command.optsWithGlobals<GlobalOptions>();
  const url = serviceUrl(options);
  const seconds = Number(options.timeout ?? 30);
  if (!(seconds > 0 && seconds <= 3600))
    throw usage(`--timeout must be seconds between 0 and 3600, not ${options.timeout}`);
  const client = createClient({
    url,
    apiKey: apiKey(options, url),
    timeoutMs: seconds * 1000,
    maxWaitMs: seconds * 1000,
    userAgent: `hookyard-cli/${VERSION}`,
    // What is shown has the digits that came in.
    parseJson: parseExact,
  });
  return { client, output: createOutput(options.json === true), url };
}

/** `--url`, `HOOKYARD_URL`, the service's own `HOOKYARD_PUBLIC_URL`, else where `npm start` listens. */
export function serviceUrl({ url }: GlobalOptions): string {
  const { HOOKYARD_URL, HOOKYARD_PUBLIC_URL, HOOKYARD_PORT } = process.env;
  const chosen = url || HOOKYARD_URL || HOOKYARD_PUBLIC_URL || `http://localhost:${HOOKYARD_PORT || 3000}`;
  if (!/^https?:$/.test(URL.parse(chosen)?.protocol ?? '')) {
    throw usage(`"${chosen}" is not the address of a service: it must start with http:// or https://`);
  }
  return chosen.replace(/\/+$/, '');
}

/** The data folder of `npm start`, which runs in the project's folder. */
export function dataFolder(): string {
  return resolve(project, process.env.HOOKYARD_DATA_DIR || './data');
}

function apiKey(options: GlobalOptions, url: string): string | undefined {
  const given = options.apiKey || process.env.HOOKYARD_API_KEY;
  if (given) return given;
  // The key of this machine's service is for this machine's service only.
  if (!['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname)) return undefined;
  try {
    return readFileSync(join(dataFolder(), 'keys', 'api-key'), 'utf8').trim();
  } catch {
    return undefined;
  }
}
