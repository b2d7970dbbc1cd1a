// Programs of servers that are the machine's own; nothing is downloaded here.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

// Not in everyone's PATH.
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/local/sbin'];

/** @returns the path of a program; undefined: it is not installed */
export function machineProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...SYSTEM_FOLDERS];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Leaves a test out when something is not on this machine, and says so.
 * @param reason how to install it; null: it is there
 * @param variable with which it must be there (.ci/run)
 * @throws Error instead of leaving it out
 */
export function leaveOutWithout(reason: string | null, variable: string, context: Mocha.Context): void {
  if (reason === null) return;
  if (process.env[variable]) throw new Error(reason);
  console.log(`    ${reason}`);
  context.skip();
}
