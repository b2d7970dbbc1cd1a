// Release archives: fetched with a short connect deadline, verified against the release's checksum file, unpacked with tar.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Dispatcher, EnvHttpProxyAgent, interceptors, request } from 'undici';
import { errorCode, type Log, oneLine, StartupError } from '../errors.ts';

const run = promisify(execFile);
const projects = 'https://github.com/temporalio';
// A machine without a way out must not wait long before it builds instead.
const connectDeadlineMs = 3_000;
const checksumsDeadlineMs = 10_000;
const archiveDeadlineMs = 15 * 60_000;

export interface Archive {
  /** Path of the .tar.gz below the base URL. */
  path: string;
  /** Path of the file with `<sha256>  <file name>` lines. */
  checksums: string;
  /** Program -> the names it may have inside the archive. */
  members: Record<string, string[]>;
}

/**
 * Puts the programs of an archive into a folder.
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
    return `${url} answers ${statusCode}`;
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
    `The checksum file of ${root} has no line for ${name}; nothing was installed. Unset HOOKYARD_TEMPORAL_DOWNLOAD_URL, or set it to a complete mirror.`,
  );
}

function verify(content: Buffer, expected: string, url: string): void {
  const actual = createHash('sha256').update(content).digest('hex');
  if (actual === expected) return;
  throw new StartupError(
    `${url} has SHA-256 ${actual}, its checksum file says ${expected}; nothing was installed. Try again, or set HOOKYARD_TEMPORAL_DOWNLOAD_URL to a mirror you trust.`,
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
      throw new StartupError(`The archive ${archive.path} does not contain ${names.join(' or ')}.`);
    copyFileSync(join(unpacked, found), join(folder, program));
    chmodSync(join(folder, program), 0o755);
  }
  rmSync(file);
  rmSync(unpacked, { recursive: true });
}
