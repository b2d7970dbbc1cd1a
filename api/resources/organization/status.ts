// Health probes: `/healthz` says that this process is alive, `/readyz` that it should get webhooks.
import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { type Lane, LANES } from '../../../core/delivery/delivery.ts';
import { CachedProbe } from '../../../core/process/poll-loop.ts';
import { type Pool, takesWrites } from '../../../db/connections/pool.ts';
import { countLanes } from '../../../db/hot-path/shards.ts';
import { lookAtNamespace } from '../../../temporal-config/namespace.ts';
import type { Settings } from '../../../core/config/config.ts';
import type { Tuning } from '../../../core/config/tuning.ts';
import { causeOf } from '../../../core/process/log-cause.ts';
import { type Log, throttled } from '../../../core/process/log.ts';
import { databaseTime } from '../../../db/sql/rules.ts';
import { type RetentionLag, retentionLag } from '../../../db/operations/retention.ts';
import { type InstallationStatus, readInstallation } from '../../../db/operations/status.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import type { DoorState } from '../../ingest/backlog.ts';
import type { ApiRouter } from '../../request/context.ts';
import { ApiError } from '../../request/errors.ts';
import type { Described } from '../../request/operation.ts';
import { parseQuery } from '../../request/validation.ts';
import { requireOperator } from '../../auth/auth.ts';
import { booleanParam } from '../../request/query.ts';
import { component, count, flag, idOf, text, timestamp, withExample } from '../values.ts';

const PROBE_DEADLINE_MS = 2000;
// The plain probe only reports Temporal: load balancers give probes little time, often half a second.
const PATIENCE_MS = 100;
const LACKS_ATTRIBUTES = 'lacks search attributes';

const readySchema = z.object({
  deep: z
    .enum(['', 'true', 'false'], { error: 'must be true, false or empty (empty means true)' })
    .transform((text) => text !== 'false')
    .meta({
      override: { type: 'string', enum: ['', 'true', 'false'] },
      description: 'Whether readiness also requires that Temporal is reachable and `ingest` is not `full`.',
    })
    .optional(),
});

const ingestState = z
  .enum(['open', 'partly_full', 'full'])
  .describe(
    '`full`: all webhooks are refused with 503. `partly_full`: only webhooks for organizations or destinations that have used up their share are refused.',
  );
const temporalState = z
  .enum(['ok', 'away'])
  .describe('Whether Temporal is reachable. While it is `away`, webhooks are accepted, but their deliveries may wait.');

const well = component('Well', { status: z.literal('ok') });

const ready = component('Ready', {
  status: z.literal('ok'),
  ingest: withExample(ingestState, 'open'),
  temporal: withExample(temporalState, 'ok'),
  lanes: z
    .object({
      workflow: withExample(z.int().min(0), 1),
      express: withExample(z.int().min(0), 0),
    })
    .describe(
      'The number of workers, by their default lane. Present only with `deep`. With `HOOKYARD_LANE=adaptive`, `express` counts workers whose workflows have fallen behind.',
    )
    .optional(),
});

const probe = { tag: 'Service', family: 'public', method: 'get' } as const;

export const healthOperations: Described[] = [
  {
    ...probe,
    path: '/healthz',
    operationId: 'isAlive',
    summary: 'Check liveness',
    description: 'Does not check PostgreSQL or Temporal.',
    answer: { description: 'The process is alive.', schema: well },
    errors: { 500: ['INTERNAL_ERROR'] },
  },
  {
    ...probe,
    path: '/readyz',
    operationId: 'isReady',
    summary: 'Check readiness',
    description:
      'Ready when PostgreSQL is reachable and writable, and the process is not shutting down. The result is cached for half a second.',
    query: readySchema,
    answer: { description: 'The process is ready.', schema: ready },
    errors: { 400: ['VALIDATION_ERROR'], 500: ['INTERNAL_ERROR'], 503: ['NOT_READY'] },
  },
];

export interface HealthDeps {
  ending: () => boolean;
  ingestState: () => DoorState;
  database: CachedProbe;
  temporal: CachedProbe;
  searchAttributes: CachedProbe;
  /** How many workers take deliveries in each lane; undefined when that is not known. */
  lanes: Pick<CachedProbe<Record<Lane, number> | undefined>, 'within'>;
}

/** Whether the namespace in Temporal has them; null when that is not known. */
function hasSearchAttributes(found: string | null | undefined): boolean | null {
  if (found === null) return true;
  return found === LACKS_ATTRIBUTES ? false : null;
}

/**
 * A process is ready when it can store a webhook. Failure policy: neither an unreachable Temporal, which ingest does
 * not need, nor a full backlog, which every other process shares, makes a process unready. The answer reports both;
 * with `deep` both count, and the lanes of the workers are reported.
 */
