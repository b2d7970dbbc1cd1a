// The console under `npm start`: built beside the servers when it is not yet, and a link that signs in once.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createPool } from '../db/connections/pool.ts';
import { makeConsoleCode } from '../db/management/console-codes.ts';
import { type Log, oneLine } from './errors.ts';

const project = join(import.meta.dirname, '..');
const TIMEOUT_MS = 30_000;

/** Builds the console in a process of its own; nothing waits for it, and nothing fails with it. */
export function buildConsole(signal: AbortSignal, log: Log): { stop: () => void } {
  const failed = (why: string) =>
    log(`the console could not be built (${why}); everything else runs. npm run console:build tries again`);
  const child = spawn(process.execPath, [join(project, 'api', 'console', 'build.ts')], {
    cwd: project,
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  process.once('exit', () => child.kill());
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-2000);
  });
  child.once('error', (error) => {
    if (!signal.aborted) failed(oneLine(error));
  });
  child.once('exit', (code, ended) => {
    if (code !== 0 && !signal.aborted) failed(said.trim().split('\n').slice(-3).join(' ') || `${code ?? ended}`);
  });
  return { stop: () => void child.kill() };
}

/** The address of the console with a code that signs in once. Without a code it is the address alone. */
export async function consoleLink(databaseUrl: string, organizationId: string, apiUrl: string): Promise<string> {
  const options = { name: 'hookyard-setup', max: 1, statementTimeoutMs: TIMEOUT_MS, onError: () => {} };
  const pool = createPool(databaseUrl, options);
  const address = `${apiUrl.replace('//0.0.0.0:', '//localhost:').replace('//[::]:', '//localhost:')}/console/`;
  try {
    return `${address}#code=${await makeConsoleCode(pool, organizationId, 'npm start')}`;
  } catch {
    // Failure policy: one may sign in with a key.
    return address;
  } finally {
    await pool.end();
  }
}
