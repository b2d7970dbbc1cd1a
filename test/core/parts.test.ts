// The parts of `npm test`: nothing is left out.
import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BOTH_LANES, chooseParts, laneOfTheDay } from '../support/parts.ts';

const project = join(import.meta.dirname, '..', '..');
const testFiles = readdirSync(join(project, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`);
const NOON = Date.UTC(2026, 10, 22, 12);
const DAY_MS = 86_400_000;

/** How often a file is run, whole. */
const runs = (file: string, args: string[]) =>
  chooseParts(args, 'workflow', NOON)
    .filter((part) => !part.args.includes('--grep'))
    .flatMap((part) => part.args)
    .filter((arg) => file === arg || file.startsWith(`${arg}/`)).length;

describe('the parts of npm test', () => {
  it('run every test file once, and with --all in both lanes what makes deliveries', () => {
    expect(testFiles).to.include('test/core/parts.test.ts');
    for (const file of testFiles) {
      expect(runs(file, []), file).to.equal(1);
      expect(runs(file, ['--all']), file).to.equal(/^test\/(e2e|faults)\//.test(file) ? 2 : 1);
    }
  });

  it('run in the other lane what says so in its title', () => {
    const express = chooseParts([], 'workflow', NOON).filter(({ lane }) => lane === 'express');
    for (const { args } of express) expect(args.slice(-2)).to.deep.equal(['--grep', BOTH_LANES]);
    const folders = express.flatMap(({ args }) => args).filter((arg) => existsSync(join(project, arg)));
    const tagged = testFiles.filter((file) => read(file).includes(` ${BOTH_LANES}'`));
    expect(tagged).to.not.be.empty;
    for (const file of tagged)
      expect(
        folders.some((folder) => file.startsWith(folder)),
        file,
      ).to.equal(true);
    // Who asks for the lane is run in both.
    for (const file of testFiles.filter((name) => /[({!] ?inExpressLane\b/.test(read(name)))) {
      expect(tagged, file).to.include(file);
    }
  });

  it('run named files in the lane that was chosen, or in both', () => {
    const lanes = (...args: string[]) => chooseParts(args, 'express', NOON).map(({ lane }) => lane);
    expect(lanes('test/e2e/lanes.test.ts')).to.deep.equal(['express']);
    expect(lanes('test/e2e/lanes.test.ts', '--all')).to.deep.equal(['workflow', 'express']);
  });

  it('run torture in one lane by turns of the day, and with --all in both', () => {
    const lanes = (args: string[]) =>
      chooseParts(args, 'workflow', NOON).map(({ environment }) => environment.TORTURE_LANE);
    expect([...new Set(lanes([]).filter(Boolean))]).to.deep.equal([laneOfTheDay(NOON)]);
    expect(lanes(['--all']).filter(Boolean)).to.deep.equal([]);
    expect(new Set([laneOfTheDay(NOON), laneOfTheDay(NOON + DAY_MS)]).size).to.equal(2);
  });
});

const read = (file: string) => readFileSync(join(project, file), 'utf8');