export function mountHealth(router: ApiRouter, { ending, ingestState, database, temporal, lanes }: HealthDeps): void {
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    const { deep = false } = parseQuery(ctx, readySchema);
    if (ending()) throw notReady('this process is shutting down; requests are served until it exits');
    const [stores, delivers, lanesInUse] = await Promise.all([
      database.within(PROBE_DEADLINE_MS),
      temporal.within(deep ? PROBE_DEADLINE_MS : PATIENCE_MS),
      deep ? lanes.within(PROBE_DEADLINE_MS) : undefined,
    ]);
    const ingest = ingestState();
    const problems = [problemOf('the database', stores)];
    if (deep) problems.push(problemOf('Temporal', delivers), ingest === 'full' ? 'ingest is full' : null);
    const found = problems.filter((problem) => problem !== null);
    if (found.length > 0) throw notReady(found.join('; '));
    // No answer yet: the last result is used.
    const last = delivers === undefined ? temporal.last : delivers;
    ctx.body = { status: 'ok', ingest, temporal: last === null ? 'ok' : 'away', lanes: lanesInUse };
  });
}

/** Uses the pool of ingest: other pools may be busy without ingest being affected. */
export function lookAtDatabase(ingestPool: Pool): CachedProbe {
  return new CachedProbe(async () => {
    return (await takesWrites(ingestPool, PROBE_DEADLINE_MS)) ? null : 'does not accept writes';
  });
}

export function lookAtTemporal({ connection, workflowService }: Client): CachedProbe {
  return new CachedProbe(async () => {
    await connection.withDeadline(Date.now() + PROBE_DEADLINE_MS, () => workflowService.getSystemInfo({}));
    return null;
  });
}

/** What it finds wrong: the Temporal namespace lacks search attributes, so workflows carry none. */
export function lookAtSearchAttributes({ connection, options }: Client): CachedProbe {
  return new CachedProbe(async () => {
    const until = Date.now() + PROBE_DEADLINE_MS;
    const state = await connection.withDeadline(until, () => lookAtNamespace(connection, options.namespace));
    return state === 'complete' ? null : LACKS_ATTRIBUTES;
  });
}

export const lookAtLanes = (pool: Pool): HealthDeps['lanes'] =>
  new CachedProbe<Record<Lane, number> | undefined>(
    () => countLanes(pool),
    () => undefined,
  );

function problemOf(server: string, problem: string | null | undefined): string | null {
  if (problem === undefined) return `${server} did not respond within ${PROBE_DEADLINE_MS / 1000} s`;
  return problem && `${server} ${problem}`;
}

function notReady(why: string): ApiError {
  return new ApiError(503, 'NOT_READY', `Not ready: ${why}`);
}

const statusSchema = z.object({
  organizations: booleanParam.describe('Whether to list the organizations with the largest backlogs (up to 100).'),
});

const waiting = {
  due: count.describe('Deliveries waiting for a worker.'),
  retrying: count.describe('Deliveries waiting for a retry.'),
  held: count.describe('Deliveries held by an open circuit breaker or a pause.'),
  inFiles: count.describe('Deliveries waiting for a warehouse batch.'),
  inOrder: count.describe('Deliveries waiting for an earlier delivery with the same ordering key.'),
  oldestDueAt: timestamp.nullable().describe('When the oldest delivery in `due` was created.'),
};

const keptDays = withExample(count.nullable(), 30, 'The retention period, in days. Null if unlimited.');
const retained = z.object({
  keptDays,
  lagDays: count.describe('The number of days whose data is overdue for removal.'),
});

const status = component('InstallationStatus', {
  version: text('0.1.0', 'The version of the process that handled the request.'),
  at: timestamp,
  ingest: ingestState,
  temporal: temporalState,
  searchAttributes: withExample(
    z.boolean().nullable(),
    true,
    'Whether the Temporal namespace has the search attributes that the Temporal UI needs to find deliveries. Null if unknown.',
  ),
  database: z
    .enum(['ok', 'away'])
    .describe('Whether PostgreSQL is reachable. While it is `away`, the metrics from the database are null.'),
  limits: z
    .object({ waitingDeliveries: count.nullable(), databaseBytes: count.nullable() })
    .describe(
      "The installation's limits: `HOOKYARD_MAX_BACKLOG` and `HOOKYARD_MAX_DATABASE_BYTES`. Null if unlimited.",
    ),
  databaseBytes: count.nullable(),
  backlog: z
    .object({
      ...waiting,
      suspended: count.describe(
        'Deliveries in `due` that belong to suspended organizations. `oldestDueAt` ignores them.',
      ),
      oldestDueSeconds: count.nullable().describe('The age of `oldestDueAt`, in seconds.'),
    })
    .nullable(),
  workers: z
    .array(
      z.object({
        name: text('worker-1:214:0b6f'),
        version: text('0.1.0').nullable(),
        lane: z.enum(LANES).nullable(),
        seenAt: timestamp,
        shards: count.describe('The number of outbox shards (of 64) that the worker owns.'),
        isLeaving: flag(false),
      }),
    )
    .nullable()
    .describe('Workers that were active in the last few seconds, at most 1,000.'),
  shardsWithoutOwner: count
    .nullable()
    .describe(
      'The number of outbox shards without a worker. Above 0 for a few seconds after a worker stops unexpectedly.',
    ),
  circuits: z.object({ open: count, halfOpen: count }).nullable(),
  retention: z.object({ payloads: retained, events: retained }).nullable(),
  housekeeping: z
    .object({
      failures: z
        .array(z.object({ part: text('retention'), total: count, lastAt: timestamp }))
        .describe('Housekeeping tasks that failed in the last 24 hours, each with its total number of failures.'),
    })
    .nullable(),
  organizations: z
    .array(z.object({ id: idOf('org'), slug: text('acme'), isSuspended: flag(false), ...waiting, openCircuits: count }))
    .optional(),
});

