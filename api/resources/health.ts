// Probes for whoever runs the service: `/healthz` says that this process answers, `/readyz` that webhooks should be sent to it.
// Rules: HTTP-33, HTTP-34.
import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { type Pool, takesWrites } from '../../db/pool.ts';
import type { ApiRouter } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { DoorState } from '../ingest/backlog.ts';
import { CachedProbe } from '../cached-probe.ts';
import { parseQuery } from '../validation.ts';

const DEADLINE_MS = 2000;
// Temporal is only mentioned by the plain probe, which balancers give little time: half a second is usual.
const PATIENCE_MS = 100;

export const readySchema = z.object({
  deep: z
    .enum(['', 'true', 'false'], { error: 'must be true or false, or have no value, which is true' })
    .transform((text) => text !== 'false')
    .meta({
      override: { type: 'string', enum: ['', 'true', 'false'] },
      description:
        'Requires all that a webhook needs to be accepted and delivered: Temporal too, and room in the backlog.',
    })
    .optional(),
});

export interface HealthDeps {
  /** Whether the process was told to end and takes its leave of the balancer. */
  ending: () => boolean;
  /** Whether ingest accepts webhooks. */
  ingestState: () => DoorState;
  database: CachedProbe;
  temporal: CachedProbe;
}

/**
 * Ready is a process that can store a webhook. Failure policy: neither Temporal, which ingest does without, nor a full backlog,
 * of which another process would have no more room, takes a process out of service; the answer tells both, and with `deep`
 * both count.
 */
export function mountHealth(router: ApiRouter, { ending, ingestState, database, temporal }: HealthDeps): void {
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    const { deep = false } = parseQuery(ctx, readySchema);
    if (ending()) throw notReady('this process ends; what it is sent until then is still served');
    const [stores, delivers] = await Promise.all([
      database.within(DEADLINE_MS),
      temporal.within(deep ? DEADLINE_MS : PATIENCE_MS),
    ]);
    const ingest = ingestState();
    const problems = [problemOf('the database', stores)];
    if (deep) problems.push(problemOf('Temporal', delivers), ingest === 'full' ? 'ingest is full' : null);
    const told = problems.filter((problem) => problem !== null);
    if (told.length > 0) throw notReady(told.join('; '));
    // No answer yet: what the last look found holds until there is one.
    const last = delivers === undefined ? temporal.last : delivers;
    ctx.body = { status: 'ok', ingest, temporal: last === null ? 'ok' : 'away' };
  });
}

/** Asks the pool that ingest stores with: what else uses the database may keep its own connections busy. */
export function lookAtDatabase(ingestPool: Pool): CachedProbe {
  return new CachedProbe(async () => {
    return (await takesWrites(ingestPool, DEADLINE_MS)) ? null : 'takes no writes';
  });
}

export function lookAtTemporal({ connection, workflowService }: Client): CachedProbe {
  return new CachedProbe(async () => {
    await connection.withDeadline(Date.now() + DEADLINE_MS, () => workflowService.getSystemInfo({}));
    return null;
  });
}

function problemOf(server: string, problem: string | null | undefined): string | null {
  if (problem === undefined) return `${server} does not answer within ${DEADLINE_MS / 1000} s`;
  return problem && `${server} ${problem}`;
}

function notReady(why: string): ApiError {
  return new ApiError(503, 'NOT_READY', `Not ready: ${why}`);
}
