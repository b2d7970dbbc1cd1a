// What `npm test` runs: parts, each one run of mocha on a stack of its own.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LANE_SETTINGS, type LaneSetting } from '../../core/delivery/lane.ts';
import { DAY_MS, dayOfRun, THOROUGH } from './thorough.ts';

export interface Part {
  name: string;
  /** Of mocha. */
  args: string[];
  lane: LaneSetting;
  environment: Record<string, string>;
  /** Whether its tests need PostgreSQL and Temporal. */
  hasStack: boolean;
  /** Whether its output is shown when it has ended, so that it does not mix with that of the part beside it. */
  collected: boolean;
}

const tests = join(import.meta.dirname, '..');
const NO_TESTS = ['histories', 'support', 'torture'];
interface Group {
  name: string;
  folders: string[];
  /** So many that each takes a few minutes on an ordinary day. */
  parts: number;
  hasStack?: boolean;
}

/** What needs no stack, while the first ones are made; then the longest, so that none is left alone at the end. */
const GROUPS: Group[] = [
  { name: 'core', folders: ['test/core', 'test/http', 'test/conformance'], parts: 1, hasStack: false },
  { name: 'api', folders: [], parts: 2 },
  { name: 'database and workflows', folders: ['test/db', 'test/worker', 'test/workflow'], parts: 1 },
  { name: 'e2e', folders: ['test/e2e'], parts: 1 },
  // They kill and restart their servers, which must not be those of other tests.
  { name: 'faults', folders: ['test/faults', 'test/local'], parts: 1 },
  { name: 'security', folders: ['test/security'], parts: 3 },
  // A browser takes much of a core, and is started once.
  { name: 'console', folders: ['test/console'], parts: 1 },
];
/** It has all other folders. */
const REST = 'api';
// Where deliveries are made. The other folders never meet a lane.
const WITH_DELIVERIES = ['test/e2e', 'test/faults'];
/** In the title of what a lane changes: such files run in one lane on one day, in the next lane on the next. */
export const BY_LANES = '@lanes';
/** In the title of what takes long: such files are dealt to thirteen days, and those of the day run. With `--all` all do. */
export const BY_TURNS = '@turns';
// No multiple of three, so that a file of both tags is in the next lane when its turn comes again.
export const TURNS = 13;
// In the order in which their parts begin.
const LANES_OF_PARTS = ['express', 'adaptive', 'workflow'] as const satisfies readonly LaneSetting[];
/** Of what no lane changes. */
const USUAL_LANE: LaneSetting = 'workflow';
/** With `--all` there is so many times as much. */
const PARTS_OF_ALL = 3;
const OWN_OPTIONS = ['--all', '--times'];
const FILE_TIMES = join(import.meta.dirname, 'file-times.ts');

/**
 * @param args of `npm test`: files or folders and options of mocha; `--all`: everything in all lanes; `--times`: shows how
 * long each file took
 * @param chosenLane of the files that are named
 * @returns in the order in which they should begin: the longest first
 */
export function chooseParts(args: string[], chosenLane: LaneSetting, nowMs: number): Part[] {
  const all = args.includes('--all');
  const given = args.filter((arg) => !OWN_OPTIONS.includes(arg));
  const reporter = args.includes('--times') ? ['--reporter', FILE_TIMES] : [];
  const parts = given.some((arg) => /^(\.\/)?test\b/.test(arg))
    ? partsOfNamed(all, chosenLane)
    : partsOfEverything(all, given.some(isFilter), nowMs);
  return parts.map((part) => ({ ...part, args: [...given, ...reporter, ...part.args] }));
}

const isFilter = (arg: string) => /^(--f?grep|-[fg])\b/.test(arg);

function partsOfNamed(all: boolean, chosenLane: LaneSetting): Part[] {
  const lanes: LaneSetting[] = all ? LANES_OF_PARTS.toReversed() : [chosenLane];
  const environment: Record<string, string> = all ? THOROUGH : {};
  return lanes.map((lane) => ({ ...partOf('tests', lane, []), environment, collected: lane !== lanes[0] }));
}

function partsOfEverything(all: boolean, filtered: boolean, nowMs: number): Part[] {
  const environment: Record<string, string> = all
    ? THOROUGH
    : { ...dayOfRun(nowMs), TORTURE_LANE: laneOfTheDay(nowMs) };
  const everything = all || filtered;
  const left = new Set(everything ? [] : filesOfOtherDays(nowMs));
  const laneOfFile = everything ? new Map<string, LaneSetting>() : lanesOfFiles(nowMs);
  const rest = foldersBut(GROUPS.flatMap(({ folders }) => folders));
  return GROUPS.flatMap(({ name, folders, parts, hasStack = true }) => {
    const files = (name === REST ? rest : folders).flatMap(filesOf).filter((file) => !left.has(file));
    // Of a filtered run there would be little in each part, and each starts servers.
    const most = filtered ? 1 : all ? parts * PARTS_OF_ALL : parts;
    return LANES_OF_PARTS.flatMap((lane) => {
      const isDue = (file: string) =>
        everything ? lane === USUAL_LANE || makesDeliveries(file) : (laneOfFile.get(file) ?? USUAL_LANE) === lane;
      const hands = dealt(files.filter(isDue), all || lane === USUAL_LANE ? most : 1);
      return hands.map((hand, index, { length }) => ({
        ...partOf(numbered(name, index, length), lane, hand),
        environment,
        hasStack,
      }));
    });
  });
}

const makesDeliveries = (file: string) => WITH_DELIVERIES.some((folder) => file.startsWith(`${folder}/`));

function partOf(name: string, lane: LaneSetting, args: string[]): Part {
  return {
    name: lane === USUAL_LANE ? name : `${name}, ${lane}`,
    args,
    lane,
    environment: {},
    hasStack: true,
    collected: true,
  };
}

const numbered = (name: string, index: number, count: number) => (count === 1 ? name : `${name} ${index + 1}`);

/** Torture is tried in one lane at a time; when its turn comes again, in the next one. */
export function laneOfTheDay(nowMs: number): LaneSetting {
  return LANE_SETTINGS[Math.floor(nowMs / DAY_MS / TURNS) % LANE_SETTINGS.length] as LaneSetting;
}

/** @returns the files that take long and whose turn it is not */
export function filesOfOtherDays(nowMs: number): string[] {
  const today = Math.floor(nowMs / DAY_MS) % TURNS;
  return tagged(BY_TURNS).filter((_file, index) => index % TURNS !== today);
}

/**
 * @returns the lane in which each file that a lane changes runs today: every second one in one lane, the others in the next. More
 * lanes on one day would be more servers.
 */
export function lanesOfFiles(nowMs: number): Map<string, LaneSetting> {
  const today = Math.floor(nowMs / DAY_MS);
  const laneOf = (index: number) => LANE_SETTINGS[(today + (index % 2)) % LANE_SETTINGS.length] as LaneSetting;
  return new Map(tagged(BY_LANES).map((file, index) => [file, laneOf(index)]));
}

/** By path: files of one folder are alike, and each day gets as many of them. */
function tagged(tag: string): string[] {
  return filesOf('test').filter((file) => readFileSync(join(tests, '..', file), 'utf8').includes(` ${tag}`));
}

function foldersBut(others: string[]): string[] {
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

/** Deals files like cards: neighbours in the alphabet are alike, and get into different parts. */
function dealt(files: string[], parts: number): string[][] {
  const hands = Array.from({ length: parts }, (_, part) => files.filter((_file, index) => index % parts === part));
  return hands.filter((hand) => hand.length > 0);
}
