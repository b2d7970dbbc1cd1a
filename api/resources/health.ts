// Probes for whoever runs the service: `/healthz` says that this process answers, `/readyz` that it can do its work.
import type { Client } from '@temporalio/client';
import type { Pool } from '../../db/pool.ts';
import type { ApiRouter } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { DoorState } from '../ingest/backlog.ts';

const DEADLINE_MS = 2000;

/**
 * @param deps.requiredServers what `/readyz` asks, each by a name and a request that fails when it is away
 * @param deps.ingestState told by `/readyz` without making it fail: to take the process out of service would not empty a backlog
 */
export function mountHealth(
  router: ApiRouter,
  {
    requiredServers: servers,
    ingestState,
  }: { requiredServers: Record<string, () => Promise<unknown>>; ingestState: () => DoorState },
): void {
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    const names = Object.keys(servers);
    const outcomes = await Promise.allSettled(Object.values(servers).map((ask) => withDeadline(ask)));
    const away = names.filter((_name, index) => outcomes[index]?.status === 'rejected');
    if (away.length > 0) {
      throw new ApiError(503, 'NOT_READY', `Not reachable within ${DEADLINE_MS / 1000} s: ${away.join(', ')}`);
    }
    ctx.body = { status: 'ok', ingest: ingestState() };
  });
}

/** What `/readyz` of the API asks. The database is to take writes, or nothing could be acknowledged. */
export function requiredServers(pool: Pool, temporal: Client): Record<string, () => Promise<unknown>> {
  return {
    // A lock on no row: a server that takes no writes refuses it, and nobody waits for it.
    database: () => pool.query('select from organizations limit 0 for update'),
    temporal: () =>
      temporal.connection.withDeadline(Date.now() + DEADLINE_MS, () => temporal.workflowService.getSystemInfo({})),
  };
}

async function withDeadline(ask: () => Promise<unknown>): Promise<void> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('no answer in time')), DEADLINE_MS);
  try {
    await Promise.race([ask(), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
