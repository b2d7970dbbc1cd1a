// The parts of `npm test`: nothing is left out.
import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LANE_SETTINGS } from '../../core/delivery/lane.ts';
import {
  BY_LANES,
  BY_TURNS,
  chooseParts,
  filesOfOtherDays,
  laneOfTheDay,
  lanesOfFiles,
  TURNS,
} from '../support/parts.ts';
import { DAY_MS, dayOfRun, dueToday } from '../support/thorough.ts';

const project = join(import.meta.dirname, '..', '..');
const testFiles = readdirSync(join(project, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`);
// Where the addresses of the servers are asked for.
const STACK = 'test/support/stack.ts';
const NOON = Date.UTC(2026, 10, 22, 12);

/** @returns how often a file is run, whole */
const runs = (args: string[], day = 0) => {
  const run = chooseParts(args, 'workflow', NOON + day * DAY_MS).flatMap((part) => part.args);
  return (file: string) => run.filter((arg) => file === arg || file.startsWith(`${arg}/`)).length;
};

describe('the parts of npm test', () => {
  it('run every test file once, what takes long on one of a few days, and with --all in all lanes what makes deliveries', () => {
    expect(testFiles).to.include('test/core/parts.test.ts');
    const days = Array.from({ length: TURNS }, (_, day) => runs([], day));
    const [all, timed] = [runs(['--all']), runs(['--times'])];
    const long = testFiles.filter((file) => read(file).includes(` ${BY_TURNS}`));
    expect(long).to.include('test/faults/torture.test.ts').and.to.not.include('test/core/parts.test.ts');
    for (const file of testFiles) {
      const perDay = days.map((runsOf) => runsOf(file));
      const due = perDay.filter((times) => times === 1).length;
      expect(due, file).to.equal(long.includes(file) ? 1 : TURNS);
      expect(
        perDay.every((times) => times <= 1),
        file,
      ).to.equal(true);
      expect(all(file), file).to.equal(/^test\/(e2e|faults)\//.test(file) ? 3 : 1);
      expect(timed(file), file).to.equal(perDay[0]);
    }
    expect(filesOfOtherDays(NOON)).to.have.members(long.filter((file) => days[0]?.(file) === 0));
  });

  it('have every day what the table of attacks in docs/security.md says', () => {
    const [, after = ''] = read('docs/security.md').split('\n## Attacks and what stops them\n');
    const [table = ''] = after.split('\n## ');
    const [, ...rows] = table.split('\n').filter((line) => line.startsWith('| '));
    expect(rows).to.have.length.above(40);
    for (const row of rows) {
      const [tests = '', everyDay = ''] = row.slice(2, -2).split(' | ').slice(3);
      const named = [...(everyDay === 'the same' ? tests : everyDay).matchAll(/`(test\/[^`]+)`/g)].map(
        ([, file = '']) => file,
      );
      expect(named.length > 0, row).to.equal(everyDay !== '-');
      expect(testFiles, row).to.include.members(named);
      const byTurns = named.filter((file) => read(file).includes(` ${BY_TURNS}`));
      expect(byTurns, row).to.deep.equal([]);
    }
  });

  it('deal the cases of a test to days, each to one of them, and have all when files are named', () => {
    const cases = ['a', 'b', 'c', 'd', 'e'];
    const due = [0, 1, 2].map((ahead) => dueToday(cases, 3, dayOfRun(NOON + ahead * DAY_MS).TEST_DAY));
    expect(due.flat().toSorted()).to.deep.equal(cases);
    expect(due.every(({ length }) => length > 0)).to.equal(true);
    const dayOf = (args: string[]) =>
      chooseParts(args, 'workflow', NOON).map(({ environment }) => environment.TEST_DAY);
    expect(new Set(dayOf([]))).to.deep.equal(new Set([dayOfRun(NOON).TEST_DAY]));
    for (const args of [['--all'], ['test/core']]) expect(new Set(dayOf(args))).to.deep.equal(new Set([undefined]));
    expect(dueToday(cases, 3, '')).to.deep.equal(cases);
  });

  it('show how long each file took, when asked, with the reporter that exists', () => {
    for (const args of [['--times'], ['--times', 'test/e2e', '--all']]) {
      for (const part of chooseParts(args, 'workflow', NOON)) {
        expect(part.args).to.not.include('--times');
        const reporter = part.args[part.args.indexOf('--reporter') + 1] ?? '';
        expect(existsSync(reporter), reporter).to.equal(true);
      }
    }
    for (const { args } of chooseParts([], 'workflow', NOON)) expect(args).to.not.include('--reporter');
  });

  it('of a filtered run are few, in all lanes', () => {
    const chosen = chooseParts(['--grep', 'Retry-After'], 'workflow', NOON);
    const names = chosen.map(({ name }) => name);
    expect(chosen.flatMap(({ args }) => args)).to.include.members(testFiles);
    for (const name of ['faults', 'e2e'])
      expect(names).to.include.members([name, `${name}, express`, `${name}, adaptive`]);
    expect(names.filter((name) => / \d/.test(name))).to.deep.equal([]);
  });

  it('run what a lane changes in the three lanes by turns, half of it each day, and in each again after as many turns', () => {
    const tagged = testFiles.filter((file) => new RegExp(` ${BY_LANES}['\`]`).test(read(file)));
    expect(tagged).to.not.be.empty;
    const days = [0, 1, 2].map((day) => {
      const now = NOON + day * DAY_MS;
      const wanted = lanesOfFiles(now);
      expect([...wanted.keys()]).to.have.members(tagged);
      const left = filesOfOtherDays(now);
      for (const { lane, args } of chooseParts([], 'workflow', now))
        for (const file of args) expect(wanted.get(file) ?? 'workflow', file).to.equal(lane);
      const run = chooseParts([], 'workflow', now).flatMap(({ args }) => args);
      expect(run).to.include.members(tagged.filter((file) => !left.includes(file)));
      for (const lane of new Set(wanted.values())) {
        const inLane = tagged.filter((file) => wanted.get(file) === lane);
        expect(inLane.length, lane).to.be.closeTo(tagged.length / 2, 1);
      }
      return wanted;
    });
    for (const file of tagged) {
      expect(new Set(days.map((lanes) => lanes.get(file))).size, `${file}, on three days`).to.equal(
        LANE_SETTINGS.length,
      );
      const turns = [0, 1, 2].map((turn) => lanesOfFiles(NOON + turn * TURNS * DAY_MS).get(file));
      expect(new Set(turns).size, `${file}, at three of its turns`).to.equal(LANE_SETTINGS.length);
    }
    // Who asks for the lane is run in all.
    for (const file of testFiles.filter((name) => /[({!] ?(?:inExpressLane|relayMayAttempt)\b/.test(read(name)))) {
      expect(tagged, file).to.include(file);
    }
  });

  it('without servers have no file that asks for one', () => {
    const without = chooseParts([], 'workflow', NOON).filter(({ hasStack }) => !hasStack);
    expect(without).to.not.be.empty;
    const asking = without.flatMap(({ args }) => args).filter((file) => importsOf(file).has(join(project, STACK)));
    expect(asking).to.deep.equal([]);
    expect(importsOf('test/e2e/delivery.test.ts'), 'what is looked for').to.include(join(project, STACK));
  });

  it('run named files in the lane that was chosen, or in all', () => {
    const lanes = (...args: string[]) => chooseParts(args, 'express', NOON).map(({ lane }) => lane);
    expect(lanes('test/e2e/lanes.test.ts')).to.deep.equal(['express']);
    expect(lanes('test/e2e/lanes.test.ts', '--all')).to.deep.equal(['workflow', 'adaptive', 'express']);
  });

  it('run torture in one lane by turns of the day, and with --all in all', () => {
    const lanes = (args: string[]) =>
      chooseParts(args, 'workflow', NOON).map(({ environment }) => environment.TORTURE_LANE);
    expect([...new Set(lanes([]).filter(Boolean))]).to.deep.equal([laneOfTheDay(NOON)]);
    expect(lanes(['--all']).filter(Boolean)).to.deep.equal([]);
    const turns = [0, 1, 2].map((turn) => laneOfTheDay(NOON + turn * TURNS * DAY_MS));
    expect(turns).to.have.members(['workflow', 'express', 'adaptive']);
  });
});

const read = (file: string) => readFileSync(join(project, file), 'utf8');

/** All files that a file imports, and these. */
function importsOf(file: string): Set<string> {
  const found = new Set([join(project, file)]);
  for (const path of found) {
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(
      /^(?:import|export) [^;]*?from '(\.[^']*\.ts)'/gm,
    )) {
      const imported = join(path, '..', name);
      if (existsSync(imported)) found.add(imported);
    }
  }
  return found;
}
