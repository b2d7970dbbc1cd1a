// npm run prepare: makes the generated parts of the clients (write.ts), then compiles client/ into client/dist for programs outside of
// this project: Node runs no TypeScript in their node_modules. npm runs it after `npm ci` and `npm install` here, and before it packs, or
// hands the project to another as a git dependency. Plain JavaScript, because the machine's own Node (>= 20) may run it.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installedNode } from '../../local/installed-node.js';

const project = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const folder = resolve(process.argv[2] ?? join(project, 'client', 'dist'));
// An installation does not fail: whatever needs the files says so, or makes them.
const isInstalling = ['ci', 'install'].includes(process.env.npm_command);

if (!run('sdk/generate/write.ts'))
  end(
    'The generated parts of the clients are not made: they need Node 24, which npm ci brings. Run npm run prepare then.',
  );
else if (findCompiler() === null)
  end(
    'client/dist is not built without typescript, as with --omit=dev. Only programs that import hookyard/client need it.',
    0,
  );
else {
  rmSync(folder, { recursive: true, force: true });
  if (!run(findCompiler(), '-p', join(project, 'client'), '--outDir', folder))
    end('client/dist is not built, see above. Only programs that import hookyard/client need it.');
}

function run(script, ...args) {
  const own = process.versions.node.startsWith('24.') ? process.execPath : installedNode(project);
  return existsSync(own) && spawnSync(own, [script, ...args], { cwd: project, stdio: 'inherit' }).status === 0;
}

function findCompiler() {
  try {
    return join(createRequire(import.meta.url).resolve('typescript/package.json'), '..', 'bin', 'tsc');
  } catch {
    return null;
  }
}

function end(line, code = 1) {
  console.log(line);
  if (!isInstalling) process.exitCode = code;
}
