// What `npm test` runs: parts, each one run of mocha on a stack of its own. Every test file is in one of them, but for
// those in test/long, which run when they are named.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { LaneSetting } from '../../core/delivery/delivery.ts';

export interface Part {
  name: string;
  /** Options of mocha. */
  options: string[];
  /** Files or folders. */
  files: string[];
  lane: LaneSetting;
  /** Whether its tests need PostgreSQL and Temporal. */
  hasStack: boolean;
}

interface Group {
  name: string;
  folders: string[];
  /** Stacks among which its files are dealt, so that each part takes a few minutes. */
  parts: number;
  hasStack?: boolean;
}

const tests = join(import.meta.dirname, '..');
/** The lane of all tests, unless HOOKYARD_LANE names another. */
const USUAL_LANE: LaneSetting = 'workflow';
/** These run in the lane `express` as well: what the relay's own attempts could do otherwise than workflows. */
const ALSO_IN_EXPRESS = [
  'test/e2e/circuit.test.ts',
  'test/e2e/concurrency.test.ts',
  'test/e2e/delivery.test.ts',
  'test/e2e/failover.test.ts',
  'test/e2e/pauses.test.ts',
  'test/e2e/routing.test.ts',
  'test/faults/processes.test.ts',
];
/** What needs no stack, while the first ones are made; then the longest, so that none is left alone at the end. */
const GROUPS: Group[] = [
  { name: 'core', folders: ['test/core', 'test/http', 'test/conformance'], parts: 1, hasStack: false },
  // They kill and restart their servers, which must not be those of other tests.
  { name: 'faults', folders: ['test/faults', 'test/local'], parts: 3 },
  { name: 'e2e', folders: ['test/e2e'], parts: 3 },
  // A browser takes much of a core, and is started once.
  { name: 'console', folders: ['test/console'], parts: 1 },
  { name: 'security', folders: ['test/security'], parts: 3 },
  {
    name: 'api',
    folders: ['test/api', 'test/cli', 'test/client', 'test/contract', 'test/deploy', 'test/sdk'],
    parts: 3,
  },
  { name: 'database and workflows', folders: ['test/db', 'test/worker', 'test/workflow'], parts: 2 },
];

/**
 * @param args of `npm test`: files or folders, and options of mocha
 * @param lane of all tests
 * @returns in the order in which they should begin: the longest first
 */
export function chooseParts(args: string[], lane: LaneSetting = USUAL_LANE): Part[] {
  if (args.some((arg) => /^(\.\/)?test\b/.test(arg)))
    return [{ name: 'tests', options: [], files: args, lane, hasStack: true }];
  // Little of a filtered run would be in each part, and each starts servers.
  const isFiltered = args.some((arg) => /^(--f?grep|-[fg])\b/.test(arg));
  const usual = GROUPS.flatMap(({ name, folders, parts, hasStack = true }) =>
    dealt(folders.flatMap(filesOf), isFiltered ? 1 : parts).map((files, index, { length }) => {
      const numbered = length === 1 ? name : `${name} ${index + 1}`;
      return { name: numbered, options: args, files, lane, hasStack };
    }),
  );
  if (lane === 'express') return usual;
  return [...usual, { name: 'express', options: args, files: ALSO_IN_EXPRESS, lane: 'express', hasStack: true }];
}

function filesOf(folder: string): string[] {
  return readdirSync(join(tests, '..', folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name}`)
    .toSorted();
}

/** Deals files like cards: neighbours in the alphabet are alike, and get into different parts. */
function dealt(files: string[], parts: number): string[][] {
  return Array.from({ length: parts }, (_, part) => files.filter((_file, index) => index % parts === part));
}
