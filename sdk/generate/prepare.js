// npm run prepare: makes the generated parts of the clients (write.ts). npm runs it after `npm ci` and `npm install`.
// Plain JavaScript, because the machine's own Node (>= 20) may run it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installedNode } from '../../local/installed-node.js';

const project = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const node = process.versions.node.startsWith('24.') ? process.execPath : installedNode(project);

if (!existsSync(node) || spawnSync(node, ['sdk/generate/write.ts'], { cwd: project, stdio: 'inherit' }).status !== 0) {
  console.log(
    'The generated client code was not created, because it requires Node 24, which npm ci installs. Run npm run prepare afterwards.',
  );
  // An installation does not fail: every npm script makes them when they are missing.
  if (!['ci', 'install'].includes(process.env.npm_command)) process.exitCode = 1;
}
