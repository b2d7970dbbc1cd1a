// Programs in Go that tests need: a go.mod pins them, and they are built once into the cache folder.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildWithGo } from '../../../local/temporal/go-build.ts';
import { cacheFolder, fillOnce } from './cache-folder.ts';

const log = (line: string) => console.log(`[test set-up] ${line}`);

/**
 * How long a hook may take that needs such a program: nothing is on the machine yet, and it builds on one slow core.
 */
export const COLD_START_MS = 20 * 60_000;

/**
 * The path of a program, built first if need be.
 * @param pins the folder of the go.mod and go.sum
 * @param without what can be left out where there is no Go
 */
export async function goProgram(
  { name, source, pins }: { name: string; source: string; pins: string },
  without: string,
): Promise<string> {
  const hash = createHash('sha256')
    .update(readFileSync(join(pins, 'go.sum')))
    .digest('hex')
    .slice(0, 12);
  const folder = join(cacheFolder, `test-${name}-${hash}-${process.platform}-${process.arch}`);
  await fillOnce(folder, `built ${name}`, log, (unfinished) => {
    log(`${name} is not on this machine yet; building it with Go, which takes some minutes once`);
    return buildWithGo({
      what: name,
      module: pins,
      programs: { [name]: source },
      folder: unfinished,
      unreachable: 'the tests build it',
      otherwise: `or leave out ${without}`,
      log,
    });
  });
  return join(folder, name);
}
