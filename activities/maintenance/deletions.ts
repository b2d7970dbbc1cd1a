// Removes what deleted sources, destinations and organizations leave, in the background, in steps and at half speed:
// after every step it rests for as long as the step took, so that at most one connection and half of its time are spent
// on it, however slow the machine is.
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { cancelOfDeletedDestination } from '../../db/delivery/deletions.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { isOfRows, isTransientDatabaseError } from '../../db/connections/database-errors.ts';
import { nextPurge, purgeStep, type PurgeStep } from '../../db/operations/source-purges.ts';
import { countFailure } from '../../db/operations/expired.ts';
import { eachOf } from '../../core/fairness/concurrency.ts';
import {
  type Deletion,
  dueDeletions,
  noteEmptied,
  noteTried,
  removeOfOrganization,
  removeOrganization,
} from '../../db/organizations/deletion.ts';
import type { InstallationClient } from '../../temporal-config/client.ts';
import { isGrpcServiceError } from '@temporalio/client';
import { listWorkflows } from '../../temporal-config/workflows.ts';
import { organizationIdAttribute } from '../../core/temporal/names.ts';

const TELL_EVERY = 100_000;

/**
 * One round of some seconds.
 * @returns true when there is more to do right now; failures are logged and counted before it returns or throws
 * @throws a database error that a retry does not fix, or one that keeps coming, when nothing else is to be done now
 */
export async function finishDeletions(pool: Pool, log: Log): Promise<boolean> {
  const errors: unknown[] = [];
  let hasMore = false;
  const fail = (error: unknown, id?: string) => {
    log.warn({ id, cause: causeOf(error) }, 'failed to finish a deletion; trying again');
    errors.push(error);
  };
  // One after the other, and each of them has its time.
  for (const step of [cancelStep, removeStep]) {
    // What has failed is left out for the rest of the round, so that it keeps no other deletion waiting.
    const failed = new Map<string, unknown>();
    try {
      hasMore = (await repeat(() => step(pool, log, failed), performance.now() + ROUND_MS / 2, log)) || hasMore;
    } catch (error) {
      fail(error);
    }
    for (const [id, error] of failed) fail(error, id);
  }
  return endRound({ pool, log }, 'deletions', errors, hasMore);
}

/** @throws the first error when nothing else is to be done now: the caller tells of it */
async function endRound(
  deps: { pool: Pool; log: Log },
  part: string,
  errors: unknown[],
  hasMore: boolean,
): Promise<boolean> {
  for (const error of hasMore ? errors : errors.slice(1)) await tellOfFailure(deps, part, error);
  if (errors.length > 0 && !hasMore) throw errors[0];
  return hasMore;
}

type Step = (pool: Pool, log: Log, failed: Map<string, unknown>) => Promise<boolean>;

const cancelStep: Step = async (pool, log, failed) => {
  const step = await cancelOfDeletedDestination(pool, failed);
  if (step === null) return false;
  // It may only have removed what the queue still held of deliveries that have ended.
  if (step.cancelled > 0) log.info(step, 'deliveries to a deleted destination were cancelled');
  return true;
};

const removeStep: Step = async (pool, log, failed) => {
  const sourceId = await nextPurge(pool, [...failed.keys()]);
  if (sourceId === null) return false;
  try {
    tellOfPurge(await purgeStep(pool, sourceId), log);
  } catch (error) {
    if (!isOfRows(error)) throw error;
    failed.set(sourceId, error);
  }
  return true;
};

function tellOfPurge(step: PurgeStep | null, log: Log): void {
  if (step === null) return;
  const { finished, eventsRemovedNow, ...progress } = step;
  const { eventsRemoved } = progress;
  const told = (events: number) => Math.floor(events / TELL_EVERY);
  if (finished) log.info(progress, 'all records of a deleted source were removed');
  else if (told(eventsRemoved) > told(eventsRemoved - eventsRemovedNow))
    log.info(progress, 'records of a deleted source are being removed');
}

const CONCURRENT_DELETIONS = 10;

