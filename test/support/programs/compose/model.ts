// A composition as Docker Compose reads it, without a container engine: by the library of its makers, in a program
// that is built with Go.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { goProgram } from '../go-program.ts';

const run = promisify(execFile);
const project = join(import.meta.dirname, '..', '..', '..', '..');

export interface ComposeModel {
  services: Record<
    string,
    {
      /** Of the container: with what its env_file holds. */
      environment: Record<string, string>;
      image: string;
      ports?: { target: number; published: string }[];
      volumes?: { target: string }[];
    }
  >;
}

/**
 * The composition with these variables in the shell.
 * @param further what is in hookyard.env; undefined: there is no such file
 * @param path of the composition
 * @throws Error with what is wrong with it
 */
export async function composeModel(
  env: Record<string, string>,
  further?: string,
  path = 'docker-compose.yml',
): Promise<ComposeModel> {
  const program = await goProgram(
    { name: 'compose-model', source: '.', pins: import.meta.dirname },
    'test/deploy/compose.test.ts',
  );
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-compose-'));
  try {
    copyFileSync(join(project, path), join(folder, 'docker-compose.yml'));
    if (further !== undefined) writeFileSync(join(folder, 'hookyard.env'), further);
    const { stdout } = await run(program, ['docker-compose.yml'], { cwd: folder, env });
    return JSON.parse(stdout) as ComposeModel;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
