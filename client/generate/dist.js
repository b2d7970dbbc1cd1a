// npm run prepare: compiles the client into client/dist, for programs outside of this project: Node runs no TypeScript in their
// node_modules. npm runs it after `npm ci` and `npm install` here, and before it packs, or hands the project to another as a git
// dependency. Plain JavaScript, because the machine's own Node (>= 20) may run it.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const client = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = resolve(process.argv[2] ?? join(client, 'dist'));
const compiler = findCompiler();

if (compiler === null) {
  console.log(
    'client/dist is not built: typescript is not installed, as with --omit=dev. Only programs that import hookyard/client need it.',
  );
} else {
  rmSync(folder, { recursive: true, force: true });
  const { status } = spawnSync(process.execPath, [compiler, '-p', client, '--outDir', folder], { stdio: 'inherit' });
  // An installation does not fail for it: the service and the command line need it not.
  const isInstalling = ['ci', 'install'].includes(process.env.npm_command);
  if (status !== 0)
    console.log('client/dist is not built, see above. Only programs that import hookyard/client need it.');
  if (status !== 0 && !isInstalling) process.exitCode = 1;
}

function findCompiler() {
  try {
    return join(createRequire(import.meta.url).resolve('typescript/package.json'), '..', 'bin', 'tsc');
  } catch {
    return null;
  }
}
