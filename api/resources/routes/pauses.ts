// Pauses of routes and of destinations: their deliveries wait, and go out at a rate when it is over.
// Rules: PAUSE-05 to PAUSE-09.
import { pause as pauseRecord, type Pausable, resume as resumeRecord } from '../../../db/circuits/pauses.ts';
import { inTransaction } from '../../../db/connections/pool.ts';
import { type ApiDeps, type Context, entityManager, organizationId, param } from '../../request/context.ts';
import { notFound } from '../../request/errors.ts';
import { pauseAnswer, pauseSchema, resumeSchema, showPause } from './pause-members.ts';
import type { Operation } from '../../request/operation.ts';
import { findDestination, findRoute } from '../records.ts';
import { parseOptionalBody } from '../../request/validation.ts';

const ofRoutes = { tag: 'Routes', idOf: ['rte'], method: 'post' } as const;
const ofDestinations = { tag: 'Destinations', idOf: ['dst', 'dst_wh'], method: 'post' } as const;
const pauseBody = {
  schema: pauseSchema,
  optional: true,
  examples: {
    'until somebody ends it': {},
    maintenance: { reason: 'The CRM is moved', until: '2036-01-01T00:00:00Z' },
  },
} as const;
const resumeBody = { schema: resumeSchema, optional: true, examples: { slowly: { releasePerSecond: 10 } } } as const;
const paused = { status: 200, description: 'The pause as it is now.', schema: pauseAnswer } as const;
const resumed = { status: 200, description: 'It is not paused.', schema: pauseAnswer } as const;
const RELEASED = 'Deliveries that wait go out in the order of receipt.';

export const pauseOperations: Operation[] = [
  {
    ...ofRoutes,
    path: '/api/routes/{id}/pause',
    operationId: 'pauseRoute',
    run: (ctx, deps) => pause(ctx, deps, 'routes'),
    summary: 'Pause a route',
    description:
      'It takes webhooks as before; their deliveries wait, and so do retries. Nothing fails over for that. A repeated pause changes its end and its reason.',
    body: pauseBody,
    answer: paused,
  },
  {
    ...ofRoutes,
    path: '/api/routes/{id}/resume',
    operationId: 'resumeRoute',
    run: (ctx, deps) => resume(ctx, deps, 'routes'),
    summary: 'End the pause of a route',
    description: `${RELEASED} If its circuit is open, they wait for that.`,
    body: resumeBody,
    answer: resumed,
  },
  {
    ...ofDestinations,
    path: '/api/destinations/{id}/pause',
    operationId: 'pauseDestination',
    run: (ctx, deps) => pause(ctx, deps, 'destinations'),
    summary: 'Pause a destination',
    description:
      'All deliveries to it wait, whatever their route. Nothing fails over for that. A repeated pause changes its end and its reason.',
    body: pauseBody,
    answer: paused,
  },
  {
    ...ofDestinations,
    path: '/api/destinations/{id}/resume',
    operationId: 'resumeDestination',
    run: (ctx, deps) => resume(ctx, deps, 'destinations'),
    summary: 'End the pause of a destination',
    description: RELEASED,
    body: resumeBody,
    answer: resumed,
  },
];

async function pause(ctx: Context, deps: ApiDeps, table: Pausable): Promise<void> {
  const { reason = null, until = null } = await parseOptionalBody(ctx, pauseSchema);
  const { kind, id } = await requireRecord(ctx, deps, table);
  const record = { organizationId: organizationId(ctx), id };
  const found = await inTransaction(deps.pool, (db) => pauseRecord(db, table, record, { reason, until }));
  // It was deleted meanwhile.
  if (!found) throw notFound(kind, id);
  ctx.body = { id, ...showPause(found) };
}

async function resume(ctx: Context, deps: ApiDeps, table: Pausable): Promise<void> {
  const { releasePerSecond = null } = await parseOptionalBody(ctx, resumeSchema);
  const { id } = await requireRecord(ctx, deps, table);
  const record = { organizationId: organizationId(ctx), id };
  await inTransaction(deps.pool, (db) => resumeRecord(db, record, releasePerSecond));
  ctx.body = { id, ...showPause(undefined) };
}

/** @throws ApiError 404 */
async function requireRecord(ctx: Context, deps: ApiDeps, table: Pausable): Promise<{ kind: string; id: string }> {
  const em = entityManager(ctx, deps);
  const id = param(ctx, 'id');
  await (table === 'routes' ? findRoute(em, id) : findDestination(em, id));
  return { kind: table === 'routes' ? 'route' : 'destination', id };
}
