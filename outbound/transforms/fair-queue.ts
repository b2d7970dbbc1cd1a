// The queue for threads: bounded, and fair between groups.
import { openError, ownWords } from '../../core/error-summary.ts';
import type { Job } from './thread.ts';
import { SandboxUnavailableError, type TransformResult } from './types.ts';

const WAIT_DEADLINE_MS = 20_000;
const MAX_WAITING = 1000;
const MAX_WAITING_PER_GROUP = 500;
const MAX_WAITING_BYTES = 128 * 1024 * 1024;

export interface Waiting {
  job: Job;
  /** Whose turn it is: one group's many jobs do not hold up another's one. */
  group: string;
  resolve: (result: TransformResult) => void;
  reject: (error: Error) => void;
}

interface Entry {
  waiting: Waiting;
  bytes: number;
  timer: NodeJS.Timeout;
}

export class FairQueue {
  /** In the order of their next turn. */
  readonly #groups = new Map<string, Entry[]>();
  #bytes = 0;
  size = 0;

  /** Adds a job, or refuses it when too much waits already; it is also refused when its turn does not come in time. */
  add(waiting: Waiting): void {
    const { job, group } = waiting;
    const bytes = (job.event?.body.byteLength ?? 0) + job.transform.code.length;
    const entries = this.#groups.get(group) ?? [];
    if (
      this.size >= MAX_WAITING ||
      entries.length >= MAX_WAITING_PER_GROUP ||
      this.#bytes + bytes > MAX_WAITING_BYTES
    ) {
      waiting.reject(new SandboxUnavailableError(openError(ownWords`Too many transforms are waiting for their turn`)));
      return;
    }
    const late = openError(ownWords`The transform did not get its turn within ${WAIT_DEADLINE_MS / 1000} s`);
    const entry: Entry = {
      waiting,
      bytes,
      timer: setTimeout(() => {
        this.#remove(entry);
        waiting.reject(new SandboxUnavailableError(late));
      }, WAIT_DEADLINE_MS),
    };
    entries.push(entry);
    this.#groups.set(group, entries);
    this.size += 1;
    this.#bytes += bytes;
  }

  /** The next job of a group that may run now; it stays in the queue. */
  next(mayRun: (group: string) => boolean): Waiting | undefined {
    for (const [group, entries] of this.#groups) if (mayRun(group)) return entries[0]?.waiting;
    return undefined;
  }

  /** Takes a job out; the other jobs of its group wait behind the other groups. */
  take(waiting: Waiting): void {
    const entry = this.#groups.get(waiting.group)?.find((each) => each.waiting === waiting);
    if (entry) this.#remove(entry);
  }

  refuseAll(error: Error): void {
    for (const entry of [...this.#groups.values()].flat()) {
      this.#remove(entry);
      entry.waiting.reject(error);
    }
  }

  #remove(entry: Entry): void {
    const { group } = entry.waiting;
    const left = (this.#groups.get(group) ?? []).filter((each) => each !== entry);
    this.#groups.delete(group);
    if (left.length > 0) this.#groups.set(group, left);
    clearTimeout(entry.timer);
    this.size -= 1;
    this.#bytes -= entry.bytes;
  }
}
