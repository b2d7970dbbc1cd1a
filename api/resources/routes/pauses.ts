import { z } from 'zod';
import { type Pause, pause as pauseRecord, resume as resumeRecord } from '../../../db/circuits/pauses.ts';
import { inTransaction } from '../../../db/connections/pool.ts';
import type { Route } from '../../../db/records/entities.ts';
import { notFound } from '../../request/errors.ts';
import { type Operation, operation, type RecordKind } from '../../request/operation.ts';
import { futureTime } from '../fields.ts';
import { findDestination, findRoute } from '../records.ts';
import * as table from '../table.ts';
import { component, flag, idOf, text, timestamp, withExample } from '../values.ts';

const MAX_REASON = 500;
const MAX_RELEASE_PER_SECOND = 10_000;

export const pauseMembers = {
  paused: table.computed(flag(false, 'Whether deliveries are paused.')),
  pausedSince: table.computed(withExample(timestamp.nullable(), null, 'When the pause began. Null if not paused.')),
  pausedUntil: table.computed(
    withExample(timestamp.nullable(), null, 'When the pause ends automatically. Null if it does not.'),
  ),
  pauseReason: table.computed(
    withExample(text('CRM migration', 'The reason for the pause. Null if none.').nullable(), null),
  ),
};

const until = withExample(
  futureTime.nullable().optional(),
  '2036-01-01T00:00:00Z',
  'When the pause ends automatically. If omitted or null, the pause lasts until you resume deliveries.',
);

const pauseSchema = z.object({
  reason: withExample(
    z.string().max(MAX_REASON).regex(/\S/, 'must not be empty; omit it or send null').nullable().optional(),
    'CRM migration',
    'The reason for the pause.',
  ),
  until,
});

const resumeSchema = z.object({
  releasePerSecond: withExample(
    z.int().min(1).max(MAX_RELEASE_PER_SECOND).optional(),
    10,
    'Maximum number of held deliveries to send per second. Defaults to 50.',
  ),
});

const pauseAnswer = component('Pause', { id: idOf('rte', 'dst', 'dst_wh'), ...table.answerShape(pauseMembers) });

/** Of a route or destination; undefined: it is not paused. */
export function showPause(pause: Pause | undefined) {
  return {
    paused: pause !== undefined,
    pausedSince: pause?.since ?? null,
    pausedUntil: pause?.until ?? null,
    pauseReason: pause?.reason ?? null,
  };
}

const AGAIN = 'A pause does not cause failover. Pausing again updates the end and reason.';
const RELEASED = 'Held deliveries are sent in order of receipt.';

type Owned = Pick<Route, 'id' | 'organizationId'>;

const PAUSABLE = [
  {
    table: 'routes',
    kind: 'route',
    of: findRoute as RecordKind<Owned>,
    tag: 'Routes',
    name: 'Route',
    paused: `Webhooks are still accepted; the route's deliveries, including retries, are held. ${AGAIN}`,
    resumed: `${RELEASED} However, they remain held while the circuit breaker is open or their destination is paused.`,
  },
  {
    table: 'destinations',
    kind: 'destination',
    of: findDestination as RecordKind<Owned>,
    tag: 'Destinations',
    name: 'Destination',
    paused: `All deliveries to the destination are held, regardless of their route. ${AGAIN}`,
    resumed: `${RELEASED} However, they remain held while their route is paused or its circuit breaker is open.`,
  },
] as const;

export const pauseOperations: Operation[] = PAUSABLE.flatMap(({ table, kind, of, tag, name, ...told }) => [
  operation(`pause${name}`, 'post', `/api/${table}/{id}/pause`, {
    tag,
    of,
    summary: `Pause a ${kind}`,
    description: told.paused,
    body: {
      schema: pauseSchema,
      optional: true,
      examples: {
        'until resumed': {},
        maintenance: { reason: 'CRM migration', until: '2036-01-01T00:00:00Z' },
      },
    },
    answer: { description: 'The current pause.', schema: pauseAnswer },
    async run(ctx, { body: { reason = null, until = null }, record: { id, organizationId } }) {
      const found = await inTransaction(ctx.deps.pool, (db) =>
        pauseRecord(db, table, { organizationId, id }, { reason, until }),
      );
      if (!found) throw notFound(kind, id);
      return { id, ...showPause(found) };
    },
  }),
  operation(`resume${name}`, 'post', `/api/${table}/{id}/resume`, {
    tag,
    of,
    summary: `Resume a ${kind}`,
    description: told.resumed,
    body: { schema: resumeSchema, optional: true, examples: { slowly: { releasePerSecond: 10 } } },
    answer: { description: 'The pause fields: `paused` is false, and the others are null.', schema: pauseAnswer },
    async run(ctx, { body: { releasePerSecond = null }, record: { id, organizationId } }) {
      await inTransaction(ctx.deps.pool, (db) => resumeRecord(db, { organizationId, id }, releasePerSecond));
      return { id, ...showPause(undefined) };
    },
  }),
]);
