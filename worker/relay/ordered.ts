// Deliveries of one ordering key, one after the other. Only the head of a key is in the outbox; the next one enters it
// when the head's result is recorded. That alone would take two commits and a claim for each. So the relay that has
// claimed a head goes on by itself: when the destination has accepted an event, the next one is sent at once, while the
// result of the one before is being recorded. Results are recorded in their order. The run of a key ends at the first
// event that is not accepted, when nothing waits, or when the relay may not start another one; the rest is claimed
// later.
import type { OrderedAttempt } from '../../activities/attempt/index.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { type OutboxRow, type StartPolicy, type OrderedRow, waitingInOrder } from '../../db/hot-path/claim.ts';
import { type InFlight, shardOfRow } from './in-flight.ts';

// Rows of a key that are read at a time, and of all keys that were claimed together.
const LEAST_READ = 10;
const MOST_READ = 50;
const MOST_OF_ALL = 2000;

export interface OrderedDeps {
  hotPool: Pool;
  inFlight: InFlight;
  /** Whether this worker owns a shard. */
  owns: (shard: number) => boolean;
  wakeOthers: () => void;
  policiesOf: (rows: OutboxRow[]) => Promise<(row: OutboxRow) => StartPolicy>;
  /** Makes the first attempt of a delivery that counts as in flight. @returns when it is recorded, or has failed */
  attempt: (row: OutboxRow, policy: StartPolicy, inOrder: OrderedAttempt) => Promise<void>;
}

interface Follower {
  row: OrderedRow;
  policy: StartPolicy;
}

/** Starts the heads of ordering keys that were claimed together, and continues with what waits behind them. */
export function startInOrder(deps: OrderedDeps, heads: OutboxRow[], policyOf: (row: OutboxRow) => StartPolicy): void {
  // A rate limit has a claim for each slot (round.ts).
  const followed = heads.filter((row) => policyOf(row).rateLimitPerMinute === null);
  const behind = followed.length === 0 ? Promise.resolve([]) : read(deps, followed);
  const byKey = behind.then((all) => Map.groupBy(all, ({ row }) => keyOf(row)));
  byKey.catch(() => {});
  const isFollowed = new Set(followed);
  for (const head of heads) {
    const waiting = byKey.then((all) => all.get(keyOf(head)) ?? []);
    waiting.catch(() => {});
    new KeyRun(deps, isFollowed.has(head) ? waiting : Promise.resolve([])).begin(head, policyOf(head));
  }
}

const keyOf = ({ destinationId, orderHash }: OutboxRow): string => `${destinationId} ${orderHash?.toString('base64')}`;

async function read({ hotPool, policiesOf }: OrderedDeps, heads: OutboxRow[]): Promise<Follower[]> {
  const most = Math.max(LEAST_READ, Math.min(MOST_READ, Math.floor(MOST_OF_ALL / heads.length)));
  const rows = await waitingInOrder(hotPool, heads, most);
  if (rows.length === 0) return [];
  const policyOf = await policiesOf(rows);
  return rows.map((row) => ({ row, policy: policyOf(row) }));
}

class KeyRun {
  readonly #deps: OrderedDeps;
  readonly #waiting: Promise<Follower[]>;
  readonly #recording = new Set<string>();
  #queued: { deliveryId: string; isAccepted: boolean; go: () => void }[] = [];

  constructor(deps: OrderedDeps, waiting: Promise<Follower[]>) {
    this.#deps = deps;
    this.#waiting = waiting;
  }

  begin(row: OutboxRow, policy: StartPolicy): void {
    const { deliveryId } = row;
    void this.#deps
      .attempt(row, policy, {
        accepted: () => void this.#next().catch(() => {}),
        turnToRecord: (isAccepted) => this.#turnToRecord(deliveryId, isAccepted),
      })
      .finally(() => {
        this.#recorded(deliveryId);
        // Another worker owns the shard now, and was not notified.
        if (!this.#deps.owns(shardOfRow(row))) this.#deps.wakeOthers();
      });
  }

  /** An error of the database ends the run: the next one is claimed when the one before is recorded. */
  async #next(): Promise<void> {
    // What came later is claimed, so that keys take turns.
    const next = (await this.#waiting).shift();
    if (next === undefined || !this.#mayStart(next.row)) return;
    this.#deps.inFlight.add(next.row);
    this.begin(next.row, next.policy);
  }

  #mayStart(row: OrderedRow): boolean {
    const { inFlight, owns } = this.#deps;
    return owns(shardOfRow(row)) && !inFlight.has(row.deliveryId) && inFlight.hasRoom(row);
  }

  /** What is accepted while another result of the key is being recorded, is recorded after it, in its order. */
  async #turnToRecord(deliveryId: string, isAccepted: boolean): Promise<void> {
    if (this.#recording.has(deliveryId)) return;
    if (this.#recording.size > 0) {
      await new Promise<void>((go) => this.#queued.push({ deliveryId, isAccepted, go }));
      return;
    }
    this.#recording.add(deliveryId);
  }

  #recorded(deliveryId: string): void {
    this.#recording.delete(deliveryId);
    if (this.#recording.size > 0) return;
    const accepted = this.#queued.filter(({ isAccepted }) => isAccepted);
    // What is not accepted is the last of the run, and is recorded alone: it may block the key.
    const together = accepted.length > 0 ? accepted : this.#queued.splice(0);
    this.#queued = this.#queued.filter((each) => !together.includes(each));
    for (const each of together) {
      this.#recording.add(each.deliveryId);
      each.go();
    }
  }
}
