// Which of the deliveries that wait for a warehouse become the next file: at so many events, so many bytes or after so
// long a time, whichever is first, and never of two partitions.

/** The statuses of a batch that is frozen and whose file has not been uploaded. */
export const TO_UPLOAD_STATUSES: readonly string[] = ['frozen', 'uploading'];

// With many partitions, none of which is full, this many files' worth may wait; then the fullest one is written. This
// limits how much one check reads.
const FILES_THAT_WAIT = 10;
const MOST_LOOKED_AT = 20_000;

export interface WaitingDelivery {
  deliveryId: string;
  partition: string;
  bytes: number;
  /** When the event was received, ms since 1970. */
  receivedAt: number;
  /** Since when it waits, ms since 1970. */
  since: number;
}

export interface BatchRule {
  batchSize: number;
  /** Of their payloads; a single larger one is a file of its own. */
  batchBytes: number;
  batchWindowMs: number;
}

export interface FillingBatch {
  partition: string;
  events: number;
  bytes: number;
}

export type BatchPlan<Delivery extends WaitingDelivery = WaitingDelivery> =
  | { kind: 'due'; partition: string; members: Delivery[] }
  /** Nothing is full before so much has come, or so much time has passed. */
  | { kind: 'filling'; batches: FillingBatch[]; waitMs: number; neededEvents: number; neededBytes: number };

/** How many of the oldest deliveries are checked; enough while only one partition waits. */
export const quickLook = ({ batchSize }: BatchRule): number => batchSize;
export const fullLook = ({ batchSize }: BatchRule): number =>
  Math.max(Math.min(FILES_THAT_WAIT * batchSize, MOST_LOOKED_AT), 2 * batchSize);

/**
 * @param waiting in the order in which files take them; not empty
 * @param isAll whether nothing else waits
 * @returns null when more deliveries must be checked to decide
 */
export function planBatch<Delivery extends WaitingDelivery>(
  waiting: readonly Delivery[],
  rule: BatchRule,
  { nowMs, isAll }: { nowMs: number; isAll: boolean },
): BatchPlan<Delivery> | null {
  const groups = [...Map.groupBy(waiting, ({ partition }) => partition)].map(([partition, members]) => ({
    partition,
    members,
    bytes: members.reduce((sum, { bytes }) => sum + bytes, 0),
    since: members.reduce((oldest, { since }) => Math.min(oldest, since), Number.POSITIVE_INFINITY),
  }));
  const isFull = ({ members, bytes }: (typeof groups)[number]) =>
    members.length >= rule.batchSize || bytes >= rule.batchBytes;
  const full = groups.filter(isFull);
  if (full.length === 0 && !isAll && waiting.length < fullLook(rule)) return null;
  const expired = groups.filter(({ since }) => nowMs - since >= rule.batchWindowMs);
  const due = [...full, ...expired].toSorted((a, b) => a.since - b.since)[0] ?? (isAll ? undefined : fullest(groups));
  if (due) return { kind: 'due', partition: due.partition, members: firstOf(due.members, rule) };
  const oldest = Math.min(...groups.map(({ since }) => since));
  return {
    kind: 'filling',
    batches: groups.map(({ partition, members, bytes }) => ({ partition, events: members.length, bytes })),
    // A clock that is ahead in another process must not make it wait for longer than a window.
    waitMs: Math.min(rule.batchWindowMs, oldest + rule.batchWindowMs - nowMs),
    neededEvents: Math.min(...groups.map(({ members }) => rule.batchSize - members.length)),
    neededBytes: Math.min(...groups.map(({ bytes }) => rule.batchBytes - bytes)),
  };
}

function fullest<Group extends { members: unknown[] }>(groups: Group[]): Group | undefined {
  return groups.toSorted((a, b) => b.members.length - a.members.length)[0];
}

function firstOf<Delivery extends WaitingDelivery>(
  members: Delivery[],
  { batchSize, batchBytes }: BatchRule,
): Delivery[] {
  let bytes = 0;
  const end = members.findIndex((member, index) => {
    bytes += member.bytes;
    return index >= batchSize || (index > 0 && bytes > batchBytes);
  });
  return end === -1 ? members : members.slice(0, end);
}
