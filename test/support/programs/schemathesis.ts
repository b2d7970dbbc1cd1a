// Schemathesis: a program that makes requests of the API's description and compares the answers with it. It is written
// in Python; the versions of schemathesis/requirements.txt are installed once into the cache folder.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonWith, runPython } from './python.ts';

const REQUIREMENTS = join(import.meta.dirname, 'schemathesis', 'requirements.txt');

/**
 * Installs Schemathesis unless it is there.
 * @returns the Python that has it
 * @throws Error that says what to install
 */
export const installSchemathesis = (): Promise<string> =>
  pythonWith({ name: 'schemathesis', what: 'Schemathesis', file: REQUIREMENTS });

export interface SchemathesisRun {
  url: string;
  /** schemathesis.toml */
  config: string;
  /** Of `schemathesis run`. */
  args: string[];
}

/** Runs Schemathesis against a service. @returns its exit code, 0 when it found nothing, and what it printed */
export async function runSchemathesis(
  python: string,
  { url, config, args }: SchemathesisRun,
): Promise<{ code: number; output: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-schemathesis-'));
  try {
    const configFile = join(folder, 'schemathesis.toml');
    writeFileSync(configFile, config);
    return await runPython(
      python,
      ['-m', 'schemathesis.cli', '--no-color', '--config-file', configFile, 'run', `${url}/openapi.json`, ...args],
      folder,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
