// The transforms that wait for a thread: bounded, and fair between organizations; within an organization between its groups. Within a
// group the oldest is first, and what is refused is the youngest of its organization, so that what comes back has its turn in the end.
// A queue of its own, because none of the others has groups, ages and deadlines.
import { openError, ownWords } from '../../core/error-summary.ts';
import type { Job } from './sandbox-thread.ts';
import { LateTurnError, NoTurnError, type TransformResult, type Turn } from './types.ts';

const WAIT_DEADLINE_MS = 20_000;
const MAX_WAITING = 1000;
const MAX_WAITING_BYTES = 128 * 1024 * 1024;
// When there may be room, or a thread, again.
const ROOM_MS = 5000;

export interface Waiting {
  job: Job;
  turn: Turn;
  resolve: (result: TransformResult) => void;
  reject: (error: Error) => void;
}

interface Entry<One extends Waiting> {
  waiting: One;
  bytes: number;
  timer: NodeJS.Timeout;
}

interface Organization<One extends Waiting> {
  /** In the order of their next turn; none is empty. */
  groups: Map<string, Entry<One>[]>;
  size: number;
  bytes: number;
}

export class TransformQueue<One extends Waiting> {
  /** In the order of their next turn; none is empty. */
  readonly #organizations = new Map<string, Organization<One>>();
  #bytes = 0;
  size = 0;

  /**
   * Adds a job. When its organization has more waiting than there is room left, its youngest jobs are refused, or this one alone
   * if those younger than it would not make enough room: so there is always room for another organization. A job is refused later
   * when its turn does not come in time.
   */
  add(waiting: One): void {
    const { job, turn } = waiting;
    const bytes = (job.event?.body.byteLength ?? 0) + job.transform.code.length;
    const organization = this.#organizations.get(turn.organizationId) ?? newOrganization<One>();
    const evicted = this.#evictedFor(waiting, bytes, organization);
    const full = ownWords`Too many transforms of the organization are waiting for their turn`;
    const error = new NoTurnError(openError(full), ROOM_MS);
    if (evicted === null) {
      waiting.reject(error);
      return;
    }
    for (const entry of evicted) {
      this.#remove(entry);
      entry.waiting.reject(error);
    }
    const late = openError(ownWords`The transform did not get its turn within ${WAIT_DEADLINE_MS / 1000} s`);
    const entry: Entry<One> = {
      waiting,
      bytes,
      timer: setTimeout(() => {
        this.#remove(entry);
        waiting.reject(new LateTurnError(late, ROOM_MS));
      }, WAIT_DEADLINE_MS),
    };
    const entries = organization.groups.get(turn.group) ?? [];
    entries.splice(entries.findLastIndex((each) => sinceOf(each.waiting) <= sinceOf(waiting)) + 1, 0, entry);
    organization.groups.set(turn.group, entries);
    this.#organizations.set(turn.organizationId, organization);
    this.#count(organization, 1, bytes);
  }

  /** The next job that may run now: of the first organization in turn that has one; it stays in the queue. */
  next(mayRun: (turn: Turn) => boolean): One | undefined {
    for (const { groups } of this.#organizations.values()) {
      for (const [entry] of groups.values()) if (entry && mayRun(entry.waiting.turn)) return entry.waiting;
    }
    return undefined;
  }

  /** Takes a job out; the others of its group wait behind the other groups, and those of its organization behind the others. */
  take(waiting: One): void {
    const { organizationId, group } = waiting.turn;
    const organization = this.#organizations.get(organizationId);
    const entry = organization?.groups.get(group)?.find((each) => each.waiting === waiting);
    if (!organization || !entry) return;
    this.#remove(entry);
    const left = organization.groups.get(group);
    if (left) {
      organization.groups.delete(group);
      organization.groups.set(group, left);
    }
    if (this.#organizations.delete(organizationId) && organization.size > 0) {
      this.#organizations.set(organizationId, organization);
    }
  }

  /** Refuses all that wait, or those of one organization. */
  refuse(error: (turn: Turn) => Error, organizationId?: string): void {
    const organizations = [...this.#organizations].filter(
      ([id]) => organizationId === undefined || id === organizationId,
    );
    for (const entry of organizations.flatMap(([, { groups }]) => [...groups.values()].flat())) {
      this.#remove(entry);
      entry.waiting.reject(error(entry.waiting.turn));
    }
  }

  /** The youngest jobs of the organization that have to go for this one; null: all that are younger would not be enough. */
  #evictedFor(waiting: One, bytes: number, organization: Organization<One>): Entry<One>[] | null {
    const evicted: Entry<One>[] = [];
    let freed = 0;
    // What goes leaves more room, and its organization has less of it: it counts twice.
    const fits = () =>
      organization.size + this.size - 2 * evicted.length < MAX_WAITING &&
      organization.bytes + bytes + this.#bytes - 2 * freed <= MAX_WAITING_BYTES;
    if (fits()) return evicted;
    for (const entry of youngestFirst(organization)) {
      if (sinceOf(entry.waiting) <= sinceOf(waiting)) return null;
      evicted.push(entry);
      freed += entry.bytes;
      if (fits()) return evicted;
    }
    return null;
  }

  #remove(entry: Entry<One>): void {
    clearTimeout(entry.timer);
    const { organizationId, group } = entry.waiting.turn;
    const organization = this.#organizations.get(organizationId);
    const entries = organization?.groups.get(group);
    const at = entries?.indexOf(entry) ?? -1;
    if (!organization || !entries || at < 0) return;
    entries.splice(at, 1);
    if (entries.length === 0) organization.groups.delete(group);
    this.#count(organization, -1, -entry.bytes);
    if (organization.size === 0) this.#organizations.delete(organizationId);
  }

  #count(organization: Organization<One>, jobs: 1 | -1, bytes: number): void {
    organization.size += jobs;
    organization.bytes += bytes;
    this.size += jobs;
    this.#bytes += bytes;
  }
}

function newOrganization<One extends Waiting>(): Organization<One> {
  return { groups: new Map(), size: 0, bytes: 0 };
}

// Somebody waits for an answer now: before what has waited for long already, and never refused for its sake.
const sinceOf = ({ turn }: Waiting): number => turn.since ?? Number.NEGATIVE_INFINITY;

/** One by one, because mostly a few are enough. */
function* youngestFirst<One extends Waiting>({ groups }: Organization<One>): Generator<Entry<One>> {
  const left = new Map([...groups.values()].map((entries) => [entries, entries.length]));
  for (;;) {
    let youngest: Entry<One> | undefined;
    let from: Entry<One>[] | undefined;
    for (const [entries, count] of left) {
      const last = entries[count - 1];
      if (last && (!youngest || sinceOf(last.waiting) > sinceOf(youngest.waiting))) [youngest, from] = [last, entries];
    }
    if (!youngest || !from) return;
    left.set(from, (left.get(from) ?? 0) - 1);
    yield youngest;
  }
}
