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
// They kill and restart their servers, which must not be those of other tests, and mostly wait.
const ON_SERVERS = ['test/faults', 'test/local'];
// Where deliveries are made. The other folders never meet a lane.
const WITH_DELIVERIES = ['test/e2e', 'test/faults'];
// These and the other folders take about as long.
const BELOW_THE_API = ['test/db', 'test/e2e', 'test/worker', 'test/workflow'];
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
  const [faults, moreFaults] = halves(filesOf('test/faults'));
  const torture: Record<string, string> = all ? {} : { TORTURE_LANE: laneOfTheDay(nowMs) };
  const filtered = given.some((arg) => /^(--f?grep|-[fg])\b/.test(arg));
  const tagged = all || filtered ? [] : ['--grep', BOTH_LANES];
  return [
    part('faults', 'workflow', faults, { environment: torture }),
    part('more faults', 'workflow', [...moreFaults, 'test/local'], { environment: torture }),
    part('api', 'workflow', foldersBut(...ON_SERVERS, ...BELOW_THE_API), { collected: false }),
    part('deliveries', 'workflow', BELOW_THE_API),
    ...WITH_DELIVERIES.map((folder) => part(folder, 'express', [folder, ...tagged])).toReversed(),
  ];
}

/** Torture takes long and is tried in one lane at a time. */
export function laneOfTheDay(nowMs: number): Lane {
  return Math.floor(nowMs / DAY_MS) % 2 === 0 ? 'workflow' : 'express';
}

function foldersBut(...others: string[]): string[] {
  return readdirSync(tests, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !NO_TESTS.includes(entry.name))
    .map((entry) => `test/${entry.name}`)
    .filter((folder) => !others.includes(folder));
}

function filesOf(folder: string): string[] {
  return readdirSync(join(tests, '..', folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name}`)
    .toSorted();
}

/** Every second one: neighbours in the alphabet are not alike. */
function halves(files: string[]): [string[], string[]] {
  return [files.filter((_, index) => index % 2 === 0), files.filter((_, index) => index % 2 === 1)];
}
