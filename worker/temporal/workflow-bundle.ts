// The bundle of the workflow code, as the worker runs it and as replay tests load it. Building it takes seconds and 150
// MiB, so it is built once per version of the code, in a separate process (`node workflow-bundle.ts <file>`), and
// cached in node_modules.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  bundleWorkflowCode,
  type Logger,
  type WorkflowBundleOption,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { FAILURE_CONVERTER } from '../../temporal-config/payload-codec.ts';

const project = join(import.meta.dirname, '..', '..');
const cache = join(project, 'node_modules', '.cache', 'hookyard');
/** In an installed package: made when it was packed. */
const packed = join(project, 'workflow-bundle.js');
const BUILD_DEADLINE_MS = 120_000;

/**
 * The bundle of `workflows/index.ts`.
 * Failure policy: where the cache cannot be written (a read-only image), the bundle is built in memory at every start.
 */
export async function bundleWorkflows(logger?: Logger): Promise<WorkflowBundleOption> {
  if (existsSync(packed)) return { codePath: packed };
  const codePath = join(cache, `workflows-${versionOfCode()}.js`);
  if (existsSync(codePath)) return { codePath };
  try {
    await promisify(execFile)(process.execPath, [fileURLToPath(import.meta.url), codePath], {
      timeout: BUILD_DEADLINE_MS,
    });
    return { codePath };
  } catch (error) {
    logger?.debug('building the workflow bundle in memory', { error });
    return bundleNow(logger);
  }
}

/** A hash of all inputs of the bundle: the code that workflows may import, and the packages. */
function versionOfCode(): string {
  const hash = createHash('sha256');
  for (const folder of ['workflows', 'core']) {
    const files = readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    for (const name of files.toSorted()) hash.update(name).update(readFileSync(join(project, folder, name)));
  }
  for (const name of [
    'package-lock.json',
    'package.json',
    'worker/temporal/workflow-bundle.ts',
    'temporal-config/failure-converter.ts',
  ]) {
    const file = join(project, name);
    // An image may have no lock file; its packages never change.
    if (existsSync(file)) hash.update(readFileSync(file));
  }
  return hash.digest('hex').slice(0, 16);
}

function bundleNow(logger?: Logger): Promise<WorkflowBundleWithSourceMap> {
  const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));
  return bundleWorkflowCode({
    workflowsPath,
    failureConverterPath: FAILURE_CONVERTER,
    // Loaded once for all workflows instead of once for each; these modules have no state.
    preloadModules: ['@temporalio/workflow', workflowsPath],
    logger,
  });
}

/** Several workers may make the same bundle at once: each writes its own file and renames it into place. */
async function build(file: string): Promise<void> {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true });
  const { code } = await bundleNow();
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, code);
  renameSync(temporary, file);
  // Bundles of other workflow code; running workers have already read theirs.
  const outdated = readdirSync(folder).filter((name) => /^workflows-\w+\.js$/.test(name) && name !== basename(file));
  for (const name of outdated) rmSync(join(folder, name), { force: true });
}

const [, script, file] = process.argv;
if (script === fileURLToPath(import.meta.url) && file !== undefined) await build(file);
