// Leases: a request that lets sources, destinations and routes live for some time only, unless it is repeated. For what is made for
// as long as a program runs, like the destination and the route of `hookyard listen`: a program that is killed removes nothing.
// Rules: LEASE-01 to LEASE-03.
import { z } from 'zod';
import { endLeases, renewLeases } from '../../db/management/leases.ts';
import { type ApiDeps, type ApiRouter, type Context, organizationId } from '../context.ts';
import { isoTime } from '../records.ts';
import { parseChoice } from '../validation.ts';

const MAX_IDS = 100;
const MAX_SECONDS = 86_400;

export const leaseSchema = z.strictObject({
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

export function mountLeases(router: ApiRouter, deps: ApiDeps): void {
  router.post('/api/leases', (ctx) => renew(ctx, deps));
}

async function renew(ctx: Context, deps: ApiDeps): Promise<void> {
  const { ids, seconds } = await parseChoice(ctx, leaseSchema);
  if (seconds === null) {
    ctx.body = { ids: await endLeases(deps.pool, organizationId(ctx), ids), expiresAt: null };
    return;
  }
  const leases = await renewLeases(deps.pool, organizationId(ctx), ids, seconds);
  ctx.body = { ids: leases.map(({ id }) => id), expiresAt: isoTime(leases[0]?.expiresAt) };
}
