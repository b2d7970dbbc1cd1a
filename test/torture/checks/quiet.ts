// Waiting until nothing is under way any more, and what is still under way when that takes too long: it is stuck.
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Pool } from '../../../db/connections/pool.ts';
import { type Problem, problems } from './problems.ts';

const LOOK_AGAIN_MS = 1000;

/** What must be empty in the end: name, statement for the ids of what is left. */
const LEFT: [what: string, statement: string][] = [
  ['rows in the outbox', 'select delivery_id as id from outbox'],
  ['held deliveries', 'select delivery_id as id from held_deliveries'],
  ['open deliveries', `select id from deliveries where status in ('pending', 'retrying', 'circuit_open')`],
  ['pending events', `select id from events where status = 'pending'`],
  ['circuits not closed', `select route_id as id from circuits where state <> 'closed' or wake_at is not null`],
  ['messages not sent', 'select id from messages where (content is not null and sent_at is null) or due_at <= now()'],
  ['batches not written', `select id from warehouse_batches where status not in ('written', 'failed')`],
  ['replays not ended', 'select id from event_replays where finished_at is null'],
];

export interface QuietOptions {
  pool: Pool;
  temporal: Client;
  deadlineMs: number;
  signal: AbortSignal;
  /** Hears from time to time how much is left. */
  onWait: (what: string) => void;
  /** Sends a webhook to a route: without one, a half-open circuit that holds nothing has nothing to probe with. */
  knock: (routeId: string) => void;
}

/** Waits until nothing is left and the workflows that run are those that should. @returns what is stuck */
export async function untilQuiet(options: QuietOptions): Promise<Problem[]> {
  const { pool, temporal, deadlineMs, signal, onWait } = options;
  const giveUpAt = performance.now() + deadlineMs;
  for (;;) {
    const left = await Promise.all([
      leftInDatabase(pool),
      wrongWorkflows(pool, temporal),
      knockAtCircuits(options),
    ]).then(
      ([rows, workflows]) => [...rows, ...workflows],
      // The last server may still be on its way up.
      (error: unknown) => problems('stuck', `nothing can be read (${String(error)})`, ['']),
    );
    if (left.length === 0) return [];
    if (signal.aborted || performance.now() > giveUpAt) return left;
    onWait(left.map(({ what, count }) => `${count} ${what}`).join(', '));
    await pause(LOOK_AGAIN_MS);
  }
}

async function leftInDatabase(pool: Pool): Promise<Problem[]> {
  const found: Problem[] = [];
  for (const [what, statement] of LEFT) {
    const { rows } = await pool.query<{ id: string }>(statement);
    found.push(
      ...problems(
        'stuck',
        what,
        rows.map((row) => row.id),
      ),
    );
  }
  return found;
}

/** A failed delivery's workflow stays open for a replay, each of them and no other. */
async function wrongWorkflows(pool: Pool, temporal: Client): Promise<Problem[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from deliveries where status in ('failed', 'pending', 'retrying', 'circuit_open')`,
  );
  const rowsWithWorkflow = new Set(rows.map((row) => row.id));
  const deliveries: string[] = [];
  const others: string[] = [];
  const running = temporal.workflow.list({
    query: `ExecutionStatus = 'Running' and WorkflowType in ('circuit', 'delivery', 'message', 'replay', 'warehouseFlush')`,
  });
  for await (const { workflowId, type } of running) (type === 'delivery' ? deliveries : others).push(workflowId);
  const isRunning = new Set(deliveries);
  return [
    ...problems(
      'stuck',
      'workflows of deliveries that have ended',
      deliveries.filter((id) => !rowsWithWorkflow.has(id)),
    ),
    ...problems(
      'stuck',
      'failed or open deliveries without their workflow',
      [...rowsWithWorkflow].filter((id) => !isRunning.has(id)),
    ),
    ...problems('stuck', 'other workflows that run although there is nothing to do', others),
  ];
}

async function knockAtCircuits({ pool, knock }: QuietOptions): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    `select route_id as id from circuits c where state = 'half_open' and probe_delivery_id is null
       and not exists (select from held_deliveries h where h.route_id = c.route_id)`,
  );
  for (const { id } of rows) knock(id);
}
