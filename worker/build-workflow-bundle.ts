// Makes the bundle of the workflow code: `node worker/build-workflow-bundle.ts <file>`. Run by the first worker that needs it.
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FAILURE_CONVERTER } from '../temporal-config/payload-codec.ts';
import { bundleWorkflowCode, type Logger, type WorkflowBundleWithSourceMap } from '@temporalio/worker';

/** Bundles `workflows/index.ts` in this process. */
export function bundleNow(logger?: Logger): Promise<WorkflowBundleWithSourceMap> {
  const workflowsPath = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));
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
