// Worker versioning (https://docs.temporal.io/worker-versioning): workers of two releases run side by side, and Temporal gives each
// workflow to those of the current one. A worker of a new release makes that the current one when it is ready; from then on workflows
// continue there with their next task, and workers of the release before finish what they have. One that was current before never takes
// it back by itself: a restart in the middle of an upgrade changes nothing.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { NativeConnection, WorkerDeploymentOptions, WorkflowBundleOption } from '@temporalio/worker';
import type { Settings } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { causeOf } from '../core/log-cause.ts';
import { throttled } from '../core/throttled-log.ts';
import { TASK_QUEUE, taskQueuesOf } from '../core/workflow-names.ts';
import { type Watch, watch } from './watch.ts';

const LOOK_EVERY_MS = 1000;
const DEADLINE_MS = 10_000;
// The gRPC status NOT_FOUND.
const NOT_FOUND = 5;
// Of releases that were current before: WorkerDeploymentVersionStatus of temporal.api.enums.v1.
const STATUS = { DRAINING: 4, DRAINED: 5 };

export interface Release {
  deploymentName: string;
  buildId: string;
}

/**
 * The release of this worker; null: its workers are not versioned.
 * @param version of the package. With what its workflows are made of it names a release that nobody has named
 */
export function releaseOf(
  settings: Pick<Settings, 'HOOKYARD_WORKER_VERSIONING' | 'HOOKYARD_BUILD_ID' | 'HOOKYARD_TEMPORAL_PREFIX'>,
  version: string,
  bundle: WorkflowBundleOption,
): Release | null {
  if (!settings.HOOKYARD_WORKER_VERSIONING) return null;
  return {
    deploymentName: deploymentNameOf(settings.HOOKYARD_TEMPORAL_PREFIX),
    buildId: settings.HOOKYARD_BUILD_ID ?? `${version}-${hashOf(bundle)}`,
  };
}

/** Temporal takes no dot in it. */
const deploymentNameOf = (prefix: string) => (prefix === '' ? TASK_QUEUE : `${prefix}-${TASK_QUEUE}`);

function hashOf(bundle: WorkflowBundleOption): string {
  const code = 'codePath' in bundle ? readFileSync(bundle.codePath) : bundle.code;
  return createHash('sha256').update(code).digest('hex').slice(0, 12);
}

/** Options of each Temporal worker. Deliveries wait for days, so they continue with the current release instead of keeping old workers alive. */
export function versioned(release: Release | null): { workerDeploymentOptions?: WorkerDeploymentOptions } {
  if (release === null) return {};
  return {
    workerDeploymentOptions: { version: release, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' },
  };
}

export interface KeepReleaseDeps {
  connection: NativeConnection;
  namespace: string;
  /** Of the installation. */
  prefix: string;
  /** Of the installation's workflows. */
  taskQueue: string;
  /** Null: the workers of this process are not versioned. */
  release: Release | null;
  log: Log;
}

/**
 * Makes the release of this worker the current one, unless it was that before.
 * Failure policy: while Temporal is away, or does not let this client, the release before stays the current one
 */
export function keepRelease(deps: KeepReleaseDeps): Watch {
  const { release, log } = deps;
  let isDone = false;
  const look = () => (release === null ? tellOfAnother(deps) : makeCurrent(deps, release));
  return watch(
    async () => {
      if (!isDone) isDone = await look();
      return false;
    },
    {
      everyMs: LOOK_EVERY_MS,
      onError(error) {
        // One that is not versioned only wanted to know.
        if (release === null) isDone = true;
        else
          throttled(log).warn({ ...release, cause: causeOf(error) }, 'this release cannot be made the current one yet');
      },
    },
  );
}

/** @returns whether there is nothing left to do */
async function makeCurrent(deps: KeepReleaseDeps, release: Release): Promise<boolean> {
  const { connection, namespace, log } = deps;
  const { deploymentName, buildId } = release;
  const known = await describeDeployment(deps, deploymentName);
  if (known === null) return false;
  const { current, conflictToken } = known;
  if (current === buildId) return true;
  const { workflowService } = connection;
  const version = await ask(connection, () =>
    workflowService.describeWorkerDeploymentVersion({ namespace, deploymentVersion: release }),
  );
  const info = version?.workerDeploymentVersionInfo;
  if (info?.status === STATUS.DRAINING || info?.status === STATUS.DRAINED) {
    log.warn({ ...release, current }, 'another release is the current one: this worker finishes what it has');
    return true;
  }
  // Before all of its workers poll, tasks of some would go to nobody.
  const polled = new Set(info?.taskQueueInfos?.map(({ name }) => name));
  if (!taskQueuesOf(deps.taskQueue).every((name) => polled.has(name))) return false;
  await workflowService.setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId, conflictToken });
  log.info({ ...release, before: current }, 'this release is the current one: workflows continue with its workers');
  return true;
}

/** Temporal gives no workflow to workers without a release while there is a current one. */
async function tellOfAnother(deps: KeepReleaseDeps): Promise<true> {
  const known = await describeDeployment(deps, deploymentNameOf(deps.prefix));
  if (known?.current)
    deps.log.warn(
      { release: known.current },
      'Temporal gives workflows to workers of a release only: set HOOKYARD_WORKER_VERSIONING=on',
    );
  return true;
}

async function describeDeployment({ connection, namespace }: KeepReleaseDeps, deploymentName: string) {
  const found = await ask(connection, () =>
    connection.workflowService.describeWorkerDeployment({ namespace, deploymentName }),
  );
  if (found === null) return null;
  const { routingConfig } = found.workerDeploymentInfo ?? {};
  const current = routingConfig?.currentDeploymentVersion?.buildId || null;
  return { current, conflictToken: found.conflictToken };
}

/** @returns null when Temporal knows none by that name */
async function ask<T>(connection: NativeConnection, call: () => Promise<T>): Promise<T | null> {
  try {
    return await connection.withDeadline(Date.now() + DEADLINE_MS, call);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === NOT_FOUND) return null;
    throw error;
  }
}
