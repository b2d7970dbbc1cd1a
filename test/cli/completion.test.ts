// What the Tab key completes, in the shells themselves; those that are not on this machine are left out, but with
// `REQUIRE_SHELLS` (.ci/run).
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'hookyard-completion-'));
const BIN = join(import.meta.dirname, '..', '..', 'cli', 'hookyard.js');

/** @throws Error instead of leaving the test out with `REQUIRE_SHELLS` */
function requireShell(context: Mocha.Context, shell: string): void {
  if (!spawnSync(shell, ['--version']).error) return;
  if (process.env.REQUIRE_SHELLS) throw new Error(`${shell} is not installed`);
  console.log(`    ${shell} is not installed`);
  context.skip();
}

/** Runs a script in a shell that has read its completion. */
function inShell(context: Mocha.Context, shell: string, script: (completion: string) => string): string[] {
  requireShell(context, shell);
  const completion = spawnSync(process.execPath, [BIN, 'completion', shell], { encoding: 'utf8' });
  expect(completion, completion.stderr).to.include({ status: 0 });
  // Too long for an argument.
  const file = join(folder, shell);
  writeFileSync(file, script(completion.stdout));
  const ran = spawnSync(shell, [file], { encoding: 'utf8' });
  expect(ran, ran.stderr).to.include({ status: 0, stderr: '' });
  return ran.stdout.split(/\s+/).filter((word) => word !== '');
}

describe('the completion of hookyard', () => {
  after(() => rmSync(folder, { recursive: true, force: true }));

  const bash = (context: Mocha.Context, ...words: string[]) =>
    inShell(
      context,
      'bash',
      (completion) =>
        `${completion}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})\nCOMP_CWORD=${words.length - 1}\n_hookyard\nprintf '%s\\n' "\${COMPREPLY[@]}"`,
    );

  it('offers commands, then what follows them', function () {
    expect(bash(this, 'hookyard', 'del')).to.deep.equal(['deliveries']);
    expect(bash(this, 'hookyard', 'deliveries', 'repl')).to.have.members(['replay', 'replay-all']);
    expect(bash(this, 'hookyard', 'deliveries', 'list', '--st')).to.deep.equal(['--status']);
  });

  it('passes over options and their values', function () {
    const words = ['hookyard', '--url', 'http://127.0.0.1:1', 'deliveries', 'list', '--status', 'failed', '--fr'];
    expect(bash(this, ...words)).to.deep.equal(['--from']);
  });

  it('works in fish', function () {
    const told = inShell(
      this,
      'fish',
      (completion) => `${completion}\ncomplete -C 'hookyard deliveries replay-' | string split -f1 \\t`,
    );
    expect(told).to.deep.equal(['replay-all']);
  });

  it('works in zsh', function () {
    // What it would offer, without a terminal.
    const told = inShell(
      this,
      'zsh',
      (completion) =>
        `compdef() { :; }\ncompadd() { shift; print -l -- "$@" }\n${completion}\nwords=(hookyard deliveries '')\nCURRENT=3\n_hookyard`,
    );
    expect(told).to.include.members(['list', 'replay-all', '--help']);
  });
});
