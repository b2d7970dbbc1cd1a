// Leases: a request that gives sources, destinations and routes a limited lifetime, unless it is repeated. For records that a
// program needs only while it runs, like the destination and the route of `hookyard listen`: a killed program cannot clean up.
// Rules: LEASE-01 to LEASE-03.
import { z } from 'zod';
import { endLeases, renewLeases } from '../../db/management/leases.ts';
import { type ApiDeps, type Context, organizationId } from '../context.ts';
import { idOf, timestamp } from '../members/values.ts';
import type { Operation } from '../operation.ts';
import { isoTime } from '../records.ts';
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
  if (seconds === null) {
    ctx.body = { ids: await endLeases(deps.pool, organizationId(ctx), ids), expiresAt: null };
    return;
  }
  const leases = await renewLeases(deps.pool, organizationId(ctx), ids, seconds);
  ctx.body = { ids: leases.map(({ id }) => id), expiresAt: isoTime(leases[0]?.expiresAt) };
}
