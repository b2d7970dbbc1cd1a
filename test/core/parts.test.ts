// The parts of `npm test`: nothing is left out.
import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALSO_IN_EXPRESS, chooseParts } from '../support/parts.ts';

const project = join(import.meta.dirname, '..', '..');
const testFiles = readdirSync(join(project, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`);
// Where the addresses of the servers are asked for.
const STACK = 'test/support/stack.ts';

describe('the parts of npm test', () => {
  it('run every test file once but for test/long, and some in the lane express as well', () => {
    for (const args of [[], ['--grep', 'Retry-After']]) {
      const parts = chooseParts(args);
      const filesIn = (lane: string) => parts.filter((part) => part.lane === lane).flatMap(({ files }) => files);
      expect(filesIn('workflow')).to.have.members(testFiles.filter((file) => !file.startsWith('test/long/')));
      expect(filesIn('express')).to.have.members(ALSO_IN_EXPRESS);
    }
    expect(testFiles).to.include.members(ALSO_IN_EXPRESS);
  });

  it('run named files in the lane that was chosen', () => {
    const [part, ...others] = chooseParts(['test/e2e/lanes.test.ts'], 'adaptive');
    expect(part).to.deep.include({ lane: 'adaptive', files: ['test/e2e/lanes.test.ts'] });
    expect(others).to.deep.equal([]);
  });

  it('without servers have no file that asks for one', () => {
    const without = chooseParts([]).filter(({ hasStack }) => !hasStack);
    expect(without).to.not.be.empty;
    const asking = without.flatMap(({ files }) => files).filter((file) => importsOf(file).has(join(project, STACK)));
    expect(asking).to.deep.equal([]);
    expect(importsOf('test/e2e/delivery.test.ts'), 'what is looked for').to.include(join(project, STACK));
  });
});

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
