// hookyard start: all of Hookyard on this machine, by the package hookyard-server or, in a checkout, as npm start does.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { isPackage } from '../../core/config/folders.ts';
import { VERSION } from '../context.ts';
import { CliError, EXIT } from '../errors.ts';

const project = join(import.meta.dirname, '..', '..');

export function addStart(program: Command): void {
  program
    .command('start')
    .description('Run Hookyard on this machine: PostgreSQL, Temporal, API, worker and console')
    .addHelpText(
      'after',
      `
Outside a checkout, npx runs the hookyard-server package of the same version, from this folder, a global installation or the registry.`,
    )
    .action(async () => {
      // Ctrl-C reaches both processes; npx passes on what only this one is sent.
      if (isPackage)
        console.error(
          `hookyard: starting hookyard-server ${VERSION}; npx downloads it first if needed, which takes a few minutes`,
        );
      const [program = '', ...args] = isPackage
        ? ['npx', '--yes', `hookyard-server@${VERSION}`]
        : [process.execPath, join(project, 'local', 'bootstrap.js'), 'local/main.ts'];
      const child = spawn(program, args, { stdio: 'inherit' });
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
      const [code, signal] = await once(child, 'exit').catch((error: Error) => {
        throw new CliError(EXIT.unavailable, `${program} cannot be run: ${error.message}`);
      });
      process.exitCode = signal ? 128 + constants.signals[signal as NodeJS.Signals] : code;
    });
}
