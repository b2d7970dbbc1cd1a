// npm run release:version, in a clone that is thrown away.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

const project = join(import.meta.dirname, '..', '..');

describe('npm run release:version', () => {
  const clone = mkdtempSync(join(tmpdir(), 'hookyard-version-'));
  after(() => rmSync(clone, { recursive: true }));
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: clone, encoding: 'utf8', stdio: 'pipe' });
  const version = (...args: string[]) => run(process.execPath, 'release/version.ts', ...args);

  it('gives all parts the version, dates the changelog, and its check finds a part that has another', () => {
    run('git', 'clone', '--quiet', '--local', project, '.');
    symlinkSync(join(project, 'node_modules'), join(clone, 'node_modules'));
    expect(() => version('--check', '9.8.7')).to.throw(/CHANGELOG/);
    version('9.8.7');
    version('--check', '9.8.7');
    expect(version('--notes', '9.8.7')).to.include('**Receiving**').and.not.include('\n## ');
    expect(run('git', 'diff', '--name-only').split('\n')).to.include.members([
      'CHANGELOG.md',
      'deploy/helm/hookyard/Chart.yaml',
      'docs/openapi.json',
      'package-lock.json',
      'package.json',
    ]);
    expect(run('git', 'diff', '--unified=0').match(/^\+.*9\.8\.7/gm)).to.have.lengthOf.above(10);
    expect(run('grep', '-h', '^VERSION', 'sdk/python/src/hookyard/_operations.py')).to.include('9.8.7');
    run('git', 'checkout', '--quiet', 'deploy');
    expect(() => version('--check', '9.8.7')).to.throw(/Chart\.yaml/);
  });
});
