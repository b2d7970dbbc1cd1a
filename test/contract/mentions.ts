// Where the code says that it implements a rule: `ROUTE-07`, or a range like `ROUTE-01 to ROUTE-31`, in any comment.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { idsIn } from './page.ts';

const PROJECT = join(import.meta.dirname, '../..');
const APART = new Set(['node_modules', '.git', '.test-data', 'dist', 'contract']);
const RANGE = /\b([A-Z]+)-(\d{2}) to \1-(\d{2})\b/g;

/** The files that name each id, by id. @param prefixes of ids; other texts of that form are none */
export function mentions(prefixes: ReadonlySet<string>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of globSync('**/*.ts', {
    cwd: PROJECT,
    exclude: (path) => APART.has(path.split('/').at(-1) ?? ''),
  })) {
    const text = readFileSync(join(PROJECT, file), 'utf8');
    const ids = [
      ...idsIn(text),
      ...Array.from(text.matchAll(RANGE), ([, prefix, from, to]) => range(prefix, from, to)).flat(),
    ];
    for (const id of new Set(ids)) {
      if (prefixes.has(id.split('-')[0] ?? '')) found.set(id, [...(found.get(id) ?? []), file]);
    }
  }
  return found;
}

function range(prefix = '', from = '', to = ''): string[] {
  const first = Number(from);
  return Array.from({ length: Number(to) - first + 1 }, (_, n) => `${prefix}-${String(first + n).padStart(2, '0')}`);
}
