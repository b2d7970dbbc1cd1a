// Wakes the workflows of circuits, and starts those that do not run: whoever changes a circuit says so in its row
// (db/circuits.ts), so no change is lost with the process that made it.
import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { Log } from '../core/log.ts';
import { summaryLine } from '../core/operator-markdown.ts';
import { claimDueCircuits, type DueCircuit } from '../db/circuits.ts';
import type { Pool } from '../db/pool.ts';
import type { circuit } from '../workflows/circuit.ts';
import { circuitChanged } from '../workflows/messages.ts';
import { circuitWorkflowId, TASK_QUEUE } from '../core/workflow-names.ts';
import { organizationIdAttribute, routeIdAttribute } from '../core/search-attributes.ts';

// How often circuits are looked for without having heard of any, and at most: a workflow gets no more than 5 signals a second.
const LOOK_EVERY_MS = 1000;
const SHORTEST_REST_MS = 200;
const MAX_PER_LOOK = 100;

export interface CircuitWatch {
  /** Tells that a circuit has changed. */
  nudge(): void;
  stop(): Promise<void>;
}

/** Failure policy: while the database or Temporal is away, circuits wait; a claim that led to nothing lapses. */
export function watchCircuits({ pool, client, log }: { pool: Pool; client: Client; log: Log }): CircuitWatch {
  let stopping = false;
  let news = true;
  let wake: () => void = () => undefined;

  async function run(): Promise<void> {
    while (!stopping) {
      news = false;
      try {
        const due = await claimDueCircuits(pool, MAX_PER_LOOK);
        const woken = await Promise.allSettled(due.map((each) => wakeCircuit(client, each)));
        for (const outcome of woken) if (outcome.status === 'rejected') throw outcome.reason;
        if (due.length === MAX_PER_LOOK) news = true;
      } catch (error) {
        log.warn({ error: String(error) }, 'circuits wait: the database or Temporal is away');
      }
      const rested = performance.now();
      await rest(news ? SHORTEST_REST_MS : LOOK_EVERY_MS);
      const early = SHORTEST_REST_MS - (performance.now() - rested);
      if (early > 0 && !stopping) await rest(early);
    }
  }

  function rest(ms: number): Promise<void> {
    if (stopping) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const ended = run();
  return {
    nudge() {
      news = true;
      wake();
    },
    async stop() {
      stopping = true;
      wake();
      await ended;
    },
  };
}

/** Signals the workflow of a circuit, starting it when it does not run. */
async function wakeCircuit(client: Client, { routeId, organizationId, routeName }: DueCircuit): Promise<void> {
  await client.workflow.signalWithStart<typeof circuit>('circuit', {
    workflowId: circuitWorkflowId(routeId),
    taskQueue: TASK_QUEUE,
    args: [{ routeId }],
    signal: circuitChanged,
    staticSummary: summaryLine(`Circuit breaker of ${routeName ?? 'a deleted route'}`),
    typedSearchAttributes: new TypedSearchAttributes([
      { key: organizationIdAttribute, value: organizationId },
      { key: routeIdAttribute, value: routeId },
    ]),
  });
}
