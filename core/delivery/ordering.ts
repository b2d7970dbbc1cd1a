// Ordering: events of one key are delivered to a destination one after the other (docs/guide/deliver-in-order.md).
import { createHash } from 'node:crypto';
import { canonicalText, isJsonNumber } from '../text/exact-json.ts';

export const MISSING_KEYS = ['unordered', 'together'] as const;
export const ON_EXHAUSTED = ['hold', 'continue'] as const;

/** What a route says of the order of its deliveries. */
export interface Ordering {
  /** A field as filters read it; null: all events of the route have one key. */
  key: string | null;
  /** Events without the field: in no order, or all under one key. */
  missingKey: (typeof MISSING_KEYS)[number];
  /** A delivery that has used up its retries blocks its key, or lets the next one go. */
  onExhausted: (typeof ON_EXHAUSTED)[number];
  holdSeconds: number;
}

export interface OrderKey {
  /** 16 bytes, hexadecimal. The same for equal keys. */
  hash: string;
  /** The first 64 characters, for people. */
  text: string;
}

const MOST_CHARACTERS = 64;
const HASH_BYTES = 16;

/**
 * The key that a field of an event has: its first value, if that is a text, a number or a boolean. The text "1" and the
 * number 1 are the same key; numbers compare by value.
 * @returns null when the field is missing, empty, or has no such value
 */
export function orderKeyOf(values: readonly unknown[]): OrderKey | null {
  const [value] = values;
  if (typeof value === 'string') return value === '' ? null : keyOf('key', value);
  if (typeof value !== 'boolean' && !isJsonNumber(value)) return null;
  const text = canonicalText(value);
  return text === null ? null : keyOf('key', text);
}

export const orderKeyOfRoute = (routeId: string): OrderKey => keyOf('route', routeId);

function keyOf(kind: 'key' | 'route', text: string): OrderKey {
  const hash = createHash('sha256').update(`${kind}:${text}`).digest().subarray(0, HASH_BYTES).toString('hex');
  return { hash, text: shown(text) };
}

/** PostgreSQL text cannot hold NUL. */
function shown(text: string): string {
  const start = [...text.slice(0, 2 * MOST_CHARACTERS)].slice(0, MOST_CHARACTERS).join('');
  return start.toWellFormed().replaceAll('\0', '\ufffd');
}

const SHARDS = 64;

/** The shard of all deliveries of a key, as db/schema/04-outbox.sql computes it. */
export const shardOfOrder = (hash: Uint8Array): number => (hash[0] ?? 0) % SHARDS;
