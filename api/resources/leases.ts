// Leases: a request that gives sources, destinations and routes a limited lifetime, unless it is repeated. For records that a
// program needs only while it runs, like the destination and the route of `hookyard listen`: a killed program cannot clean up.
// Rules: LEASE-01 to LEASE-03.
import { z } from 'zod';
import { endLeases, type Lease, renewLeases } from '../../db/management/leases.ts';
import { inTransaction } from '../../db/connections/pool.ts';
import { type ApiDeps, type Context, organizationId } from '../context.ts';
import { noteRecords } from '../audit-trail.ts';
import { idOf, timestamp } from '../members/values.ts';
import type { Operation } from '../operation.ts';
import { isoTime } from '../records.ts';
import { requireScope } from '../scopes.ts';
import { parseChoice } from '../validation.ts';

const MAX_IDS = 100;
const MAX_SECONDS = 86_400;

const leaseSchema = z.strictObject({
  ids: z
    .array(z.string())
    .min(1)
    .max(MAX_IDS)
    .meta({ description: 'Of sources, destinations and routes; those that do not exist are passed over.' }),
  seconds: z
    .int()
    .min(1)
    .max(MAX_SECONDS)
    .nullable()
    .meta({ description: 'From now on; null lets them live for ever again.', examples: [900] }),
});

const ids = z.array(idOf('rte', 'dst', 'dst_wh', 'src')).meta({ description: 'Of those that there are.' });

export const leaseOperation: Operation = {
  method: 'post',
  path: '/api/leases',
  operationId: 'renewLeases',
  run: renew,
  tag: 'Leases',
  summary: 'Let records live for some time only',
  description:
    'Repeat it before the time is over: after it, housekeeping removes the records within five minutes or so, a source with its events. ' +
    'A source from which other routes lead is kept. A record without a lease lives for ever.',
  body: {
    schema: leaseSchema,
    examples: { 'a quarter of an hour': { ids: ['rte_06f3k2v8q0e7x1c5b9m4n6p8qr'], seconds: 900 } },
  },
  answer: {
    status: 200,
    description: 'Until when they live.',
    schema: z.object({ ids, expiresAt: timestamp.nullable() }),
  },
};

async function renew(ctx: Context, deps: ApiDeps): Promise<void> {
  const { ids, seconds } = await parseChoice(ctx, leaseSchema);
  requireScopesOf(ctx, ids);
  ctx.body = await inTransaction(deps.pool, async (db) => {
    const answer =
      seconds === null
        ? { ids: await endLeases(db, organizationId(ctx), ids), expiresAt: null }
        : renewed(await renewLeases(db, organizationId(ctx), ids, seconds));
    noteRecords(ctx, answer.ids);
    return answer;
  });
}

function renewed(leases: Lease[]) {
  return { ids: leases.map(({ id }) => id), expiresAt: isoTime(leases[0]?.expiresAt) };
}

const SCOPES_OF = { src: 'sources:write', dst: 'destinations:write', rte: 'routes:write' } as const;

/** A lease that nobody renews deletes its record, so it takes what deleting takes. @throws ApiError 403 */
function requireScopesOf(ctx: Context, ids: string[]): void {
  for (const [prefix, scope] of Object.entries(SCOPES_OF)) {
    const id = ids.find((text) => text.startsWith(prefix));
    if (id !== undefined) requireScope(ctx, scope, `a lease of ${prefix}_...`);
  }
}
