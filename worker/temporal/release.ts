// Worker versioning (https://docs.temporal.io/worker-versioning): workers of two releases run side by side, and
// Temporal gives each workflow to those of the current one. A worker of a new release makes that the current one when
// it is ready; from then on workflows continue there with their next task, and workers of the previous release finish
// what they have. One that was current before takes it back only when no worker of the current one is left: a restart
// in the middle of an upgrade changes nothing.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { NativeConnection, WorkerDeploymentOptions, WorkflowBundleOption } from '@temporalio/worker';
import type { Settings } from '../../core/config/config.ts';
import { throttled } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { PollLoop, type Pause } from '../../core/process/poll-loop.ts';
import { TASK_QUEUE, taskQueuesOf } from '../../core/temporal/names.ts';
import type { WorkerDeps } from './connect.ts';

const SOON: Pause = { ms: 1000 };
const SETTLED: Pause = { ms: 10_000 };
const DEADLINE_MS = 10_000;
const NOT_FOUND = 5;
// Of releases that were current before: WorkerDeploymentVersionStatus of temporal.api.enums.v1.
const STATUS = { DRAINING: 4, DRAINED: 5 };
// WorkerVersioningMode and TaskQueueType of temporal.api.enums.v1.
const VERSIONED = 2;
const WORKFLOW_QUEUE = 1;

export interface Release {
  deploymentName: string;
  buildId: string;
}

/**
 * The release of this worker; null: its workers are not versioned.
 * @param version of the package. With what its workflows are made of it names a release that nobody has named
 */
export function releaseOf(
  settings: Pick<Settings, 'HOOKYARD_WORKER_VERSIONING' | 'HOOKYARD_TEMPORAL_PREFIX'>,
  version: string,
  bundle: WorkflowBundleOption,
): Release | null {
  const { HOOKYARD_WORKER_VERSIONING: versioning } = settings;
  if (versioning === false) return null;
  return {
    deploymentName: deploymentNameOf(settings.HOOKYARD_TEMPORAL_PREFIX),
    buildId: versioning === true ? `${version}-${hashOf(bundle)}` : versioning,
  };
}

/** Temporal takes no dot in it. */
const deploymentNameOf = (prefix: string) => (prefix === '' ? TASK_QUEUE : `${prefix}-${TASK_QUEUE}`);

function hashOf(bundle: WorkflowBundleOption): string {
  const code = 'codePath' in bundle ? readFileSync(bundle.codePath) : bundle.code;
  return createHash('sha256').update(code).digest('hex').slice(0, 12);
}

/**
 * Options of each Temporal worker. Deliveries wait for days, so they continue with the current release instead of
 * keeping old workers alive.
 */
