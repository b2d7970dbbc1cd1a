// Turns a verified webhook into the event that is stored, with one delivery for each destination it goes to.
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { type OrderKey, orderKeyOfRoute } from '../../core/delivery/ordering.ts';
import type { Passage } from '../../core/filters/schema-and-filter.ts';
import { isId, newId, shardOf } from '../../core/text/ids.ts';
import { hashPayload } from '../../core/text/payload.ts';
import type { IdempotencyKeyRule } from '../../db/records/entities.ts';
import type { NewDelivery, NewEvent } from '../../db/hot-path/store-events.ts';
import { pathBelow, type Received } from './received.ts';
import type { Decision } from './route-matching.ts';
import type { RoutedDestination, RoutedRoute, SourceRouting } from './routing.ts';
import { storedParts } from './verification.ts';

/**
 * @param verified when its signature was verified, and the right signature; null where nothing is signed
 * @param decision what the gates of the routes say
 */
export function newEvent(
  source: SourceRouting,
  received: Received,
  verified: { at: Date; mac: Buffer | null },
  decision: Decision,
): NewEvent {
  const { body } = received;
  const { headers, queryText } = storedParts(source, received);
  return {
    id: received.eventId,
    organizationId: source.organizationId,
    configVersion: source.configVersion,
    sourceId: source.sourceId,
    method: received.method,
    path: pathBelow(source, received),
    query: queryText,
    headers,
    clientAddress: received.clientAddress,
    traceparent: received.traceparent ?? null,
    body,
    // PostgreSQL text cannot hold NUL, so a body with NUL is stored as binary.
    isText: isUtf8(body) && !body.includes(0),
    payloadHash: hashPayload(body),
    receivedAt: received.receivedAt,
    validatedAt: verified.at,
    ...routed(source.routes, decision.passages),
    idempotency: idempotencyOf(source.idempotencyKey, received, { mac: verified.mac, keyHash: decision.keyHash }),
  };
}

/** Goes through the routes in the order in which they run. */
function routed(
  routes: RoutedRoute[],
  passages: Decision['passages'],
): Pick<NewEvent, 'deliveries' | 'routed' | 'filtered'> {
  const result: Pick<NewEvent, 'deliveries' | 'routed' | 'filtered'> = { deliveries: [], routed: [], filtered: [] };
  for (const [index, route] of routes.entries()) {
    if (route.destinations.length === 0) continue;
    const passage = passages[index] ?? null;
    if (passage?.kind === 'filtered') {
      result.filtered.push(route.id);
      continue;
    }
    result.routed.push(route.id);
    for (const destination of route.destinations) result.deliveries.push(newDelivery(route, destination, passage));
  }
  return result;
}

function newDelivery(route: RoutedRoute, destination: RoutedDestination, passage: Passage | null): NewDelivery {
  const id = newId('dlv');
  return {
    id,
    routeId: route.id,
    routeVersion: route.version,
    transformVersion: route.transformVersion,
    destinationId: destination.id,
    priority: route.priority,
    shard: shardOf(id),
    order: orderOf(route, destination, passage),
    ...stateOf(destination, passage),
  };
}

/** Files of a warehouse are written in the order of receipt anyway. */
function orderOf(
  { id, ordering }: RoutedRoute,
  destination: RoutedDestination,
  passage: Passage | null,
): OrderKey | null {
  if (ordering === null || isId('dst_wh', destination.id)) return null;
  if (ordering.key === null) return orderKeyOfRoute(id);
  // One that is not delivered has no key; a replay of it comes after what waits then.
  if (passage !== null && 'error' in passage) return null;
  const key = passage?.kind === 'taken' ? (passage.order ?? null) : null;
  return key === null && ordering.missingKey === 'together' ? orderKeyOfRoute(id) : key;
}

function stateOf(destination: RoutedDestination, passage: Passage | null): Pick<NewDelivery, 'status' | 'error'> {
  if (passage !== null && 'error' in passage) return { status: passage.kind, error: passage.error };
  if (!destination.enabled) return { status: 'skipped', error: 'The destination is disabled' };
  return { status: 'pending', error: null };
}

// A request without the key is never a duplicate.
function idempotencyOf(
  rule: IdempotencyKeyRule | null,
  received: Received,
  { mac, keyHash: hashInPayload }: { mac: Buffer | null; keyHash: Buffer | null },
): NewEvent['idempotency'] {
  if (!rule) return null;
  const keyHash = keyHashOf(rule, received, mac, hashInPayload);
  return keyHash && { keyHash, windowSeconds: rule.windowSeconds };
}

function keyHashOf(rule: IdempotencyKeyRule, received: Received, mac: Buffer | null, hashInPayload: Buffer | null) {
  // The right signature, not the received text: the same one can be written in several ways.
  if (rule.signature) return mac && hashOfKey(mac);
  if (rule.header) return hashOfKey(received.headers[rule.header.toLowerCase()]);
  if (rule.query !== undefined) return hashOfKey(keyInQuery(received.query().getAll(rule.query)));
  return hashInPayload;
}

/** Of a repeated parameter all values are the key; empty ones are none. */
function keyInQuery(values: string[]): string | undefined {
  const [first, ...others] = values;
  if (others.length === 0) return first;
  return values.some((value) => value !== '') ? JSON.stringify(values) : undefined;
}

/** SHA-256 of an idempotency key; null when there is none. */
export function hashOfKey(key: string | Buffer | undefined): Buffer | null {
  return key === undefined || key.length === 0 ? null : createHash('sha256').update(key).digest();
}
