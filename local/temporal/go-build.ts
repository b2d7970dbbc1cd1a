// Builds programs from Go modules that pin them: those of Temporal (temporal-config/), and the object stores of the
// tests.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { plural } from '../../core/text/words.ts';
import { type Log, oneLine, StartupError, seconds } from '../errors.ts';

const progressEveryMs = 10_000;

export interface GoBuild {
  what: string;
  module: string;
  programs: Record<string, string>;
  folder: string;
  /** Why the release archive could not be used; part of the error when Go is missing too. */
  unreachable: string;
  otherwise?: string;
  signal?: AbortSignal;
  log: Log;
}

/** @throws StartupError when there is no Go, or it fails */
export async function buildWithGo(build: GoBuild): Promise<void> {
  for (const [program, source] of Object.entries(build.programs)) {
    const output = join(build.folder, program);
    await go(build, program, ['build', '-v', '-ldflags=-s -w', '-o', output, source]);
  }
}

function go(build: GoBuild, program: string, args: string[]): Promise<void> {
  const began = performance.now();
  const lines: string[] = [];
  let packages = 0;
  const child = spawn('go', args, {
    cwd: build.module,
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false', GOWORK: 'off' },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal: build.signal,
  });
  process.once('exit', () => child.kill());
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (/^\S+$/.test(line))
      packages++; // -v names each package on a line of its own
    else lines.push(line);
  });
  const progress = setInterval(() => {
    const elapsed = seconds(performance.now() - began);
    const downloads = lines.filter((line) => line.startsWith('go: downloading')).length;
    build.log(
      `still building ${program}: ${elapsed}, ${plural(downloads, 'module')} downloaded, ${plural(packages, 'package')} compiled`,
    );
  }, progressEveryMs);
  return new Promise<void>((resolve, reject) => {
    child.once('error', (error) => {
      reject(build.signal?.aborted ? error : new StartupError(noGo(build, oneLine(error))));
    });
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new StartupError(failed(build, lines)));
    });
  }).finally(() => clearInterval(progress));
}

function noGo(build: GoBuild, error: string): string {
  return `${sentence(build.what)} is not on this machine, its release archive cannot be downloaded (${build.unreachable}), and Go cannot be run (${error}). ${remedy(build)}`;
}

function failed(build: GoBuild, lines: string[]): string {
  const reason = lines
    .filter((line) => line.trim() !== '')
    .slice(-3)
    .join(' ');
  return `${sentence(build.what)} could not be built with Go: ${reason}. ${remedy(build)}`;
}

function remedy(build: GoBuild): string {
  const [, version = ''] = /^go (\S+)/m.exec(readFileSync(join(build.module, 'go.mod'), 'utf8')) ?? [];
  return `Install Go ${version} or newer (https://go.dev/dl/), ${build.otherwise ?? 'or set HOOKYARD_TEMPORAL_DOWNLOAD_URL to a mirror of https://github.com/temporalio, or set TEMPORAL_ADDRESS to a running Temporal server'}.`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
