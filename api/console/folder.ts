// Where the built console is. Its sources and lock file name it, so that a change is never served from what was built
// before.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../core/config/folders.ts';

const project = join(import.meta.dirname, '..', '..');
export const sources = join(project, 'console');
/** In the image: built by the Dockerfile, without sources. */
const inImage = join(sources, 'built');
const NOT_SOURCES = ['node_modules', 'dist', 'built'];

/** The folder of the built console, whether it is built or not. */
export function consoleFolder(): string {
  if (existsSync(join(inImage, 'index.html'))) return inImage;
  return join(cacheFolder(), `console-${hashOfSources()}`);
}

function hashOfSources(): string {
  const hash = createHash('sha256');
  for (const folder of [sources, join(project, 'client')]) {
    for (const file of filesOf(folder))
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(folder, file)))
        .update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

function filesOf(folder: string, below = ''): string[] {
  if (!existsSync(join(folder, below))) return [];
  return readdirSync(join(folder, below), { withFileTypes: true })
    .filter(({ name }) => below !== '' || !NOT_SOURCES.includes(name))
    .flatMap((entry) => {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      return entry.isDirectory() ? filesOf(folder, path) : [path];
    })
    .toSorted();
}
