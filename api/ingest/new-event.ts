// Turns a verified webhook into the event that is stored, with one delivery for each destination it goes to.
// Rules: ROUTE-48, DLV-01, EVT-14, INGEST-11, INGEST-12.
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { lookupPath } from '../../core/dotted-path.ts';
import { newId, shardOf } from '../../core/ids.ts';
import { hashPayload } from '../../core/payload.ts';
import type { IdempotencyKeyRule } from '../../db/entities.ts';
import type { NewDelivery, NewEvent } from '../../db/hot-path/store-events.ts';
import type { Received } from './received.ts';
import type { RoutedDestination, RoutedRoute, SourceRouting } from './routing.ts';

/** @param verified when its signature was verified, and the right signature; null where nothing is signed */
export function newEvent(
  source: SourceRouting,
  received: Received,
  verified: { at: Date; mac: Buffer | null },
): NewEvent {
  const { body } = received;
  return {
    id: received.eventId,
    organizationId: source.organizationId,
    configVersion: source.configVersion,
    sourceId: source.sourceId,
    method: received.method,
    query: received.queryText,
    headers: received.headers,
    clientAddress: received.clientAddress,
    body,
    // PostgreSQL text cannot hold NUL, so a body with NUL is stored as binary.
    isText: isUtf8(body) && !body.includes(0),
    payloadHash: hashPayload(body),
    receivedAt: received.receivedAt,
    validatedAt: verified.at,
    ...routed(source.routes, received),
    idempotency: idempotencyOf(source.idempotencyKey, received, verified.mac),
  };
}

/** Checks every route, in the order in which they run. */
function routed(routes: RoutedRoute[], received: Received): Pick<NewEvent, 'deliveries' | 'routed' | 'filtered'> {
  const result: Pick<NewEvent, 'deliveries' | 'routed' | 'filtered'> = { deliveries: [], routed: [], filtered: [] };
  for (const route of routes) {
    if (route.destinations.length === 0) continue;
    const passage = route.gate === null ? null : route.gate(received);
    if (passage?.kind === 'filtered') {
      result.filtered.push(route.id);
      continue;
    }
    result.routed.push(route.id);
    const mismatch = passage?.kind === 'schema_failed' ? passage.error : null;
    for (const destination of route.destinations) result.deliveries.push(newDelivery(route, destination, mismatch));
  }
  return result;
}

function newDelivery(route: RoutedRoute, destination: RoutedDestination, mismatch: string | null): NewDelivery {
  const id = newId('dlv');
  return {
    id,
    routeId: route.id,
    destinationId: destination.id,
    priority: route.priority,
    shard: shardOf(id),
    ...stateOf(destination, mismatch),
  };
}

function stateOf(destination: RoutedDestination, mismatch: string | null): Pick<NewDelivery, 'status' | 'error'> {
  if (mismatch !== null) return { status: 'schema_failed', error: mismatch };
  if (!destination.enabled) return { status: 'skipped', error: 'The destination is disabled' };
  return { status: 'pending', error: null };
}

// A request without the key is never a duplicate.
function idempotencyOf(
  rule: IdempotencyKeyRule | null,
  received: Received,
  mac: Buffer | null,
): NewEvent['idempotency'] {
  if (!rule) return null;
  // The right signature, not the received text: the same one can be written in several ways.
  if (rule.signature) return mac && { keyHash: sha256(mac), windowSeconds: rule.windowSeconds };
  const text = rule.header
    ? received.headers[rule.header.toLowerCase()]
    : keyText(lookupPath(received.payload(), rule.jsonPath ?? '')[0]);
  if (text === undefined || text === '') return null;
  return { keyHash: sha256(text), windowSeconds: rule.windowSeconds };
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}

// Matches the JSON of anything but a string, or the JSON of a string.
const LIKE_JSON = /^(?:["[{]|true$|false$|-?\d[\d.eE+-]*$)/;

/**
 * Different values map to different strings. An ordinary string maps to itself, like the keys that earlier versions stored. A
 * string that could be confused with another value's JSON (`"1"` and `1`), or that UTF-8 cannot hold, maps to its JSON.
 */
function keyText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') return JSON.stringify(value);
  return LIKE_JSON.test(value) || !value.isWellFormed() ? JSON.stringify(value) : value;
}
