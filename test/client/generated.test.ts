// @hookyard/client, as a program of another project has it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildClient } from '../../release/npm-packages.ts';

const project = join(import.meta.dirname, '..', '..');

describe('The built client', () => {
  // Another project, in whose node_modules it is.
  const other = mkdtempSync(join(tmpdir(), 'hookyard-client-'));
  const installed = join(other, 'node_modules', '@hookyard', 'client');
  const dist = join(installed, 'dist');
  const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: other, encoding: 'utf8' });
  before(() => {
    mkdirSync(installed, { recursive: true });
    buildClient(installed);
  });
  after(() => rmSync(other, { recursive: true }));

  it('imports nothing but itself', () => {
    const imported = readdirSync(dist)
      .filter((name) => name.endsWith('.js'))
      .flatMap((name) => [...readFileSync(join(dist, name), 'utf8').matchAll(/\bfrom '([^']+)'|\bimport\(/g)])
      .map(([, from]) => from);
    expect(new Set(imported)).to.deep.equal(
      new Set(['./api.js', './errors.js', './http.js', './stream.js', './webhooks.js']),
    );
  });

  it('is what a program of another project imports', () => {
    const program = join(other, 'program.mjs');
    writeFileSync(
      program,
      `import { createClient, HookyardError } from '@hookyard/client';
      const call = createClient({ url: 'http://127.0.0.1:1', maxRetries: 0 }).listRoutes();
      await call.catch((error) => console.log(error instanceof HookyardError, error.code));`,
    );
    expect(run(program)).to.equal('true UNREACHABLE\n');
  });

  it('has declarations', () => {
    const program = join(other, 'program.ts');
    writeFileSync(
      program,
      `import { createClient, type Route } from '@hookyard/client';
      export const route: Promise<Route> = createClient({ url: 'http://127.0.0.1:1' }).getRoute({ id: 'rte_1' });
      // @ts-expect-error: no such parameter
      createClient({ url: 'http://127.0.0.1:1' }).getRoute({ name: 'x' });`,
    );
    writeFileSync(join(other, 'package.json'), '{"type":"module"}');
    const tsc = join(project, 'node_modules', 'typescript', 'bin', 'tsc');
    run(tsc, '--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', program);
  });
});
