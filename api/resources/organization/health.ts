// Health probes: `/healthz` says that this process is alive, `/readyz` that it should get webhooks.
import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { component, withExample } from '../values.ts';
import type { Lane } from '../../../core/delivery/delivery.ts';
import { CachedProbe } from '../../../core/process/poll-loop.ts';
import { type Pool, takesWrites } from '../../../db/connections/pool.ts';
import { countLanes } from '../../../db/hot-path/shards.ts';
import { lookAtNamespace } from '../../../temporal-config/namespace.ts';
import type { DoorState } from '../../ingest/backlog.ts';
import type { ApiRouter } from '../../request/context.ts';
import { ApiError } from '../../request/errors.ts';
import type { Described } from '../../request/operation.ts';
import { parseQuery } from '../../request/validation.ts';

const DEADLINE_MS = 2000;
// The plain probe only reports Temporal: load balancers give probes little time, often half a second.
const PATIENCE_MS = 100;
const LACKS_ATTRIBUTES = 'lacks search attributes';

const readySchema = z.object({
  deep: z
    .enum(['', 'true', 'false'], { error: 'must be true, false or empty (empty means true)' })
    .transform((text) => text !== 'false')
    .meta({
      override: { type: 'string', enum: ['', 'true', 'false'] },
      description: 'Also checks Temporal, and that the backlog has room.',
    })
    .optional(),
});

const well = component('Well', { status: z.literal('ok') });

const ready = component('Ready', {
  status: z.literal('ok'),
  ingest: withExample(
    z.enum(['open', 'partly_full', 'full']),
    'open',
    '`full`: all webhooks are refused with 503. `partly_full`: webhooks for the destinations with the largest backlogs are refused.',
  ),
  temporal: withExample(
    z.enum(['ok', 'away']),
    'ok',
    'Whether Temporal is reachable. While it is `away`, webhooks are accepted and wait.',
  ),
  lanes: z
    .object({
      workflow: withExample(z.int().min(0), 1),
      express: withExample(z.int().min(0), 0),
    })
    .describe(
      'The number of workers by the lane that they use by default. Present only with `deep`. With `HOOKYARD_LANE=adaptive`, `express` counts workers whose workflows have fallen behind.',
    )
    .optional(),
});

export const healthOperations: Described[] = [
  {
    tag: 'Service',
    family: 'public',
    method: 'get',
    path: '/healthz',
    operationId: 'isAlive',
    summary: 'Liveness',
    description: 'Does not check PostgreSQL or Temporal.',
    answer: { description: 'The process is alive.', schema: well },
    errors: { 500: ['INTERNAL_ERROR'] },
  },
  {
    tag: 'Service',
    family: 'public',
    method: 'get',
    path: '/readyz',
    operationId: 'isReady',
    summary: 'Readiness',
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
export function hasSearchAttributes(found: string | null | undefined): boolean | null {
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
    if (ending()) throw notReady('this process is shutting down; requests are served until it ends');
    const [stores, delivers, lanesInUse] = await Promise.all([
      database.within(DEADLINE_MS),
      temporal.within(deep ? DEADLINE_MS : PATIENCE_MS),
      deep ? lanes.within(DEADLINE_MS) : undefined,
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
    return (await takesWrites(ingestPool, DEADLINE_MS)) ? null : 'does not accept writes';
  });
}

export function lookAtTemporal({ connection, workflowService }: Client): CachedProbe {
  return new CachedProbe(async () => {
    await connection.withDeadline(Date.now() + DEADLINE_MS, () => workflowService.getSystemInfo({}));
    return null;
  });
}

/** What it finds wrong: the namespace in Temporal lacks search attributes, so workflows carry none. */
export function lookAtSearchAttributes({ connection, options }: Client): CachedProbe {
  return new CachedProbe(async () => {
    const until = Date.now() + DEADLINE_MS;
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
  if (problem === undefined) return `${server} did not respond within ${DEADLINE_MS / 1000} s`;
  return problem && `${server} ${problem}`;
}

function notReady(why: string): ApiError {
  return new ApiError(503, 'NOT_READY', `Not ready: ${why}`);
}
