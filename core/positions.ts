// Positions of deliveries: which relay claims a delivery follows from its id alone, the same in every process and for ever. Relays
// lease ranges of positions (db/hot-path/relay-leases.ts).
import { randomBitsOf, shardOf } from './ids.ts';

// The third last character of an id divides a shard further.
const PER_SHARD = 32;
const SHARDS = 64;
const SHARDS_PER_BUCKET = 2;

/** Number of positions: 0 to 2047. */
export const POSITIONS = SHARDS * PER_SHARD;
/** Positions of a bucket, the unit of the index outbox_by_bucket. */
const BUCKET_SIZE = PER_SHARD * SHARDS_PER_BUCKET;

/** Ranges `from` <= position < `to`, in order, that do not touch. */
export type Positions = readonly { from: number; to: number }[];

export const ALL_POSITIONS: Positions = [{ from: 0, to: POSITIONS }];

/** The position of a delivery. */
export function positionOf(id: string): number {
  return shardOf(id) * PER_SHARD + randomBitsOf(id, 3);
}

/** Whether a position is among these. */
export function isAmong(positions: Positions, position: number): boolean {
  return positions.some(({ from, to }) => position >= from && position < to);
}

/** The buckets that these positions lie in, in order, with how many of them lie in each. */
export function bucketsOf(positions: Positions): Map<number, number> {
  const buckets = new Map<number, number>();
  for (const { from, to } of positions) {
    for (let bucket = Math.floor(from / BUCKET_SIZE); bucket * BUCKET_SIZE < to; bucket += 1) {
      const [first, end] = [bucket * BUCKET_SIZE, (bucket + 1) * BUCKET_SIZE];
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + Math.min(to, end) - Math.max(from, first));
    }
  }
  return buckets;
}

// More of them are told as all: a notification of PostgreSQL takes 8,000 bytes, and most relays would be woken anyway.
const MOST_TOLD = 200;

/** What relays are told of deliveries that wait (db/hot-path/outbox-listener.ts): their positions; '' is all. */
export function tellPositions(positions: readonly number[]): string {
  const distinct = new Set(positions);
  return distinct.size > MOST_TOLD ? '' : [...distinct].map((position) => position.toString(36)).join(',');
}

// Deliveries in more buckets are told to all relays at once: most of them would be woken anyway, and each notification costs.
const MOST_BUCKETS_TOLD = 4;

/** What is told of deliveries that wait, and to whom: the relays that hold something of a bucket, or (`null`) all. */
export function newsOf(positions: readonly number[]): { bucket: number | null; told: string }[] {
  const byBucket = Map.groupBy(positions, (position) => Math.floor(position / BUCKET_SIZE));
  if (byBucket.size > MOST_BUCKETS_TOLD) return [{ bucket: null, told: tellPositions(positions) }];
  return [...byBucket].map(([bucket, own]) => ({ bucket, told: tellPositions(own) }));
}

/** Whether what was told is of one of these positions. What is not understood is of all. */
export function isToldOf(told: string, positions: Positions): boolean {
  return told.split(',').some((text) => {
    const position = Number.parseInt(text, 36);
    return !(position < POSITIONS) || isAmong(positions, position);
  });
}

/** How many positions these are. */
export function sizeOf(positions: Positions): number {
  return positions.reduce((sum, { from, to }) => sum + to - from, 0);
}

/** Positions as PostgreSQL writes an int4multirange: `{[0,10),[20,30)}` (PostgreSQL manual, 8.17). */
export function readPositions(text: string): Positions {
  return [...text.matchAll(/\[(\d+),(\d+)\)/g)].map(([, from, to]) => ({ from: Number(from), to: Number(to) }));
}

/** The same text of them. */
export function writePositions(positions: Positions): string {
  return `{${positions.map(({ from, to }) => `[${from},${to})`).join(',')}}`;
}
