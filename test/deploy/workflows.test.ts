import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { COLD_START_MS, goProgram } from '../support/programs/go-program.ts';

const project = join(import.meta.dirname, '..', '..');

describe('The workflows of GitHub', function () {
  this.timeout(COLD_START_MS);

  it('pass actionlint, and use no action by a name that may move', async () => {
    const pins = join(project, 'test', 'support', 'programs', 'actionlint');
    const source = 'github.com/rhysd/actionlint/cmd/actionlint';
    const program = await goProgram({ name: 'actionlint', source, pins }, 'test/deploy/workflows.test.ts');
    const files = ['ci', 'release'].map((name) => join('.github', 'workflows', `${name}.yml`));
    const { stdout } = await promisify(execFile)(program, ['-no-color', ...files], { cwd: project });
    expect(stdout).to.equal('');
    const uses = await promisify(execFile)('grep', ['-h', 'uses:', ...files], { cwd: project });
    for (const line of uses.stdout.trim().split('\n'))
      expect(line).to.match(/uses: (?:\.\/\S+|\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/);
  });
});
