// npm run size: how large the code is, and what it may be. `over` marks what exceeds its bar.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

const ROOT = join(import.meta.dirname, '..');
const PRODUCT = [
  ...['activities', 'api', 'cli', 'client', 'console', 'core', 'db', 'local', 'outbound', 'providers', 'sdk'],
  ...['telemetry', 'temporal-config', 'worker', 'workflows'],
];
// One file for each provider, under one registry.
const DATA = 'providers';
// Whatever stores a webhook, claims it, attempts it and retries it is imported by one of these.
const ENGINE = [
  'api/ingest/ingest.ts',
  'worker/relay/relay.ts',
  'activities/attempt/index.ts',
  'workflows/delivery.ts',
];
const MAX_WIDTH = 120;

const IS_CODE = /\.(ts|tsx|js|cjs|mjs|sql|sh|css|html|go|py)$/;
const IS_GENERATED = /^(?:\/\/|#|""") ?(?:Made of|Code generated)/;
const VALUE_IMPORT = /^(?:import|export) (?!type )(?:[^;']*? from )?'(\.[^']*\.tsx?)'/gm;
const TABLE = /^create (?:unlogged )?table (?!.* partition of )/gim;
const SETTING = /^ {2}(HOOKYARD_[A-Z_]+): \{/gm;

interface File {
  path: string;
  text: string;
  lines: number;
}

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
});
const files = new Map(
  tracked
    .split('\n')
    .filter((path) => IS_CODE.test(path) || path.endsWith('.md'))
    .flatMap((path) => read(path))
    .map((file) => [file.path, file]),
);

function read(path: string): File[] {
  try {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return IS_GENERATED.test(text) ? [] : [{ path, text, lines: text.split('\n').length - 1 }];
  } catch {
    return []; // Removed, not yet committed.
  }
}

const isIn = (folder: string) => (file: File) => file.path.startsWith(`${folder}/`);
const sum = (some: File[]) => some.reduce((total, { lines }) => total + lines, 0);
const code = Array.from(files.values()).filter(({ path }) => IS_CODE.test(path));
const product = code.filter((file) => PRODUCT.some((folder) => isIn(folder)(file)));

/** What these files import with values, what that imports, and so on. */
function importedBy(entries: string[]): File[] {
  const reached = new Set<File>();
  const open = [...entries];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const file = files.get(path);
    if (file === undefined || reached.has(file)) continue;
    reached.add(file);
    for (const [, target = ''] of file.text.matchAll(VALUE_IMPORT)) open.push(join(dirname(path), target));
  }
  return [...reached];
}

function largestFolder(): { folder: string; count: number } {
  const counts = new Map<string, number>();
  for (const file of product.filter((each) => !isIn(DATA)(each))) {
    const folder = dirname(file.path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const [folder, count] = Array.from(counts).reduce((most, next) => (next[1] > most[1] ? next : most));
  return { folder, count };
}

const matches = (some: File[], pattern: RegExp) =>
  new Set(
    some.flatMap(({ path, text }) => Array.from(text.matchAll(pattern), (match) => match[1] ?? path + match.index)),
  );

const engine = importedBy(ENGINE);
const largest = largestFolder();
const sizes = product.map(({ lines }) => lines).sort((a, b) => a - b);
const wide = product.flatMap(({ text }) => text.split('\n').filter((line) => line.length > MAX_WIDTH));

const rows: { what: string; is: number; most?: number; note?: string }[] = [
  ...PRODUCT.map((folder) => {
    const inside = product.filter(isIn(folder));
    return { what: `  ${folder}/`, is: sum(inside), note: `${inside.length} files` };
  }),
  { what: 'product, lines', is: sum(product), most: 75_000, note: `${product.length} files` },
  { what: 'tests, lines', is: sum(code.filter(isIn('test'))), most: 70_000 },
  { what: 'bench, lines', is: sum(code.filter(isIn('bench'))) },
  { what: 'docs, lines', is: sum(Array.from(files.values()).filter(({ path }) => path.endsWith('.md'))) },
  { what: 'tables', is: matches(product.filter(isIn('db/schema')), TABLE).size, most: 42 },
  { what: 'HOOKYARD_* settings', is: matches(product.filter(isIn('core/config')), SETTING).size, most: 40 },
  { what: 'largest folder, files', is: largest.count, most: 16, note: largest.folder },
  { what: 'median file, lines', is: sizes[Math.floor(sizes.length / 2)] ?? 0 },
  { what: 'engine, files', is: engine.length, most: 190 },
  { what: 'engine, lines', is: sum(engine), most: 18_000 },
  { what: `lines over ${MAX_WIDTH} columns`, is: wide.length },
];

for (const { what, is, most, note = '' } of rows) {
  const bar = most === undefined ? '' : `at most ${most.toLocaleString('en')}${is > most ? ', over' : ''}`;
  console.log(`${what.padEnd(28)}${is.toLocaleString('en').padStart(8)}  ${[bar, note].filter(Boolean).join('  ')}`);
}
