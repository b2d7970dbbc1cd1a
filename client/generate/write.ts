// The second half of npm run openapi: makes of docs/openapi.json what of the client is generated: its types, and the JavaScript with
// declarations in client/dist, by which programs outside of this project use it (Node runs no TypeScript in node_modules).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKED_IN as DESCRIPTION } from '../../api/openapi/write.ts';
import { clientTypes } from './types.ts';

const client = join(import.meta.dirname, '..');
const project = join(client, '..');

export const TYPES = join(client, 'api.ts');
export const DIST = join(client, 'dist');

/** What `client/api.ts` should hold. */
export function typesText(): string {
  return clientTypes(JSON.parse(readFileSync(DESCRIPTION, 'utf8')));
}

/** Compiles the client into a folder. @throws Error with the compiler's messages */
export function compile(folder: string): void {
  const compiler = join(project, 'node_modules', 'typescript', 'bin', 'tsc');
  try {
    execFileSync(process.execPath, [compiler, '-p', client, '--outDir', folder], { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    throw new Error(`the client does not compile:\n${(error as { stdout?: string }).stdout ?? String(error)}`);
  }
}

/** The files of a folder by name. */
export function filesIn(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** What `client/dist` should hold. */
export function distFiles(): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-client-'));
  try {
    compile(folder);
    return filesIn(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) {
  writeFileSync(TYPES, typesText());
  rmSync(DIST, { recursive: true, force: true });
  compile(DIST);
  console.log(`${TYPES} and ${DIST} are written`);
}
