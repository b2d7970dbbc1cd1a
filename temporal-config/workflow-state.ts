// What Temporal knows of a workflow, in the terms of the reconciliation.
import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import { deliveryStatusAttribute } from '../core/search-attributes.ts';

const DEADLINE_MS = 5000;

/** What Temporal knows of a workflow. */
export type Knowledge =
  /** Never started, or lost with Temporal's database, or ended longer ago than Temporal keeps histories. */
  | { state: 'unknown' }
  /** `shows`: its `DeliveryStatus`, set when a delivery stops being routine. */
  | { state: 'running'; shows: string | undefined }
  /** Ended by someone: terminated, or cancelled. */
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

function knowledgeOf({ status, typedSearchAttributes }: WorkflowExecutionDescription): Knowledge {
  switch (status.name) {
    case 'COMPLETED':
    case 'FAILED':
    case 'TIMED_OUT':
      return { state: 'ended' };
    case 'TERMINATED':
    case 'CANCELLED':
      return { state: 'stopped' };
    // Running, paused, about to go on in a new run, or something that is not known here: left alone.
    default:
      return { state: 'running', shows: typedSearchAttributes.get(deliveryStatusAttribute) };
  }
}
