// One measurement of the bare delivery workflow.
import { once } from 'node:events';
import type { Stack } from '../../local/stack.ts';
import { startProcess } from '../support/processes.ts';
import type { BareOrder, BareResult } from './worker.ts';

/** Runs the bare workflow in a process of its own. @returns what it reached after the warm-up */
export async function measureBare(stack: Stack, order: BareOrder): Promise<BareResult> {
  const worker = await startProcess('bench/bare/worker.ts', {
    TEMPORAL_ADDRESS: stack.temporalAddress,
    TEMPORAL_NAMESPACE: stack.namespace,
  });
  worker.child.send(order);
  const exited = once(worker.child, 'exit');
  const [result] = await once(worker.child, 'message');
  await exited;
  return result as BareResult;
}