export const statusOperation: Described = {
  tag: 'Service',
  family: 'operator',
  method: 'get',
  path: '/api/status',
  operationId: 'getStatus',
  summary: "Get the installation's status",
  description:
    'Requires the operator key. If `HOOKYARD_OPERATOR_KEY` is not set, the response is 404. Metrics from the database are at most about a second old.',
  query: statusSchema,
  answer: { description: 'The state of the API, the database, Temporal, the backlog and the workers.', schema: status },
  errors: {
    400: ['VALIDATION_ERROR'],
    401: ['UNAUTHORIZED'],
    404: ['RESOURCE_NOT_FOUND'],
    429: ['RATE_LIMITED'],
    500: ['INTERNAL_ERROR'],
  },
};

const DEADLINE_MS = 5000;

type StatusSettings = Pick<
  Settings,
  | 'HOOKYARD_OPERATOR_KEY'
  | 'HOOKYARD_OPERATOR_KEY_FILE'
  | 'HOOKYARD_MAX_BACKLOG'
  | 'HOOKYARD_MAX_DATABASE_BYTES'
  | 'HOOKYARD_PAYLOAD_RETENTION_DAYS'
  | 'HOOKYARD_EVENT_RETENTION_DAYS'
>;

export interface StatusDeps {
  settings: StatusSettings;
  tuning: Pick<Tuning, 'failedSignInsPerMinute'>;
  /** It belongs to no organization. */
  slowPool: Pool;
  health: Pick<HealthDeps, 'ingestState' | 'temporal' | 'searchAttributes'>;
  log: Log;
}

interface Found extends InstallationStatus {
  at: Date;
  retention: { payloads: RetentionLag; events: RetentionLag };
}

/**
 * Failure policy: an operator asks most when something is wrong, so what cannot be read is null, and the rest is
 * answered.
 */
export function mountStatus(router: ApiRouter, deps: StatusDeps): void {
  const { settings, health, log } = deps;
  const database = new CachedProbe<Found | null>(
    () => findAll(deps),
    (error) => {
      throttled(log).warn({ cause: causeOf(error) }, 'failed to read the status from the database');
      return null;
    },
  );
  router.get('/api/status', requireOperator(deps), async (ctx) => {
    const { organizations = false } = parseQuery(ctx, statusSchema);
    const [found, temporal, searchAttributes] = await Promise.all([
      database.within(DEADLINE_MS),
      health.temporal.within(PROBE_DEADLINE_MS),
      health.searchAttributes.within(PROBE_DEADLINE_MS),
    ]);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      version: packageJson.version,
      at: found?.at ?? new Date(),
      ingest: health.ingestState(),
      temporal: temporal === null ? 'ok' : 'away',
      searchAttributes: hasSearchAttributes(searchAttributes),
      database: found ? 'ok' : 'away',
      limits: {
        waitingDeliveries: settings.HOOKYARD_MAX_BACKLOG || null,
        databaseBytes: settings.HOOKYARD_MAX_DATABASE_BYTES ?? null,
      },
      ...(found ? shown(found, organizations) : NOTHING),
    };
  });
}

const NOTHING = {
  databaseBytes: null,
  backlog: null,
  workers: null,
  shardsWithoutOwner: null,
  circuits: null,
  retention: null,
  housekeeping: null,
};

function shown(found: Found, withOrganizations: boolean) {
  const { at, waiting, organizations, ...others } = found;
  const { oldestDueAt } = waiting;
  return {
    ...others,
    backlog: {
      ...waiting,
      oldestDueSeconds: oldestDueAt && Math.max(0, Math.round((at.getTime() - oldestDueAt.getTime()) / 1000)),
    },
    ...(withOrganizations && { organizations }),
  };
}

async function findAll({ slowPool, settings }: StatusDeps): Promise<Found> {
  const now = await databaseTime(slowPool);
  const found = await readInstallation(slowPool);
  return {
    ...found,
    at: new Date(now),
    retention: {
      payloads: await retentionLag(slowPool, 'event_payloads', settings, now),
      events: await retentionLag(slowPool, 'events', settings, now),
    },
  };
}
