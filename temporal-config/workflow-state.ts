// The state of a workflow in Temporal, in the terms of the reconciliation.
import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import { deliveryStatusAttribute } from '../core/temporal/search-attributes.ts';

const DEADLINE_MS = 5000;

/** A workflow that has not ended. */
export interface Running {
  state: 'running';
  /** Its `DeliveryStatus`, set when a delivery stops being routine. */
  shows: string | undefined;
  /** A worker has, or is about to get, an activity or a task of it: it waits for no signal. */
  isBusy: boolean;
  /** It has asked for an activity, which any worker may be making. A local activity is none. */
  hasActivity: boolean;
}

/** The state of a workflow in Temporal. */
export type Knowledge =
  /** Never started, or lost with Temporal's database, or ended longer ago than Temporal keeps histories. */
  | { state: 'unknown' }
  | Running
  /** Ended from outside: terminated, or cancelled. */
  | { state: 'stopped' }
  /** Ended by itself. */
  | { state: 'ended' };

/** @throws when Temporal cannot be reached within 5 s, or does not have the namespace */
export async function lookUp(client: Client, workflowId: string): Promise<Knowledge> {
  try {
    return knowledgeOf(
      await client.connection.withDeadline(Date.now() + DEADLINE_MS, () =>
        client.workflow.getHandle(workflowId).describe(),
      ),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { state: 'unknown' };
    throw error;
  }
}

function knowledgeOf({ status, typedSearchAttributes, raw }: WorkflowExecutionDescription): Knowledge {
  switch (status.name) {
    case 'COMPLETED':
    case 'FAILED':
    case 'TIMED_OUT':
      return { state: 'ended' };
    case 'TERMINATED':
    case 'CANCELLED':
      return { state: 'stopped' };
    // Running, paused, continuing as new, or an unknown status: not touched.
    default:
      return {
        state: 'running',
        shows: typedSearchAttributes.get(deliveryStatusAttribute),
        isBusy: Boolean(raw.pendingActivities?.length || raw.pendingWorkflowTask),
        hasActivity: Boolean(raw.pendingActivities?.length),
      };
  }
}
