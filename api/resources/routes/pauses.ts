// Pauses of routes and of destinations: their deliveries wait, and go out at a rate when it is over.
import { z } from 'zod';
import {
  type Pausable,
  type Pause,
  pause as pauseRecord,
  resume as resumeRecord,
} from '../../../db/circuits/pauses.ts';
import { inTransaction } from '../../../db/connections/pool.ts';
import { type ApiDeps, type Context, entityManager, organizationId, param } from '../../request/context.ts';
import { notFound } from '../../request/errors.ts';
import type { Operation } from '../../request/operation.ts';
import { parseOptionalBody } from '../../request/validation.ts';
import { futureTime } from '../fields.ts';
import { findDestination, findRoute, isoTime } from '../records.ts';
import { answerShape, computed } from '../table.ts';
import { flag, idOf, text, timestamp } from '../values.ts';

const MAX_REASON = 500;
const MAX_RELEASE_PER_SECOND = 10_000;

export const pauseMembers = {
  paused: computed(flag(false, 'Whether its deliveries wait until it is resumed.')),
  pausedSince: computed(timestamp.nullable().meta({ description: 'Null when it is not paused.', examples: [null] })),
  pausedUntil: computed(
    timestamp.nullable().meta({ description: 'When the pause ends by itself; null: it does not.', examples: [null] }),
  ),
  pauseReason: computed(
    text('The CRM is moved', 'As it was given.')
      .nullable()
      .meta({ examples: [null] }),
  ),
};

const until = futureTime
  .nullable()
  .optional()
  .meta({
    description: 'When it ends by itself, in the future. Left out, or null: it lasts until somebody ends it.',
    examples: ['2036-01-01T00:00:00Z'],
  });

const pauseSchema = z.object({
  reason: z
    .string()
    .max(MAX_REASON)
    .regex(/\S/, 'must not be empty; leave it out, or send null, for none')
    .nullable()
    .optional()
    .meta({ description: 'Shown wherever the pause is.', examples: ['The CRM is moved'] }),
  until,
});

const resumeSchema = z.object({
  releasePerSecond: z
    .int()
    .min(1)
    .max(MAX_RELEASE_PER_SECOND)
    .optional()
    .meta({
      description:
        'How many of the deliveries that wait go out per second at most. Left out: as the server is set (50).',
      examples: [10],
    }),
});

const pauseAnswer = z.object({ id: idOf('rte', 'dst', 'dst_wh'), ...answerShape(pauseMembers) }).meta({ id: 'Pause' });

/** Of a route or destination; undefined: it is not paused. */
export function showPause(pause: Pause | undefined) {
  return {
    paused: pause !== undefined,
    pausedSince: isoTime(pause?.since),
    pausedUntil: isoTime(pause?.until),
    pauseReason: pause?.reason ?? null,
  };
}

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
