// The bundle of the workflow code, as the worker runs it and as replay tests load it.
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type Logger, type WorkflowBundleWithSourceMap } from '@temporalio/worker';

/** Bundles `workflows/index.ts`; takes about a second. */
export function bundleWorkflows(logger?: Logger): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)),
    // Loaded once for all workflows instead of once for each.
    preloadModules: ['@temporalio/workflow'],
    logger,
  });
}
