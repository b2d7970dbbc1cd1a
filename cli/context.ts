// The URL of the service and the API key, from options, environment and data folder; and the context of every command.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, dirname } from 'node:path';
import type { Command } from 'commander';
import { type Client, createClient, type Ignored } from '../client/index.ts';
import { dataFolder as dataFolderOf } from '../core/config/folders.ts';
import { secretOf } from '../core/config/secret-files.ts';
import { parseExact } from '../core/text/exact-json.ts';
import { plural } from '../core/text/words.ts';
import { servedUrl } from '../local/lock.ts';
import { notFound, usage } from './errors.ts';
import { replaceFile, secretOf as secretOrFile } from './input.ts';
import { nodeFetch } from './node-fetch.ts';
import { createOutput, type Output, printable } from './output.ts';

// Profiles: services with their keys, by a name, in `hookyard/profiles.json` of the user's configuration folder
// (XDG_CONFIG_HOME, else ~/.config). Only the user can read the file.

interface Profile {
  url?: string;
  apiKey?: string;
}
type Profiles = Record<string, Profile>;

export const profilesFile = (): string =>
  join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'hookyard', 'profiles.json');

/** @throws CliError when the file is there but is none */
export function readProfiles(): Profiles {
  const file = profilesFile();
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw usage(`${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    const profiles: unknown = JSON.parse(text);
    if (isObject(profiles) && Object.values(profiles).every(isProfile)) return profiles as Profiles;
  } catch {
    // It is no JSON.
  }
  throw usage(`${file} is not a valid profiles file; fix it or remove it`);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isProfile = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every((member) => typeof member === 'string');

export const writeProfiles = (profiles: Profiles): void =>
  replaceFile(profilesFile(), `${JSON.stringify(profiles, null, 2)}\n`);

/** What `--profile` or HOOKYARD_PROFILE names. @throws CliError when there is none of this name */
function chosenProfile(option: string | undefined): (Profile & { name: string }) | null {
  const name = option ?? process.env.HOOKYARD_PROFILE;
  if (!name) return null;
  const profile = readProfiles()[name];
  if (profile === undefined) throw notFound(`No profile named ${name}. List profiles with: hookyard profiles list`);
  return { ...profile, name };
}

const project = dirname(import.meta.dirname);
export const VERSION: string = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')).version;

export interface GlobalOptions {
  url?: string;
  apiKey?: string;
  profile?: string;
  json?: boolean;
  timeout?: string;
}

export interface Context {
  client: Client;
  output: Output;
  url: string;
}

/** @throws CliError when the address, the time-out or the API key cannot be used */
export function contextOf(command: Command): Context {
  const options = command.optsWithGlobals<GlobalOptions>();
  const address = serviceAddress(options);
  const { url } = address;
  const seconds = Number(options.timeout ?? 30);
  if (!(seconds > 0 && seconds <= 3600))
    throw usage(`--timeout must be greater than 0 and at most 3600 seconds, not "${options.timeout}"`);
  const output = createOutput(options.json === true);
  const key = apiKey(options, address);
  // It is sent in a header. Nothing of it is printed.
  if (key !== undefined && !/^[!-~]+$/.test(key))
    throw usage('The API key may contain only printable ASCII characters without spaces; check where it is set');
  const client = createClient({
    url,
    apiKey: key,
    timeoutMs: seconds * 1000,
    maxWaitMs: seconds * 1000,
    userAgent: `hookyard-cli/${VERSION}`,
    fetch: nodeFetch,
    onIgnored: tellIgnored(output),
    // What is shown has the digits that came in.
    parseJson: parseExact,
  });
  return { client, output, url };
}

export interface ServiceAddress {
  url: string;
  from: string;
  ofDataFolder: boolean;
}

/**
 * `--url`, the profile, `HOOKYARD_URL`, the service's own settings, where the service of the data folder listens, else
 * its default.
 */
export function serviceAddress({ url, profile: named }: GlobalOptions): ServiceAddress {
  const { HOOKYARD_URL, HOOKYARD_PUBLIC_URL, HOOKYARD_PORT } = process.env;
  if (url) return checked(url, '--url');
  const profile = chosenProfile(named);
  if (profile?.url) return checked(profile.url, `the profile ${profile.name}`);
  if (HOOKYARD_URL) return checked(HOOKYARD_URL, 'HOOKYARD_URL');
  if (HOOKYARD_PUBLIC_URL) return checked(HOOKYARD_PUBLIC_URL, 'HOOKYARD_PUBLIC_URL');
  // Port 0 is chosen freely, at every start.
  if (Number(HOOKYARD_PORT)) return checked(`http://localhost:${HOOKYARD_PORT}`, 'HOOKYARD_PORT');
  const folder = dataFolder();
  const served = servedUrl(folder);
  if (served) return checked(served, `the service running in ${folder}`, true);
  return checked('http://localhost:3000', `the default, because no service is running in ${folder}`);
}

function checked(address: string, from: string, ofDataFolder = false): ServiceAddress {
  return { url: checkedUrl(address), from, ofDataFolder };
}

/** The address of a service, without slashes at its end. @throws CliError when it is none */
export function checkedUrl(address: string): string {
  if (!/^https?:$/.test(URL.parse(address)?.protocol ?? ''))
    throw usage(
      `Invalid service URL "${address}": it must start with http:// or https:// and have a valid host name and port`,
    );
  return address.replace(/\/+$/, '');
}

export const dataFolder = (): string => dataFolderOf(project, process.env.HOOKYARD_DATA_DIR);

function apiKey(options: GlobalOptions, { url, ofDataFolder }: ServiceAddress): string | undefined {
  const given =
    secretOrFile(options.apiKey) || chosenProfile(options.profile)?.apiKey || secretOf(process.env, 'HOOKYARD_API_KEY');
  if (given) return given;
  // The key of this machine's service is for this machine's service only.
  if (!ofDataFolder && !['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname)) return undefined;
  try {
    return readFileSync(join(dataFolder(), 'keys', 'api-key'), 'utf8').trim();
  } catch {
    return undefined;
  }
}

const WORDS = { query: 'query parameter', body: 'field' };

/** Prints ignored parts of requests on stderr, each name once. */
function tellIgnored(output: Pick<Output, 'note'>): (ignored: Ignored) => void {
  const printed = new Set<string>();
  return ({ names, more }) => {
    for (const { name, in: place, nearest } of names) {
      const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
      const line = printable(`The service ignored the unknown ${WORDS[place]} ${name}${hint}`);
      if (printed.has(line)) continue;
      printed.add(line);
      output.note(`hookyard: ${line}`);
    }
    if (more > 0) output.note(`hookyard: The service ignored ${plural(more, 'more unknown name')}`);
  };
}
