// Deliveries and attempts as the API shows them, and why a delivery is held.
import { z } from 'zod';
import { DELIVERY_STATUSES, LANES } from '../../../core/delivery/delivery.ts';
import type { WorkflowLink } from '../../../core/temporal/temporal-link.ts';
import { warehouseWorkflowId } from '../../../core/temporal/names.ts';
import { idTime, isId } from '../../../core/text/ids.ts';
import { circuitStates } from '../../../db/circuits/circuits.ts';
import { type Pause, pausesOf } from '../../../db/circuits/pauses.ts';
import type { Queryable } from '../../../db/connections/pool.ts';
import type { AttemptRecord, DeliveryRecord, ShortAttempt } from '../../../db/history/deliveries.ts';
import type { ApiDeps } from '../../request/context.ts';
import { isoTime } from '../records.ts';
import { count, flag, headers, idOf, latency, named, text, timestamp } from '../values.ts';

interface Hold {
  reason: string;
  /** How it ends now. */
  advice: string;
}

const RELEASED: Hold = {
  reason: 'What was held is released in order, and its turn has not come',
  advice: 'it continues by itself',
};

/** Why each delivery that is held is, by its id. */
export async function holdsOf(
  db: Queryable,
  organizationId: string,
  deliveries: readonly DeliveryRecord[],
): Promise<Map<string, Hold>> {
  const held = deliveries.filter(({ status }) => status === 'circuit_open');
  if (held.length === 0) return new Map();
  const routeIds = [...new Set(held.flatMap(({ routeId }) => routeId ?? []))];
  const destinationIds = [...new Set(held.map(({ destinationId }) => destinationId))];
  const [pauses, states] = await Promise.all([
    pausesOf(db, organizationId, [...routeIds, ...destinationIds]),
    circuitStates(db, routeIds),
  ]);
  const holdOf = ({ routeId, destinationId, failoverOf }: DeliveryRecord): Hold => {
    const [ofRoute, ofDestination] = [pauses.get(routeId ?? ''), pauses.get(destinationId)];
    if (routeId !== null && ofRoute) return pausedHold('route', routeId, ofRoute);
    // The circuit counts for neither a failover nor a warehouse.
    const inCircuit = failoverOf === null && !isId('dst_wh', destinationId);
    if (routeId !== null && inCircuit && states.has(routeId)) return circuitHold(routeId);
    return ofDestination ? pausedHold('destination', destinationId, ofDestination) : RELEASED;
  };
  return new Map(held.map((delivery) => [delivery.id, holdOf(delivery)]));
}

function circuitHold(routeId: string): Hold {
  return {
    reason: 'The circuit of its route is open',
    advice: `it continues when that closes (POST /api/routes/${routeId}/reset-circuit closes it now)`,
  };
}

function pausedHold(kind: 'route' | 'destination', id: string, { since, until, reason }: Pause): Hold {
  const end = until === null ? '' : `, until ${until.toISOString()}`;
  const why = reason === null ? '' : `: ${reason}`;
  return {
    reason: `The ${kind} is paused since ${since.toISOString()}${end}${why}`,
    advice: `it continues when that is resumed (POST /api/${kind}s/${id}/resume)`,
  };
}

const statusCode = z
  .int()
  .nullable()
  .meta({ description: 'Null when there was no response.', examples: [200] });

const nameNow = (example: string) => text(example, 'As it is now; null when the record was deleted.').nullable();

const deliveryMembers = {
  id: idOf('dlv'),
  eventId: idOf('evt'),
  sourceId: idOf('src'),
  source: named('src', 'Orders'),
  routeId: idOf('rte').nullable(),
  route: z
    .object({ id: idOf('rte'), name: nameNow('Orders to the CRM') })
    .nullable()
    .meta({ description: 'Null only with `routeId`.' }),
  destinationId: idOf('dst', 'dst_wh'),
  destination: z.object({ id: idOf('dst', 'dst_wh'), name: nameNow('CRM') }),
  status: z.enum(DELIVERY_STATUSES).meta({ examples: ['delivered'] }),
  attemptCount: count.meta({ examples: [1] }),
  latency: latency.nullable().meta({ description: 'Of the latest attempt, ms.' }),
  statusCode,
  error: text('The destination answered 500')
    .nullable()
    .meta({ examples: [null] }),
  nextAttemptAt: timestamp.nullable().meta({ examples: [null] }),
  deliveredAt: timestamp.nullable(),
  finishedAt: timestamp.nullable(),
  createdAt: timestamp,
  failoverOf: idOf('dlv')
    .nullable()
    .meta({ description: 'The delivery that was given up for this one.', examples: [null] }),
  replayOf: idOf('dlv')
    .nullable()
    .meta({ description: 'The delivery that this one repeats.', examples: [null] }),
  lane: z.enum(LANES).nullable().meta({ description: 'In which lane the first attempt was made; null before it.' }),
  holdReason: text('The route is paused since 2026-11-21T10:00:00.000Z: the CRM is moved')
    .nullable()
    .meta({ description: 'Why it is held, while it is `circuit_open`; else null.', examples: [null] }),
  batchId: idOf('bat')
    .nullable()
    .meta({ description: 'The file of the warehouse that it is in.', examples: [null] }),
  workflowId: text('dlv_06f3k2v8q0e7x1c5b9m4n6p8qr')
    .nullable()
    .meta({ description: 'Of its workflow in Temporal, if there is one.' }),
  temporalUrl: text('http://localhost:8233/namespaces/hookyard/workflows/dlv_06f3k2v8q0e7x1c5b9m4n6p8qr').nullable(),
};
export const deliveryAnswer = z.object(deliveryMembers).meta({ id: 'Delivery' });

