// Where the Temporal server, its SQL tool and its UI come from on this machine, in this order: the cache, the projects' release
// archives (checksum verified), a Go build of the versions that temporal-config/ pins.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../../core/config/cache-folder.ts';
import { type Archive, downloadArchive } from './download.ts';
import { errorCode, type Log, oneLine, phase, StartupError } from '../errors.ts';
import { buildWithGo } from './go-build.ts';

const configFolder = join(import.meta.dirname, '..', 'temporal-config');

export interface Binaries {
  server: string;
  sqlTool: string;
  ui: string;
}

/** One thing to obtain: a cache folder with its programs. */
interface Product {
  title: string;
  version: string;
  /** Name of its cache folder: product, version, system, processor. */
  folder: string;
  /** File name in the cache -> Go package that builds it. */
  programs: Record<string, string>;
  goModule: string;
  archive: Archive;
}

export interface BinariesOptions {
  /** Base of the release archives; the projects' own place by default. */
  downloadUrl?: string;
  /** Cache folder; `${XDG_CACHE_HOME:-~/.cache}/hookyard` by default. */
  cache?: string;
  /** Aborting it ends a download or a build. */
  signal?: AbortSignal;
  log: Log;
}

/**
 * Paths of the three programs, obtained first when this machine does not have them yet.
 * @throws StartupError that says what to install or to set when they cannot be obtained
 */
export async function ensureBinaries(options: BinariesOptions & { ui: boolean }): Promise<Binaries> {
  const cache = options.cache ?? cacheFolder();
  const server = await obtain(temporalServer(), cache, options);
  const ui = options.ui ? await obtain(temporalUi(), cache, options) : '';
  return {
    server: join(server, 'temporal-server'),
    sqlTool: join(server, 'temporal-sql-tool'),
    ui: join(ui, 'temporal-ui'),
  };
}

/** The version of the embedded Temporal server. */
export function temporalVersion(): string {
  return pinnedVersion(join(configFolder, 'go.mod'), 'go.temporal.io/server');
}

function temporalServer(): Product {
  const version = temporalVersion();
  return {
    title: 'the Temporal server',
    version,
    folder: `temporal-server-${version}-${process.platform}-${process.arch}`,
    programs: {
      'temporal-server': 'go.temporal.io/server/cmd/server',
      'temporal-sql-tool': 'go.temporal.io/server/cmd/tools/sql',
    },
    goModule: configFolder,
    archive: {
      path: `temporal/releases/download/v${version}/temporal_${version}_${goPlatform()}.tar.gz`,
      checksums: `temporal/releases/download/v${version}/checksums.txt`,
      members: { 'temporal-server': ['temporal-server'], 'temporal-sql-tool': ['temporal-sql-tool'] },
    },
  };
}

function temporalUi(): Product {
  const version = pinnedVersion(join(configFolder, 'ui', 'go.mod'), 'github.com/temporalio/ui-server/v2');
  return {
    title: 'the Temporal UI',
    version,
    folder: `temporal-ui-${version}-${process.platform}-${process.arch}`,
    programs: { 'temporal-ui': 'github.com/temporalio/ui-server/v2/cmd/server' },
    goModule: join(configFolder, 'ui'),
    archive: {
      path: `ui-server/releases/download/v${version}/ui-server_${version}_${goPlatform()}.tar.gz`,
      checksums: `ui-server/releases/download/v${version}/ui-server_${version}_checksums.txt`,
      members: { 'temporal-ui': ['ui-server', 'ui_server'] },
    },
  };
}

/** The version of a Go module as go.mod pins it: the one place where versions are written. */
function pinnedVersion(goMod: string, module: string): string {
  for (const line of readFileSync(goMod, 'utf8').split('\n')) {
    const [name, version] = line
      .trim()
      .replace(/^require /, '')
      .split(/\s+/);
    if (name === module && version?.startsWith('v')) return version.slice(1);
  }
  throw new Error(`${goMod} does not pin ${module}`);
}

/** System and processor as release archives and Go name them: `linux_amd64`. */
function goPlatform(): string {
  return `${process.platform}_${{ x64: 'amd64', ia32: '386' }[process.arch as string] ?? process.arch}`;
}

async function obtain(product: Product, cache: string, options: BinariesOptions): Promise<string> {
  const folder = join(cache, product.folder);
  const complete = () => Object.keys(product.programs).every((program) => existsSync(join(folder, program)));
  if (complete()) return folder;
  const unfinished = temporaryFolder(folder);
  try {
    await fill(product, unfinished, options);
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  } catch (error) {
    if (complete()) return folder; // another start was quicker
    throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

/** A folder beside the final one, so that finishing is one rename. */
function temporaryFolder(folder: string): string {
  try {
    mkdirSync(dirname(folder), { recursive: true });
    return mkdtempSync(`${folder}.unfinished-`);
  } catch (error) {
    throw new StartupError(
      `The cache folder ${dirname(folder)} cannot be written (${errorCode(error) ?? oneLine(error)}); set XDG_CACHE_HOME to a folder that can.`,
    );
  }
}

/** Downloads, or builds when the download is not possible. A wrong checksum is never worked around. */
async function fill(product: Product, folder: string, options: BinariesOptions): Promise<void> {
  const { log, signal } = options;
  const what = `${product.title} ${product.version}`;
  log(`${what} is not on this machine yet; downloading its release archive`);
  const unreachable = await phase(log, `looked for the release archive of ${what}`, () =>
    downloadArchive(product.archive, folder, { base: options.downloadUrl, signal, log }),
  );
  if (unreachable === undefined) return;
  log(
    `the release archive cannot be downloaded (${unreachable}); building ${what} with Go, which takes some minutes once`,
  );
  await phase(log, `built ${what}`, () =>
    buildWithGo({ what, module: product.goModule, programs: product.programs, folder, unreachable, signal, log }),
  );
}
