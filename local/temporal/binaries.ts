// Where the Temporal server, its SQL tool and its UI come from on this machine, in this order: the cache, the projects'
// release archives (checksum verified), a Go build of the versions that temporal-config/ pins.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Dispatcher, EnvHttpProxyAgent, interceptors, request } from 'undici';
import { cacheFolder, fillOnce } from '../../core/config/folders.ts';
import { errorCode, type Log, oneLine, phase, seconds, StartupError } from '../errors.ts';
import { buildWithGo } from './go-build.ts';

const configFolder = join(import.meta.dirname, '..', '..', 'temporal-config');

export interface Binaries {
  server: string;
  sqlTool: string;
  ui: string;
}

interface Product {
  title: string;
  name: string;
  version: string;
  /** File name in the cache -> Go package that builds it. */
  programs: Record<string, string>;
  goModule: string;
  archive: Archive;
}

export interface BinariesOptions {
  downloadUrl?: string;
  cache?: string;
  signal?: AbortSignal;
  log: Log;
}

/** @throws StartupError that says what to install or to set when they cannot be obtained */
export async function ensureBinaries(options: BinariesOptions & { ui: boolean }): Promise<Binaries> {
  const cache = options.cache ?? cacheFolder();
  const server = await obtain(temporalServer(), cache, options);
  const ui = options.ui ? await obtain(temporalUi(), cache, options) : '';
  return {
    server: join(server, 'temporal-server'),
    sqlTool: join(server, 'temporal-sql-tool'),
    ui: join(ui, 'temporal-ui'),
  };
}

export function temporalVersion(): string {
  return pinnedVersion(join(configFolder, 'go.mod'), 'go.temporal.io/server');
}

function temporalServer(): Product {
  const version = temporalVersion();
  const release = `temporal/releases/download/v${version}`;
  return {
    ...{ title: 'the Temporal server', name: 'temporal-server', version },
    programs: {
      'temporal-server': 'go.temporal.io/server/cmd/server',
      'temporal-sql-tool': 'go.temporal.io/server/cmd/tools/sql',
    },
    goModule: configFolder,
    archive: {
      path: `${release}/temporal_${version}_${goPlatform()}.tar.gz`,
      checksums: `${release}/checksums.txt`,
      members: { 'temporal-server': ['temporal-server'], 'temporal-sql-tool': ['temporal-sql-tool'] },
    },
  };
}

function temporalUi(): Product {
  const version = pinnedVersion(join(configFolder, 'ui', 'go.mod'), 'github.com/temporalio/ui-server/v2');
  const release = `ui-server/releases/download/v${version}/ui-server_${version}`;
  return {
    ...{ title: 'the Temporal UI', name: 'temporal-ui', version },
    programs: { 'temporal-ui': 'github.com/temporalio/ui-server/v2/cmd/server' },
    goModule: join(configFolder, 'ui'),
    archive: {
      path: `${release}_${goPlatform()}.tar.gz`,
      checksums: `${release}_checksums.txt`,
      members: { 'temporal-ui': ['ui-server', 'ui_server'] },
    },
  };
}

/** The version of a Go module as go.mod pins it: the one place where versions are written. */
function pinnedVersion(goMod: string, module: string): string {
  const text = readFileSync(goMod, 'utf8');
  for (const [, name, version = ''] of text.matchAll(/^(?:require)?\s+(\S+) v(\S+)/gm))
    if (name === module) return version;
  throw new Error(`${goMod} does not pin ${module}`);
}

/** System and processor as release archives and Go name them: `linux_amd64`. */
function goPlatform(): string {
  return `${process.platform}_${{ x64: 'amd64', ia32: '386' }[process.arch as string] ?? process.arch}`;
}

async function obtain(product: Product, cache: string, options: BinariesOptions): Promise<string> {
  const { name, version, programs } = product;
  const folder = join(cache, `${name}-${version}-${process.platform}-${process.arch}`);
  const isComplete = () => Object.keys(programs).every((program) => existsSync(join(folder, program)));
  try {
    await fillOnce(folder, (unfinished) => fill(product, unfinished, options), isComplete);
  } catch (error) {
    if (!/^mkd/.test(String((error as NodeJS.ErrnoException).syscall))) throw error;
    throw new StartupError(
      `The cache folder ${cache} is not writable (${errorCode(error) ?? oneLine(error)}); set XDG_CACHE_HOME to a writable folder`,
    );
  }
  return folder;
}

/** Downloads, or builds when the download is not possible. A wrong checksum is never worked around. */
async function fill(product: Product, folder: string, options: BinariesOptions): Promise<void> {
  const { log, signal } = options;
  const what = `${product.title} ${product.version}`;
  log(`${what} is not on this machine yet; downloading its release archive`);
  const began = performance.now();
  const unreachable = await downloadArchive(product.archive, folder, { base: options.downloadUrl, signal, log });
  if (unreachable === undefined) return log(`installed ${what} (${seconds(performance.now() - began)})`);
  log(
    `the release archive cannot be downloaded (${unreachable}); building ${what} with Go (this takes a few minutes and is done only once)`,
  );
  await phase(log, `built ${what}`, () =>
    buildWithGo({ what, module: product.goModule, programs: product.programs, folder, unreachable, signal, log }),
  );
}