/** An attempt as an event's timeline shows it. */
export const attemptMembers = {
  attemptNumber: z
    .int()
    .min(1)
    .meta({ examples: [1] }),
  startedAt: timestamp,
  completedAt: timestamp,
  status: z.enum(['success', 'failed']),
  statusCode,
  latency,
};
const ms = (description: string, example: number | null) =>
  z
    .number()
    .min(0)
    .nullable()
    .meta({ description, examples: [example] });
const connection = z
  .object({
    address: text('192.0.2.7', 'The IP address that it went to, or was tried last.'),
    port: z
      .int()
      .min(1)
      .max(65_535)
      .meta({ examples: [443] }),
    reused: flag(false, 'Whether it was kept from an earlier attempt: then no step of it took time.'),
  })
  .nullable()
  .meta({ description: 'Null when none was tried, or it is not known.' });
const timings = z
  .object({
    dns: ms('Look-up of the name; null for an IP address.', 3.1),
    connect: ms('TCP connection, other addresses of the name that did not answer included.', 11.8),
    tls: ms('TLS handshake; null without TLS.', 24.5),
    firstByte: ms('From the request on the connection to the first byte of the answer.', 41.2),
    total: latency,
  })
  .nullable()
  .meta({ description: 'ms. A step that was not made, or not finished, is null; all is null when it is not known.' });
const attempt = z
  .object({
    ...attemptMembers,
    connection,
    timings,
    error: text('The destination answered 500')
      .nullable()
      .meta({ examples: [null] }),
    requestHeaders: headers.nullable().meta({ description: 'As they were sent, secrets masked.' }),
    responseHeaders: headers.nullable(),
    responseBody: text('ok', 'Its first 16 KiB.').nullable(),
  })
  .meta({ id: 'Attempt' });
export const deliveryWithAttempts = z
  .object({ ...deliveryMembers, attempts: z.array(attempt) })
  .meta({ id: 'DeliveryWithAttempts' });

// Deliveries that ended before their first attempt, or wait for their route's circuit to close.
const WITHOUT_WORKFLOW = ['skipped', 'schema_failed', 'filter_failed', 'circuit_open', 'failed_over'];

/** Whether the delivery has a workflow. In the express lane it has one only if the first attempt did not finish it. */
function hasWorkflow({ status, attemptCount, lane }: DeliveryRecord): boolean {
  if (attemptCount === 0) return !WITHOUT_WORKFLOW.includes(status);
  if (lane === 'express' && attemptCount === 1) return ['retrying', 'failed'].includes(status);
  return true;
}

/** The name of its workflow: its own, or that of its warehouse while it waits for a file; null when there is none. */
function workflowOf(delivery: DeliveryRecord): string | null {
  if (!isId('dst_wh', delivery.destinationId)) return hasWorkflow(delivery) ? delivery.id : null;
  return delivery.status === 'pending' ? warehouseWorkflowId(delivery.destinationId) : null;
}

/** Deliveries as answers show them, with why they are held. */
export async function showDeliveries(
  { pool, workflowLink }: Pick<ApiDeps, 'pool' | 'workflowLink'>,
  organizationId: string,
  deliveries: readonly DeliveryRecord[],
) {
  const holds = await holdsOf(pool, organizationId, deliveries);
  return deliveries.map((delivery) => showDelivery(delivery, holds.get(delivery.id), workflowLink));
}

export function showDelivery(delivery: DeliveryRecord, hold: Hold | undefined, link: WorkflowLink) {
  const { sourceName, routeName, destinationName, ...shown } = delivery;
  const workflow = workflowOf(delivery);
  return {
    ...shown,
    source: { id: delivery.sourceId, name: sourceName },
    route: delivery.routeId === null ? null : { id: delivery.routeId, name: routeName },
    destination: { id: delivery.destinationId, name: destinationName },
    nextAttemptAt: isoTime(delivery.nextAttemptAt),
    deliveredAt: isoTime(delivery.deliveredAt),
    finishedAt: isoTime(delivery.finishedAt),
    createdAt: new Date(idTime(delivery.id)).toISOString(),
    holdReason: hold?.reason ?? null,
    ...(workflow === null ? { workflowId: null, temporalUrl: null } : link(workflow)),
  };
}

export function showAttempt(attempt: AttemptRecord) {
  return {
    ...timelineAttempt(attempt),
    connection: connectionOf(attempt),
    timings: timingsOf(attempt),
    error: attempt.error,
    requestHeaders: attempt.requestHeaders,
    responseHeaders: attempt.responseHeaders,
    responseBody: attempt.responseBody,
  };
}

function connectionOf({ exchange }: AttemptRecord) {
  const { address, port, reused } = exchange ?? {};
  return address && port ? { address, port, reused } : null;
}

function timingsOf({ exchange, latency: total }: AttemptRecord) {
  if (exchange === null) return null;
  const { dns, connect, tls, firstByte } = exchange;
  return { dns, connect, tls, firstByte, total };
}

/** An attempt in an event's timeline. */
export function timelineAttempt(attempt: ShortAttempt) {
  return {
    attemptNumber: attempt.attemptNumber,
    startedAt: attempt.startedAt.toISOString(),
    completedAt: attempt.completedAt.toISOString(),
    status: attempt.status,
    statusCode: attempt.statusCode,
    latency: attempt.latency,
  };
}
