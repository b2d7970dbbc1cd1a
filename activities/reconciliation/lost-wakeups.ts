// Finds and wakes everything whose scheduled wake-up was lost.
import {
  sleepingCircuits,
  wakeCircuits,
  wakeForgottenBatches,
  wakeForgottenHolds,
} from '../../db/reconciliation/lost-wakeups.ts';
import type { Repair } from '../../core/metrics/services.ts';
import { circuitWorkflowId } from '../../core/temporal/workflow-names.ts';
import { lookUp } from '../../temporal-config/workflow-state.ts';
import type { RepairDeps } from '../../temporal-config/open-deliveries.ts';

const PAGE_SIZE = 100;

/** @returns what was woken, by kind */
export async function repairLostWakeups(deps: RepairDeps): Promise<Partial<Record<Repair, string[]>>> {
  const { pool } = deps;
  return {
    'circuits woken': [...(await wakeLostCircuits(deps)), ...(await wakeForgottenHolds(pool))],
    'warehouses woken': await wakeForgottenBatches(pool),
  };
}

/** A half-open circuit waits for the next delivery and has no wake-up time, so its workflow must be running. */
async function wakeLostCircuits({ pool, client }: RepairDeps): Promise<string[]> {
  const woken: string[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const asleep: string[] = await sleepingCircuits(pool, after, PAGE_SIZE);
    const lost: string[] = [];
    for (const routeId of asleep) {
      if ((await lookUp(client, circuitWorkflowId(routeId))).state !== 'running') lost.push(routeId);
    }
    woken.push(...(await wakeCircuits(pool, lost)));
    after = asleep.length < PAGE_SIZE ? undefined : asleep.at(-1);
  }
  return woken;
}
