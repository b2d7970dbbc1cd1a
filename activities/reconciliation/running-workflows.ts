// Workflows of deliveries that run although nothing is left to do: their delivery was deleted, replayed or ended, and the signal
// to them was lost. Only those of this installation are looked at.
import { type Notice, noticesFor } from '../../db/reconciliation/reconciliation.ts';
import { deliveryStatusAttribute } from '../../core/temporal/search-attributes.ts';
import { withoutPrefix } from '../../core/temporal/workflow-names.ts';
import type { InstallationClient } from '../../temporal-config/client.ts';
import { type Send, sendAll, signalWorkflow } from '../../temporal-config/workflow-signals.ts';
import type { ReconcileDeps } from './index.ts';

const PAGE_SIZE = 500;
const CONCURRENT_SIGNALS = 10;
const DEADLINE_MS = 10_000;
const QUERY = 'WorkflowType = "delivery" and ExecutionStatus = "Running"';

/**
 * Goes through one page of the running workflows of deliveries.
 * @param page token of the page, from the page before; null: the first
 * @returns the deliveries whose workflow was signalled to end, and the token of the next page
 */
export async function endNeedless(
  { pool, client }: ReconcileDeps,
  page: string | null,
): Promise<{ signalled: string[]; next: string | null }> {
  const { running, next } = await listRunning(client, page);
  const signalled: string[] = [];
  const sends = (await noticesFor(pool, running)).map(
    (notice): Send =>
      async () => {
        if (await send(client, notice)) signalled.push(notice.deliveryId);
      },
  );
  await sendAll(sends, CONCURRENT_SIGNALS);
  return { signalled, next };
}

/** A workflow whose delivery has ended is signalled to attempt: it then finds out how the delivery ended, and shows that. */
function send(client: InstallationClient, notice: Notice): Promise<boolean> {
  const { deliveryId } = notice;
  if (notice.says === 'gone') return signalWorkflow(client, deliveryId, 'cancel');
  if (notice.says === 'replayed') return signalWorkflow(client, deliveryId, 'replay', notice.replayedAs);
  return signalWorkflow(client, deliveryId, 'retryNow');
}

async function listRunning(
  client: InstallationClient,
  page: string | null,
): Promise<{ running: { deliveryId: string; shows: string | null }[]; next: string | null }> {
  const { executions, nextPageToken } = await client.connection.withDeadline(Date.now() + DEADLINE_MS, () =>
    client.workflowService.listWorkflowExecutions({
      namespace: client.options.namespace,
      query: `${QUERY} and TaskQueue = "${client.workflowQueue}"`,
      pageSize: PAGE_SIZE,
      nextPageToken: page === null ? undefined : Buffer.from(page, 'base64'),
    }),
  );
  return {
    running: executions.flatMap(({ execution, searchAttributes }) => {
      const deliveryId = withoutPrefix(client.prefix, execution?.workflowId ?? '');
      if (!deliveryId) return [];
      const shows = searchAttributes?.indexedFields?.[deliveryStatusAttribute.name]?.data;
      return [{ deliveryId, shows: shows ? String(JSON.parse(Buffer.from(shows).toString())) : null }];
    }),
    next: nextPageToken.length === 0 ? null : Buffer.from(nextPageToken).toString('base64'),
  };
}
