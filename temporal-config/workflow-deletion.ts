// Deletes workflows of an organization with their histories.
import { isGrpcServiceError } from '@temporalio/client';
import { organizationIdAttribute } from '../core/temporal/search-attributes.ts';
import type { InstallationClient } from './client.ts';

const PAGE_SIZE = 200;
const DEADLINE_MS = 10_000;
// The gRPC status NOT_FOUND.
const NOT_FOUND = 5;

/** One run of a workflow, named as Temporal lists it. */
export interface Execution {
  workflowId: string;
  runId: string;
}

/** Some of them. Temporal shows what was deleted for a moment longer. */
export async function workflowsOf(client: InstallationClient, organizationId: string): Promise<Execution[]> {
  const { executions } = await client.connection.withDeadline(Date.now() + DEADLINE_MS, () =>
    client.workflowService.listWorkflowExecutions({
      namespace: client.options.namespace,
      query: `${organizationIdAttribute.name} = "${organizationId}" and TaskQueue = "${client.workflowQueue}"`,
      pageSize: PAGE_SIZE,
    }),
  );
  return executions.flatMap(({ execution }) => {
    const { workflowId, runId } = execution ?? {};
    return workflowId && runId ? [{ workflowId, runId }] : [];
  });
}

/** One that runs is terminated first. One that is gone is no error. */
export async function deleteWorkflow(client: InstallationClient, { workflowId, runId }: Execution): Promise<void> {
  try {
    await client.connection.withDeadline(Date.now() + DEADLINE_MS, () =>
      client.workflowService.deleteWorkflowExecution({
        namespace: client.options.namespace,
        workflowExecution: { workflowId, runId },
      }),
    );
  } catch (error) {
    if (!isGrpcServiceError(error) || error.code !== NOT_FOUND) throw error;
  }
}