export function versioned(release: Release | null): { workerDeploymentOptions?: WorkerDeploymentOptions } {
  if (release === null) return {};
  return {
    workerDeploymentOptions: { version: release, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' },
  };
}

interface KeepReleaseDeps extends WorkerDeps {
  prefix: string;
  /** After so long without a request for workflows the current release has no workers left, ms. */
  silentAfterMs: number;
}

export type KeptRelease = ReturnType<typeof keepRelease>;

/**
 * Makes the release of this worker the current one, unless it was that before and workers of the current one still ask
 * for workflows. Failure policy: while Temporal is away, or does not let this client, the current one stays that
 */
export function keepRelease(deps: KeepReleaseDeps) {
  const { release, silentAfterMs, log } = deps;
  const own = release?.buildId ?? null;
  let heard: Heard | null = null;
  let isSettled = false;
  let toldOf: string | null | undefined;
  const isUnserved = () => heard !== null && heard.current !== own && isSilent(heard, performance.now(), silentAfterMs);

  async function round(): Promise<Pause> {
    const routing = await routingOf(deps).catch((error: unknown) => {
      // Nobody could ask for workflows meanwhile.
      heard = null;
      throw error;
    });
    heard = hear(heard, routing, performance.now());
    const { current } = heard;
    isSettled = current === own;
    if (isSettled) {
      toldOf = undefined;
      return SETTLED;
    }
    const { wasCurrent, isReady } = release === null ? WITHOUT_RELEASE : await lookAt(deps, release);
    const takesOver = isUnserved();
    if (wasCurrent && !takesOver) {
      if (toldOf !== current) tellOf(deps, current);
      toldOf = current;
      return SETTLED;
    }
    if (isReady) await makeCurrent(deps, takesOver);
    return SOON;
  }

  const loop = new PollLoop({
    round,
    onError(error) {
      if (!isSettled)
        throttled(log).warn({ ...release, cause: causeOf(error) }, 'the current release cannot be changed yet');
      return SOON;
    },
  });
  return {
    state: () => ({
      /** Of this worker; null: none. */
      own,
      /** What Temporal gives workflows to; null: workers without a release, or not known yet. */
      current: heard?.current ?? null,
      /** Workflows stand still: no worker of the current one asks for them, and this worker does not get them. */
      isUnserved: isUnserved(),
    }),
    stop: () => loop.stop(),
  };
}

/**
 * Who may become the current one. Temporal gives no workflow to workers without a release while there is a current one.
 */
const WITHOUT_RELEASE = { wasCurrent: true, isReady: true };

async function lookAt({ connection, namespace, taskQueue }: KeepReleaseDeps, release: Release) {
  const version = await ask(connection, () =>
    connection.workflowService.describeWorkerDeploymentVersion({ namespace, deploymentVersion: release }),
  );
  const info = version?.workerDeploymentVersionInfo;
  const polled = new Set(info?.taskQueueInfos?.map(({ name }) => name));
  return {
    wasCurrent: info?.status === STATUS.DRAINING || info?.status === STATUS.DRAINED,
    // Before all of its workers poll, tasks of some would go to nobody.
    isReady: taskQueuesOf(taskQueue).every((name) => polled.has(name)),
  };
}

function tellOf({ release, log }: KeepReleaseDeps, current: string | null): void {
  if (release === null)
    log.warn(
      { release: current },
      'Temporal assigns workflows only to workers with versioning; set HOOKYARD_WORKER_VERSIONING=on',
    );
  else
    log.warn(
      { ...release, current },
      'another release is the current one: this worker only finishes its open workflows',
    );
}

/** @param takesOver whether no worker of the one before is left */
async function makeCurrent(deps: KeepReleaseDeps, takesOver: boolean): Promise<void> {
  const { connection, namespace, release, log } = deps;
  const deploymentName = release?.deploymentName ?? deploymentNameOf(deps.prefix);
  const buildId = release?.buildId ?? '';
  const known = await describeDeployment(deps, deploymentName);
  if (known === null || known.current === buildId) return;
  const { current: before, conflictToken } = known;
  await connection.withDeadline(Date.now() + DEADLINE_MS, () =>
    connection.workflowService.setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId, conflictToken }),
  );
  const names = { deploymentName, buildId, before };
  if (takesOver)
    log.warn(names, 'workflows continue with this worker: no worker of the current release polled for them');
  else log.info(names, 'this release is now the current one: workflows continue with its workers');
}

async function describeDeployment({ connection, namespace }: KeepReleaseDeps, deploymentName: string) {
  const found = await ask(connection, () =>
    connection.workflowService.describeWorkerDeployment({ namespace, deploymentName }),
  );
  if (found === null) return null;
  const { routingConfig } = found.workerDeploymentInfo ?? {};
  return { current: routingConfig?.currentDeploymentVersion?.buildId ?? '', conflictToken: found.conflictToken };
}

async function routingOf({ connection, namespace, taskQueue }: KeepReleaseDeps): Promise<Routing> {
  const { versioningInfo, pollers } = await connection.withDeadline(Date.now() + DEADLINE_MS, () =>
    connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: WORKFLOW_QUEUE,
    }),
  );
  const current = versioningInfo?.currentDeploymentVersion?.buildId || null;
  const asked = (pollers ?? []).filter(({ deploymentOptions: worker }) =>
    worker?.workerVersioningMode === VERSIONED ? worker.buildId === current : current === null,
  );
  const times = asked.map(
    ({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 + (lastAccessTime?.nanos ?? 0) / 1e6,
  );
  return { current, askedAt: Math.max(0, ...times) };
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

export interface Routing {
  /** The release that gets workflows; null: workers without a release. */
  current: string | null;
  /** When one of its workers asked for workflows last, ms of Temporal's clock; 0: not in the last minutes. */
  askedAt: number;
}

export interface Heard extends Routing {
  /** When this process learned of it, ms of its own clock. */
  since: number;
}

/** @param before null: nothing is known */
export function hear(before: Heard | null, routing: Routing, now: number): Heard {
  const isKnown = before?.current === routing.current && routing.askedAt <= before.askedAt;
  return isKnown ? before : { ...routing, since: now };
}

/** Whether no worker of the current release has asked for workflows for so long. */
export const isSilent = ({ since }: Heard, now: number, afterMs: number): boolean => now - since >= afterMs;