const run = promisify(execFile);
const projects = 'https://github.com/temporalio';
// A machine without a way out must not wait long before it builds instead.
const connectDeadlineMs = 3_000;
const checksumsDeadlineMs = 10_000;
const archiveDeadlineMs = 15 * 60_000;

export interface Archive {
  path: string;
  /** Path of the file with `<sha256>  <file name>` lines. */
  checksums: string;
  members: Record<string, string[]>;
}

/**
 * @param options.base where the releases are; the projects' own place when not given
 * @returns `undefined` when done, else why the archive cannot be had (unreachable, no such release)
 * @throws StartupError when what was fetched does not match its checksum or lacks a program
 */
export async function downloadArchive(
  archive: Archive,
  folder: string,
  options: { base?: string; signal?: AbortSignal; log: Log },
): Promise<string | undefined> {
  const root = (options.base ?? projects).replace(/\/+$/, '');
  const agent = new EnvHttpProxyAgent({ connect: { timeout: connectDeadlineMs } });
  const followed = agent.compose(interceptors.redirect({ maxRedirections: 10 }));
  const get = (path: string, deadlineMs: number) => fetchBody(`${root}/${path}`, followed, deadlineMs, options.signal);
  try {
    const checksums = await get(archive.checksums, checksumsDeadlineMs);
    if (typeof checksums === 'string') return checksums;
    const expected = expectedChecksum(checksums.toString('utf8'), archive.path, root);
    options.log(`downloading ${root}/${archive.path}`);
    const content = await get(archive.path, archiveDeadlineMs);
    if (typeof content === 'string') return content;
    verify(content, expected, `${root}/${archive.path}`);
    await unpack(content, archive, folder);
    return undefined;
  } finally {
    await agent.destroy();
  }
}

/** The body, or one line that says why it cannot be had. @throws the abort reason when `signal` was aborted */
async function fetchBody(
  url: string,
  dispatcher: Dispatcher,
  deadlineMs: number,
  signal: AbortSignal | undefined,
): Promise<Buffer | string> {
  const deadline = AbortSignal.timeout(deadlineMs);
  try {
    // Not fetch, which refuses some ports that a mirror may have.
    const { statusCode, body } = await request(url, {
      dispatcher,
      signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
    });
    if (statusCode === 200) return Buffer.from(await body.arrayBuffer());
    await body.dump();
    return `${url} returned ${statusCode}`;
  } catch (error) {
    signal?.throwIfAborted();
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return `${new URL(url).host} cannot be reached: ${errorCode(cause) ?? oneLine(cause)}`;
  }
}

function expectedChecksum(checksums: string, path: string, root: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  for (const line of checksums.split('\n')) {
    const [sum, file] = line.trim().split(/\s+\*?/);
    if (file === name && sum !== undefined) return sum.toLowerCase();
  }
  throw new StartupError(
    `The checksum file of ${root} has no entry for ${name}; nothing was installed. Unset HOOKYARD_TEMPORAL_DOWNLOAD_URL, or set it to a complete mirror.`,
  );
}

function verify(content: Buffer, expected: string, url: string): void {
  const actual = createHash('sha256').update(content).digest('hex');
  if (actual === expected) return;
  throw new StartupError(
    `${url} has SHA-256 ${actual}, but its checksum file has ${expected}; nothing was installed. Try again, or set HOOKYARD_TEMPORAL_DOWNLOAD_URL to a mirror you trust.`,
  );
}

async function unpack(content: Buffer, archive: Archive, folder: string): Promise<void> {
  const file = join(folder, 'archive.tar.gz');
  const unpacked = join(folder, 'archive');
  mkdirSync(unpacked);
  writeFileSync(file, content);
  try {
    await run('tar', ['-xzf', file, '-C', unpacked]);
  } catch (error) {
    throw new StartupError(`The archive ${archive.path} cannot be unpacked with tar: ${oneLine(error)}`);
  }
  const entries = readdirSync(unpacked, { recursive: true, encoding: 'utf8' });
  for (const [program, names] of Object.entries(archive.members)) {
    const found = entries.find((entry) => names.includes(entry.slice(entry.lastIndexOf('/') + 1)));
    if (found === undefined)
      throw new StartupError(`The archive ${archive.path} does not contain ${names.join(' or ')}`);
    copyFileSync(join(unpacked, found), join(folder, program));
    chmodSync(join(folder, program), 0o755);
  }
  rmSync(file);
  rmSync(unpacked, { recursive: true });
}
