// What a worker keeps right in Temporal: the API key of its connection, the search attributes of the namespace, and the
// schedules.
import { type Client, ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import type { NativeConnection } from '@temporalio/worker';
import { type Log, throttled } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { every, type Pause, PollLoop } from '../../core/process/poll-loop.ts';
import { searchAttributeNames, TASK_QUEUE } from '../../core/temporal/names.ts';
import type { TemporalConnection } from '../../temporal-config/client.ts';
import { ensureNamespace, lookAtNamespace } from '../../temporal-config/namespace.ts';

const KEY_EVERY_MS = 1000;
const ATTRIBUTES_EVERY_MS = 10_000;
const BETWEEN_SCHEDULES: Pause = { ms: 30_000 };
const DEADLINE_MS = 3000;

/**
 * Tells a connection when the file of the key holds another, because the SDK keeps the one that it was made with.
 * Requests from then on have that.
 * @param first what the connection was made with
 */
export function keepApiKey(
  connection: NativeConnection,
  { currentApiKey }: Pick<TemporalConnection, 'currentApiKey'>,
  first: string | undefined,
  log: Log,
): PollLoop | undefined {
  if (currentApiKey === undefined) return undefined;
  let told = first;
  return every(
    KEY_EVERY_MS,
    async () => {
      const key = currentApiKey();
      if (key === told) return;
      await connection.setApiKey(key);
      told = key;
      log.info('reloaded the Temporal API key from its file');
    },
    (error) => throttled(log).warn({ cause: causeOf(error) }, 'failed to reload the Temporal API key; trying again'),
  );
}

export type AttributeWatch = Awaited<ReturnType<typeof watchAttributes>>;

/**
 * Whether the namespace has the search attributes. Without them deliveries continue: workflows start without, are found
 * by their ids only, and failed deliveries do not wait in Temporal for a replay. When they appear, later workflows
 * carry them again. Resolves after the first look. Failure policy: while Temporal is away, what was known last stays;
 * nothing can be started then.
 */
export async function watchAttributes(connection: NativeConnection, namespace: string, log: Log) {
  let missing = false;
  let hasNamespace = true;

  async function look(): Promise<boolean> {
    const state = await connection.withDeadline(Date.now() + DEADLINE_MS, () => lookAtNamespace(connection, namespace));
    hasNamespace = state !== 'unknown';
    // An unknown one is made again, with its attributes.
    if (hasNamespace) found(state === 'bare');
    return !missing;
  }

  function found(now: boolean): void {
    if (now && !missing)
      log.warn(
        { namespace, searchAttributes: searchAttributeNames },
        'the Temporal namespace lacks search attributes: workflows start without them',
      );
    if (!now && missing) log.info({ namespace }, 'the Temporal namespace now has its search attributes');
    missing = now;
  }

  await look().catch(() => undefined);
  const loop = every(
    ATTRIBUTES_EVERY_MS,
    async () => {
      if (missing) await look();
    },
    () => {},
  );
  return {
    get missing() {
      return missing;
    },
    /** Whether Temporal knows the namespace, as of the last look. */
    get hasNamespace() {
      return hasNamespace;
    },
    look,
    stop: () => loop.stop(),
  };
}

/** Each runs a workflow of this type without overlap; `atOnce`: also when the schedule is created. */
const SCHEDULES = [
  { scheduleId: 'hookyard-maintenance', workflowType: 'maintenance', everyMs: 300_000, atOnce: false },
  // A schedule is missing where Temporal has lost its database.
  { scheduleId: 'hookyard-reconciliation', workflowType: 'reconcile', everyMs: 120_000, atOnce: true },
];

function optionsOf({ scheduleId, workflowType, everyMs, atOnce }: (typeof SCHEDULES)[number]): ScheduleOptions {
  return {
    scheduleId,
    spec: { intervals: [{ every: everyMs }] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: everyMs },
    action: { type: 'startWorkflow', workflowType, taskQueue: TASK_QUEUE, workflowId: workflowType },
    state: { triggerImmediately: atOnce },
  };
}

async function ensureSchedule(client: Client, options: ScheduleOptions): Promise<void> {
  try {
    await client.schedule.create(options);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}

export type KeptSchedules = ReturnType<typeof keepSchedules>;

// Names of gRPC statuses.
const REFUSALS = ['PERMISSION_DENIED', 'UNAUTHENTICATED'];

/**
 * Schedules: housekeeping and the comparison of PostgreSQL with Temporal, shared by all workers. Those that do not
 * exist are created, and the namespace too, because Temporal may lose its database. Failure policy: without schedules
 * only housekeeping and repairs wait; deliveries continue.
 */
export function keepSchedules(client: Client, connection: NativeConnection, log: Log) {
  const { namespace } = client.options;
  let refusal: string | null = null;

  async function look(): Promise<Pause> {
    try {
      for (const schedule of SCHEDULES) await ensureSchedule(client, optionsOf(schedule));
      refusal = null;
      return BETWEEN_SCHEDULES;
    } catch (error) {
      if (!(error instanceof NamespaceNotFoundError)) throw error;
      log.warn({ namespace }, 'the Temporal namespace does not exist; creating it again');
      await ensureNamespace(connection, namespace, (details) =>
        log.warn({ details }, 'Temporal refused to set up the namespace'),
      );
      return { ms: 0 };
    }
  }

  const loop = new PollLoop({
    round: look,
    onError(error) {
      const cause = causeOf(error);
      refusal = cause.system === 'temporal' && REFUSALS.includes(cause.code ?? '') ? cause.details : null;
      throttled(log).warn({ cause }, 'failed to create schedules; trying again');
      return BETWEEN_SCHEDULES;
    },
  });
  return {
    /**
     * What Temporal has refused, in its words; null: nothing. A key that may not make schedules may not work on tasks
     * either.
     */
    get refusal() {
      return refusal;
    },
    stop: () => loop.stop(),
  };
}
