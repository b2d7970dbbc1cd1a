// Wakes the workflows of circuits, and starts those that do not run. Every change of a circuit is noted in its row
// (db/circuits/circuits.ts), so no change is lost with the process that made it.
import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { isId } from '../core/ids.ts';
import type { Log } from '../core/log.ts';
import { causeOf } from '../core/log-cause.ts';
import { summaryLine } from '../core/operator-markdown.ts';
import { PollLoop, type Rest } from '../core/poll-loop.ts';
import { destinationIdAttribute, organizationIdAttribute, routeIdAttribute } from '../core/search-attributes.ts';
import { settleAll } from '../core/settle-all.ts';
import { throttled } from '../core/throttled-log.ts';
import { circuitWorkflowId, TASK_QUEUE } from '../core/workflow-names.ts';
import { claimDueCircuits, type DueCircuit } from '../db/circuits/wake-ups.ts';
import type { Pool } from '../db/connections/pool.ts';
import { inTurnOf } from '../temporal-config/fairness.ts';
import type { circuit } from '../workflows/circuit.ts';
import { circuitChanged } from '../workflows/messages.ts';
import { sharedRest } from './watch.ts';

// Temporal takes about 5 signals a second for one workflow, so polls are at least this far apart, nudged or not.
const SHORTEST_REST_MS = 200;
const REST_MS = 1000;
const MORE_IS_DUE: Rest = { ms: SHORTEST_REST_MS };
const MAX_PER_LOOK = 100;

/** Call it when a circuit has changed. */
type CircuitWatch = Pick<PollLoop, 'nudge' | 'stop'>;

interface CircuitWatchDeps {
  pool: Pool;
  client: Client;
  /** How many workers are alive. */
  workers: () => number;
  log: Log;
}

/** Failure policy: while the database or Temporal is away, circuits wait; a claim without a signal expires. */
export function watchCircuits({ pool, client, workers, log }: CircuitWatchDeps): CircuitWatch {
  const rest = (): Rest => ({ ms: sharedRest(REST_MS, workers()), nudgedMs: SHORTEST_REST_MS });
  return new PollLoop({
    async round() {
      const due = await claimDueCircuits(pool, MAX_PER_LOOK);
      await settleAll(due.map((each) => wakeCircuit(client, each)));
      return due.length === MAX_PER_LOOK ? MORE_IS_DUE : rest();
    },
    onError(error) {
      throttled(log).warn({ cause: causeOf(error) }, 'circuits wait: checking them failed');
      return rest();
    },
  });
}

/** Signals the workflow of a circuit, or of a paused destination, starting it when it does not run. */
async function wakeCircuit(client: Client, { routeId, organizationId, name }: DueCircuit): Promise<void> {
  const isRoute = isId('rte', routeId);
  await client.workflow.signalWithStart<typeof circuit>('circuit', {
    workflowId: circuitWorkflowId(routeId),
    taskQueue: TASK_QUEUE,
    args: [{ organizationId, routeId }],
    ...inTurnOf(organizationId),
    signal: circuitChanged,
    staticSummary: summaryLine(
      isRoute ? `Circuit breaker of ${name ?? 'a deleted route'}` : `Pause of ${name ?? 'a deleted destination'}`,
    ),
    typedSearchAttributes: new TypedSearchAttributes([
      { key: organizationIdAttribute, value: organizationId },
      { key: isRoute ? routeIdAttribute : destinationIdAttribute, value: routeId },
    ]),
  });
}
