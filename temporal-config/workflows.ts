// Workflows as Temporal knows them: signals to those of deliveries, their state in the terms of the reconciliation, and
// their deletion. PostgreSQL holds the state behind signals, so a lost one costs little.
import type { Priority } from '@temporalio/common';
import {
  type Client,
  isGrpcServiceError,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { InstallationClient } from './client.ts';
import { eachOf } from '../core/fairness/concurrency.ts';
import type { ReplayedDelivery } from '../db/replay/replay.ts';
import { deliveryStatusAttribute } from '../core/temporal/names.ts';

const DEADLINE_MS = 5000;
// The gRPC status INVALID_ARGUMENT.
const REFUSED = 3;

export type Send = () => Promise<unknown>;

/** @returns false when it does not run (any more) @throws when Temporal cannot be reached within 5 s */
export async function signalWorkflow(
  client: Client,
  id: string,
  name: 'retryNow' | 'cancel' | 'replay' | 'release',
  ...args: string[]
): Promise<boolean> {
  try {
    await client.connection.withDeadline(Date.now() + DEADLINE_MS, () =>
      client.workflow.getHandle(id).signal(name, ...args),
    );
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

export function isRefusal(error: unknown): boolean {
  return error instanceof Error && isGrpcServiceError(error.cause) && error.cause.code === REFUSED;
}

export function replayedSignals(client: Client, replays: ReplayedDelivery[]): Send[] {
  return replays.flatMap(({ id, replacesFailed }) =>
    replacesFailed === null ? [] : [() => signalWorkflow(client, replacesFailed, 'replay', id)],
  );
}

/** Sends signals with limited concurrency. @throws when one cannot be sent; the others were sent all the same */
export async function sendAll(sends: Send[], concurrency: number): Promise<void> {
  await eachOf(sends, concurrency, (send) => send());
}

const LIST_DEADLINE_MS = 10_000;

/** A page of the workflows of this installation that a query finds. */
export function listWorkflows(client: InstallationClient, query: string, pageSize: number, nextPageToken?: Buffer) {
  return client.connection.withDeadline(Date.now() + LIST_DEADLINE_MS, () =>
    client.workflowService.listWorkflowExecutions({
      namespace: client.options.namespace,
      query: `${query} and TaskQueue = "${client.workflowQueue}"`,
      pageSize,
      nextPageToken,
    }),
  );
}

export interface Running {
  state: 'running';
  /** Its `DeliveryStatus`, set when a delivery stops being routine. */
  shows: string | undefined;
  /** A worker has, or is about to get, an activity or a task of it: it waits for no signal. */
  isBusy: boolean;
  /** It has asked for an activity, which any worker may be making. A local activity is none. */
  hasActivity: boolean;
}

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

// Tasks of workflows and their activities take turns by organization in Temporal's queues (Temporal documentation,
// "Task Queue Priority and Fairness"). Activities have the key of their workflow. The server needs
// `matching.enableFairness` (dynamic-config.yaml); without it the key has no effect.

export const fairnessOf = (organizationId: string): { priority: Priority } => ({
  priority: { fairnessKey: organizationId },
});
