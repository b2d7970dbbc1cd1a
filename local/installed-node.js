// The Node 24 that comes as the npm package `node`. Plain JavaScript, because the machine's own Node (>= 20) runs it.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** @param project the folder of Hookyard @returns its path, whether it is there or not */
export function installedNode(project) {
  const linked = join(project, 'node_modules', '.bin', 'node');
  if (existsSync(linked)) return linked;
  try {
    // Beside this package, where it was installed with others.
    return join(dirname(createRequire(join(project, 'package.json')).resolve('node/package.json')), 'bin', 'node');
  } catch {
    return linked;
  }
}
