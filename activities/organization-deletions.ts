// Removes what deleted organizations leave, in PostgreSQL and in Temporal, in the background and at half speed (background-steps.ts).
// PostgreSQL first: what is left there would start workflows again.
import type { Client } from '@temporalio/client';
import { eachOf } from '../core/each-of.ts';
import type { Log } from '../core/log.ts';
import {
  type Deletion,
  dueDeletions,
  noteEmptied,
  removeOfOrganization,
  removeOrganization,
} from '../db/organizations/deletion.ts';
import type { Pool } from '../db/pool.ts';
import { deleteWorkflow, workflowsOf } from '../temporal-config/workflow-deletion.ts';
import { repeat, ROUND_MS } from './background-steps.ts';

const CONCURRENT_DELETIONS = 10;

export interface OrganizationDeletionDeps {
  pool: Pool;
  client: Client;
  log: Log;
}

/**
 * One round of some seconds.
 * @returns true when there is more to do right now. An organization is looked at once more after a while, before its row goes
 * @throws the first error, after the others have been tried, as far as there was time: one that fails does not stop them
 */
export async function finishOrganizations(deps: OrganizationDeletionDeps): Promise<boolean> {
  const until = performance.now() + ROUND_MS;
  const errors: unknown[] = [];
  for (const deletion of await dueDeletions(deps.pool)) {
    try {
      if (await removeAll(deps, deletion, until)) return true;
    } catch (error) {
      errors.push(error);
      if (performance.now() > until) break;
    }
  }
  if (errors.length > 0) throw errors[0];
  return false;
}

/** @returns true when time ran out */
async function removeAll({ pool, client, log }: OrganizationDeletionDeps, deletion: Deletion, until: number) {
  const { organizationId, eventsRemoved, isLastLook } = deletion;
  let isEmpty = true;
  const found = (some: boolean) => {
    if (some) isEmpty = false;
    return some;
  };
  if (await repeat(async () => found(await removeOfOrganization(pool, organizationId)), until, log)) return true;
  if (await repeat(async () => found(await removeWorkflows(client, organizationId)), until, log)) return true;
  if (isLastLook && isEmpty) {
    await removeOrganization(pool, organizationId);
    log.info({ organizationId, eventsRemoved }, 'everything of a deleted organization has been removed');
  } else await noteEmptied(pool, organizationId);
  return false;
}

/** Running or closed, with their histories; a running one is ended by that. @returns false: there was none */
async function removeWorkflows(client: Client, organizationId: string): Promise<boolean> {
  const executions = await workflowsOf(client, organizationId);
  await eachOf(executions, CONCURRENT_DELETIONS, (execution) => deleteWorkflow(client, execution));
  return executions.length > 0;
}
