import { z } from 'zod';
import { DELIVERY_STATUSES, LANES } from '../../../core/delivery/delivery.ts';
import { type WorkflowLink, warehouseWorkflowId } from '../../../core/temporal/names.ts';
import { idTime, isId } from '../../../core/text/ids.ts';
import { circuitStates } from '../../../db/circuits/circuits.ts';
import { type Pause, pausesOf } from '../../../db/circuits/pauses.ts';
import type { Queryable } from '../../../db/connections/pool.ts';
import type { AttemptRecord, DeliveryRecord } from '../../../db/history/deliveries.ts';
import { type Context, organizationId } from '../../request/context.ts';
import { component, count, flag, headers, idOf, latency, named, text, timestamp, withExample } from '../values.ts';

interface Hold {
  reason: string;
  advice: string;
}

const RELEASED: Hold = {
  reason: 'Held deliveries are sent in order, and this delivery is waiting for its turn',
  advice: 'it continues automatically',
};

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
    reason: "The route's circuit breaker has not closed yet",
    advice: `the delivery continues when the circuit breaker closes (POST /api/routes/${routeId}/reset-circuit closes it now)`,
  };
}

function pausedHold(kind: 'route' | 'destination', id: string, { since, until, reason }: Pause): Hold {
  const end = until === null ? '' : ` (until ${until.toISOString()})`;
  const why = reason === null ? '' : `: ${reason}`;
  return {
    reason: `The ${kind} has been paused since ${since.toISOString()}${end}${why}`,
    advice: `the delivery continues when the ${kind} is resumed (POST /api/${kind}s/${id}/resume)`,
  };
}

const statusCode = withExample(
  z.int().nullable(),
  200,
  'The status code of the response. Null if there was no response.',
);

const nameNow = (example: string) => text(example, 'The current name. Null if the record was deleted.').nullable();

const deliveryMembers = {
  id: idOf('dlv'),
  eventId: idOf('evt'),
  sourceId: idOf('src'),
  source: named('src', 'Orders'),
  routeId: idOf('rte').nullable(),
  route: z
    .object({ id: idOf('rte'), name: nameNow('Orders to the CRM') })
    .nullable()
    .describe('The route. Null if `routeId` is null.'),
  destinationId: idOf('dst', 'dst_wh'),
  destination: z.object({ id: idOf('dst', 'dst_wh'), name: nameNow('CRM') }),
  status: withExample(z.enum(DELIVERY_STATUSES), 'delivered'),
  attemptCount: withExample(count, 1),
  latency: latency.nullable().describe('Latency of the latest attempt, in milliseconds.'),
  statusCode: statusCode.describe('The status code of the latest attempt. Null if there was no response.'),
  error: withExample(text('The destination returned 500').nullable(), null),
  nextAttemptAt: withExample(timestamp.nullable(), null),
  deliveredAt: timestamp.nullable(),
  finishedAt: timestamp.nullable(),
  createdAt: timestamp,
  failoverOf: withExample(idOf('dlv').nullable(), null, 'The delivery that failed over to this delivery.'),
  replayOf: withExample(idOf('dlv').nullable(), null, 'The delivery that this delivery replays.'),
  replayedBy: withExample(
    z.object({ id: idOf('dlv'), status: z.enum(DELIVERY_STATUSES), createdAt: timestamp }).nullable(),
    null,
    "The delivery's latest replay. Null if the delivery was not replayed.",
  ),
  lane: z.enum(LANES).nullable().describe('The lane of the first attempt. Null if there was no attempt.'),
  holdReason: withExample(
    text('The route has been paused since 2026-11-21T10:00:00.000Z: the CRM is being migrated').nullable(),
    null,
    'Why the delivery is held. Null unless `status` is `circuit_open`.',
  ),
  batchId: withExample(idOf('bat').nullable(), null, 'The warehouse batch that contains the delivery. Null if none.'),
  orderKey: withExample(
    text('cus_1042').nullable(),
    null,
    'The first 64 characters of the ordering key, or the route ID for events without a key. Null if the delivery is unordered.',
  ),
  sequence: withExample(count.nullable(), null, 'The sequence number within the ordering key. Null if none.'),
  waitsFor: withExample(
    idOf('dlv').nullable(),
    null,
    'The earlier delivery with the same ordering key that this delivery is waiting for. Null if none.',
  ),
  workflowId: text('dlv_06f3k2v8q0e7x1c5b9m4n6p8qr')
    .nullable()
    .describe('The ID of the workflow that handles the delivery, for the Temporal UI. Null if none.'),
  temporalUrl: text('http://localhost:8233/namespaces/hookyard/workflows/dlv_06f3k2v8q0e7x1c5b9m4n6p8qr').nullable(),
};
export const deliveryAnswer = component('Delivery', deliveryMembers);