export interface OrganizationDeletionDeps {
  pool: Pool;
  client: InstallationClient;
  log: Log;
}

/**
 * One round of some seconds. It begins with the organizations that have waited longest, so that neither one whose
 * deletion fails nor a very large one holds up the others.
 * @returns true when there is more to do right now. An organization is looked at once more after a while, before its
 * row goes
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
      deps.log.warn({ organizationId, cause: causeOf(error) }, 'failed to delete an organization; trying again');
      errors.push(error);
    }
  }
  return endRound(deps, 'organizations', errors, hasMore);
}

/** In PostgreSQL first: what is left there would start workflows again. @returns true when time ran out */
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
    log.info({ organizationId, eventsRemoved }, 'all records of a deleted organization were removed');
  } else await noteEmptied(pool, organizationId);
  return false;
}

/** Running or closed, with their histories; a running one is ended by that. @returns false: there was none */
async function removeWorkflows(client: InstallationClient, organizationId: string): Promise<boolean> {
  const executions = await workflowsOf(client, organizationId);
  await eachOf(executions, CONCURRENT_DELETIONS, (execution) => deleteWorkflow(client, execution));
  return executions.length > 0;
}

const PAGE_SIZE = 200;
const DELETION_DEADLINE_MS = 10_000;
// The gRPC status NOT_FOUND.
const NOT_FOUND = 5;

interface Execution {
  workflowId: string;
  runId: string;
}

/** Some of them. Temporal shows what was deleted for a moment longer. */
async function workflowsOf(client: InstallationClient, organizationId: string): Promise<Execution[]> {
  const query = `${organizationIdAttribute.name} = "${organizationId}"`;
  const { executions } = await listWorkflows(client, query, PAGE_SIZE);
  return executions.flatMap(({ execution }) => {
    const { workflowId, runId } = execution ?? {};
    return workflowId && runId ? [{ workflowId, runId }] : [];
  });
}

/** One that runs is terminated first. One that is gone is no error. */
async function deleteWorkflow(client: InstallationClient, { workflowId, runId }: Execution): Promise<void> {
  try {
    await client.connection.withDeadline(Date.now() + DELETION_DEADLINE_MS, () =>
      client.workflowService.deleteWorkflowExecution({
        namespace: client.options.namespace,
        workflowExecution: { workflowId, runId },
      }),
    );
  } catch (error) {
    if (!isGrpcServiceError(error) || error.code !== NOT_FOUND) throw error;
  }
}

const ROUND_MS = 20_000;
// After a deadlock with the statements that record results, or while the database is down.
const ERROR_PAUSE_MS = 1000;
// What keeps failing for longer is left for a later round, so that other work of this one is done.
const MOST_FAILURES = 3;

/**
 * @param step returns whether it did something
 * @param until by the monotonic clock, ms
 * @returns true when time ran out before `step` was finished
 * @throws what `step` throws; a transient error of the database when it comes again and again, or when time has run out
 */
async function repeat(step: () => Promise<boolean>, until: number, log: Log): Promise<boolean> {
  for (let failures = 0; ; ) {
    const began = performance.now();
    try {
      if (!(await step())) return false;
      failures = 0;
    } catch (error) {
      failures += 1;
      if (!isTransientDatabaseError(error) || failures >= MOST_FAILURES || performance.now() > until) throw error;
      log.warn({ cause: causeOf(error) }, 'a deletion step failed; trying again');
      await delay(ERROR_PAUSE_MS);
    }
    if (performance.now() > until) return true;
    await delay(performance.now() - began);
  }
}

export async function tellOfFailure(deps: { pool: Pool; log: Log }, part: string, error: unknown): Promise<void> {
  const { pool, log } = deps;
  log.error({ part, cause: causeOf(error) }, 'a housekeeping task failed; trying again within five minutes');
  // It may have failed because the database is away.
  await countFailure(pool, part, error).catch((reason: unknown) =>
    log.warn({ part, cause: causeOf(reason) }, 'failed to count a failed housekeeping task'),
  );
}
