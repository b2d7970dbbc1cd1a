// What `npm test` runs: parts, each one run of mocha on a stack of its own.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Lane } from '../../core/lane.ts';

export interface Part {
  name: string;
  /** Of mocha. */
  args: string[];
  lane: Lane;
  environment: Record<string, string>;
  /** Whether its output is shown when it has ended, so that it does not mix with that of the part beside it. */
  collected: boolean;
}

const tests = join(import.meta.dirname, '..');
const NO_TESTS = ['histories', 'support', 'torture'];
// They kill and restart servers, and mostly wait. The other tests must not see their servers vanish.
const ON_SERVERS = ['test/faults', 'test/local'];
// Where deliveries are made. The other folders never meet a lane.
const WITH_DELIVERIES = ['test/e2e', 'test/faults'];
/** In the title of what a lane changes: this runs in both lanes. */
export const BOTH_LANES = '@lanes';
const DAY_MS = 86_400_000;

/**
 * @param args of `npm test`: files or folders and options of mocha; `--all`: everything in both lanes
 * @param chosenLane of the files that are named
 * @returns in the order in which they should begin: the longest first
 */
export function chooseParts(args: string[], chosenLane: Lane, nowMs: number): Part[] {
  const all = args.includes('--all');
  const given = args.filter((arg) => arg !== '--all');
  const part = (name: string, lane: Lane, more: string[], fields: Partial<Part> = {}): Part => ({
    name: lane === 'express' ? `${name}, express` : name,
    args: [...given, ...more],
    lane,
    environment: {},
    collected: true,
    ...fields,
  });
  if (given.some((arg) => /^(\.\/)?test\b/.test(arg))) {
    const lanes: Lane[] = all ? ['workflow', 'express'] : [chosenLane];
    return lanes.map((lane) => part('tests', lane, [], { collected: lane !== lanes[0] }));
  }
  const behaviour = testFolders().filter((name) => !ON_SERVERS.includes(name));
  if (all) {
    return [
      part('behaviour', 'workflow', behaviour, { collected: false }),
      part('faults', 'workflow', ON_SERVERS),
      ...WITH_DELIVERIES.map((folder) => part(folder, 'express', [folder])),
    ];
  }
  const filtered = given.some((arg) => /^(--f?grep|-[fg])\b/.test(arg));
  const tagged = filtered ? [] : ['--grep', BOTH_LANES];
  return [
    part('behaviour', 'workflow', behaviour, { collected: false }),
    part('faults', 'workflow', ON_SERVERS, { environment: { TORTURE_LANE: laneOfTheDay(nowMs) } }),
    ...WITH_DELIVERIES.map((folder) => part(folder, 'express', [folder, ...tagged])),
  ];
}

/** Torture takes long and is tried in one lane at a time. */
export function laneOfTheDay(nowMs: number): Lane {
  return Math.floor(nowMs / DAY_MS) % 2 === 0 ? 'workflow' : 'express';
}

function testFolders(): string[] {
  return readdirSync(tests, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !NO_TESTS.includes(entry.name))
    .map((entry) => `test/${entry.name}`);
}
