// Removes what deleted organizations leave, in PostgreSQL and in Temporal, in the background and at half speed (background-steps.ts).
// PostgreSQL first: what is left there would start workflows again.
import { eachOf } from '../core/fairness/each-of.ts';
import type { Log } from '../core/process/log.ts';
import { causeOf } from '../core/process/log-cause.ts';
import {
  type Deletion,
  dueDeletions,
  noteEmptied,
  noteTried,
  removeOfOrganization,
  removeOrganization,
} from '../db/organizations/deletion.ts';
import type { Pool } from '../db/connections/pool.ts';
import type { InstallationClient } from '../temporal-config/client.ts';
import { deleteWorkflow, workflowsOf } from '../temporal-config/workflow-deletion.ts';
import { repeat, ROUND_MS, tellOfFailure } from './background-steps.ts';

const CONCURRENT_DELETIONS = 10;

export interface OrganizationDeletionDeps {
  pool: Pool;
  client: InstallationClient;
  log: Log;
}

/**
 * One round of some seconds. It begins with the organizations that have waited longest, so that neither one whose deletion fails
 * nor a very large one holds up the others.
 * @returns true when there is more to do right now. An organization is looked at once more after a while, before its row goes
 * @throws the first error, when nothing else is to be done now: what failed is tried again later
 */
export async function finishOrganizations(deps: OrganizationDeletionDeps): Promise<boolean> {
  const until = performance.now() + ROUND_MS;
  const errors: unknown[] = [];
  let hasMore = false;
  for (const deletion of await dueDeletions(deps.pool)) {
    // More are left.
    hasMore ||= performance.now() > until;
    if (hasMore) break;
    const { organizationId } = deletion;
    await noteTried(deps.pool, organizationId);
    try {
      hasMore = await removeAll(deps, deletion, until);
    } catch (error) {
      deps.log.warn(
        { organizationId, cause: causeOf(error) },
        'the deletion of an organization failed; it is tried again',
      );
      errors.push(error);
    }
  }
  // The one that is thrown is told of by the caller.
  const untold = hasMore ? errors : errors.slice(1);
  for (const error of untold) await tellOfFailure(deps, 'organizations', error);
  if (errors.length > 0 && !hasMore) throw errors[0];
  return hasMore;
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
  if (client.attributes.missing) {
    log.warn({ organizationId }, 'workflows of a deleted organization cannot be found without search attributes');
  } else if (await repeat(async () => found(await removeWorkflows(client, organizationId)), until, log)) return true;
  if (isLastLook && isEmpty) {
    await removeOrganization(pool, organizationId);
    log.info({ organizationId, eventsRemoved }, 'everything of a deleted organization has been removed');
  } else await noteEmptied(pool, organizationId);
  return false;
}

/** Running or closed, with their histories; a running one is ended by that. @returns false: there was none */
async function removeWorkflows(client: InstallationClient, organizationId: string): Promise<boolean> {
  const executions = await workflowsOf(client, organizationId);
  await eachOf(executions, CONCURRENT_DELETIONS, (execution) => deleteWorkflow(client, execution));
  return executions.length > 0;
}
