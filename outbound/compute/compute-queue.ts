// The filters and schemas that wait for a thread: bounded, by organization and in all, and organizations take turns. A queue of its own,
// because it refuses what comes last and never what waits, and is asked for the next item that may run.
import { leftFor } from '../../core/fair-share.ts';

const MAX_WAITING = 1000;
/** Each has one item at least, so that up to as many may wait beyond the number and the bytes that are shared. */
const MAX_ORGANIZATIONS = 1000;
const MAX_WAITING_PER_ORGANIZATION = 100;
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_BYTES_PER_ORGANIZATION = 64 * 1024 * 1024;

export interface Waiting {
  organizationId: string;
  bytes: number;
}

interface Line<Item> {
  items: Item[];
  bytes: number;
}

export class ComputeQueue<Item extends Waiting> {
  /** In the order of their next turn. */
  readonly #lines = new Map<string, Line<Item>>();
  #bytes = 0;
  size = 0;

  /** @returns false when too much waits already; one item of an organization always has room beside those of others */
  add(item: Item): boolean {
    const line = this.#lines.get(item.organizationId) ?? { items: [], bytes: 0 };
    const hasRoom =
      line.items.length === 0 ? this.#lines.size < MAX_ORGANIZATIONS : this.#hasShareLeft(line, item.bytes);
    if (!hasRoom) return false;
    line.items.push(item);
    this.#lines.set(item.organizationId, line);
    this.#count(line, item, 1);
    return true;
  }

  /** The next item of an organization that may run now; it stays. */
  next(mayRun: (organizationId: string) => boolean): Item | undefined {
    for (const [organizationId, { items }] of this.#lines) if (mayRun(organizationId)) return items[0];
    return undefined;
  }

  /** Takes an item out. @param served whether it had its turn: the others of its organization wait behind the other ones */
  remove(item: Item, served: boolean): void {
    const line = this.#lines.get(item.organizationId);
    const at = line?.items.indexOf(item) ?? -1;
    if (line === undefined || at === -1) return;
    line.items.splice(at, 1);
    this.#count(line, item, -1);
    if (served || line.items.length === 0) this.#lines.delete(item.organizationId);
    if (line.items.length > 0) this.#lines.set(item.organizationId, line);
  }

  all(): Item[] {
    return [...this.#lines.values()].flatMap(({ items }) => items);
  }

  #hasShareLeft(line: Line<Item>, bytes: number): boolean {
    if (line.items.length >= MAX_WAITING_PER_ORGANIZATION || line.bytes + bytes > MAX_BYTES_PER_ORGANIZATION)
      return false;
    const items = leftFor({ limit: MAX_WAITING, taken: this.size, alone: false }, line.items.length);
    return items > 0 && leftFor({ limit: MAX_BYTES, taken: this.#bytes, alone: false }, line.bytes) >= bytes;
  }

  #count(line: Line<Item>, { bytes }: Item, sign: 1 | -1): void {
    line.bytes += sign * bytes;
    this.#bytes += sign * bytes;
    this.size += sign;
  }
}
