// Tasks of workflows and their activities take turns by organization in Temporal's queues (Temporal documentation, "Task Queue
// Priority and Fairness"). Activities have the key of their workflow. The server needs `matching.enableFairness`
// (dynamic-config.yaml); without it the key has no effect.
import type { Priority } from '@temporalio/common';

/** An option of a workflow's start. */
export const inTurnOf = (organizationId: string): { priority: Priority } => ({
  priority: { fairnessKey: organizationId },
});