export const attemptMembers = {
  attemptNumber: withExample(z.int().min(1), 1),
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
    address: text('192.0.2.7', 'The IP address that was used, or the last one tried.'),
    port: withExample(z.int().min(1).max(65_535), 443),
    reused: flag(false, 'Whether the connection was reused from an earlier attempt.'),
  })
  .nullable()
  .describe("The attempt's connection. Null if no address was tried or the connection is unknown.");
const timings = z
  .object({
    dns: ms("Duration of the DNS lookup. Null if the URL's host is an IP address.", 3.1),
    connect: ms(
      "Duration of the TCP connection setup, including failed attempts to connect to the host's other addresses.",
      11.8,
    ),
    tls: ms('Duration of the TLS handshake. Null without TLS.', 24.5),
    firstByte: ms('Time from sending the request to the first byte of the response.', 41.2),
    total: latency,
  })
  .nullable()
  .describe(
    'Duration of each phase, in milliseconds. A phase is null if it did not happen or finish; the object is null if the durations are unknown.',
  );
const attempt = component('Attempt', {
  ...attemptMembers,
  connection,
  timings,
  error: withExample(text('The destination returned 500').nullable(), null),
  requestHeaders: headers.nullable().describe('The request headers as sent, with secrets masked.'),
  responseHeaders: headers.nullable(),
  responseBody: text('ok', 'The first 16 KiB of the response body.').nullable(),
});
export const deliveryWithAttempts = component('DeliveryWithAttempts', {
  ...deliveryMembers,
  attempts: z.array(attempt),
});

// Deliveries that ended before their first attempt, or wait for their route's circuit to close.
const WITHOUT_WORKFLOW = ['skipped', 'schema_failed', 'filter_failed', 'circuit_open', 'failed_over'];

/** Whether the delivery has a workflow. In the express lane it has one only if the first attempt did not finish it. */
function hasWorkflow({ status, attemptCount, lane, waitsFor }: DeliveryRecord): boolean {
  if (waitsFor !== null) return false;
  if (attemptCount === 0) return !WITHOUT_WORKFLOW.includes(status);
  if (lane === 'express' && attemptCount === 1) return ['retrying', 'failed'].includes(status);
  return true;
}

/** The name of its workflow: its own, or that of its warehouse while it waits for a file; null when there is none. */
function workflowOf(delivery: DeliveryRecord): string | null {
  if (!isId('dst_wh', delivery.destinationId)) return hasWorkflow(delivery) ? delivery.id : null;
  return delivery.status === 'pending' ? warehouseWorkflowId(delivery.destinationId) : null;
}

export async function showDeliveries(ctx: Context, deliveries: readonly DeliveryRecord[]) {
  const { pool, workflowLink } = ctx.deps;
  const holds = await holdsOf(pool, organizationId(ctx), deliveries);
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
    createdAt: new Date(idTime(delivery.id)),
    holdReason: hold?.reason ?? null,
    ...(workflow === null ? { workflowId: null, temporalUrl: null } : link(workflow)),
  };
}

export function showAttempt({ exchange, ...attempt }: AttemptRecord) {
  return { ...attempt, connection: connectionOf(exchange), timings: timingsOf(exchange, attempt.latency) };
}

function connectionOf(exchange: AttemptRecord['exchange']) {
  const { address, port, reused } = exchange ?? {};
  return address && port ? { address, port, reused } : null;
}

function timingsOf(exchange: AttemptRecord['exchange'], total: number) {
  if (exchange === null) return null;
  const { dns, connect, tls, firstByte } = exchange;
  return { dns, connect, tls, firstByte, total };
}
