// Limits the memory of all request bodies together, from the first byte until the request is answered, and the share of one
// source. Without it, the maximum number of connections with bodies of the maximum size would exceed the memory of the machine.
import type { AppContext, Next } from './context.ts';

/** The share of one request. */
export interface BodyMemoryBudget {
  /**
   * Counts the request for a source. A source may hold half of the memory, so that one under attack leaves memory for others.
   * @returns false when the source is at its limit; the request is not counted then
   */
  enter(source: string): boolean;
  /** Reserves memory for bytes that have arrived. @returns false when the budget is used up */
  take(bytes: number): boolean;
  /** Releases all memory of the request. */
  free(): void;
}

export interface RoomLimits {
  /** Bytes of the bodies of all requests. */
  maxBytes: number;
  /** Requests of one source that are being received or stored. */
  maxRequestsPerSource: number;
}

/** @returns a function that creates the budget of one request */
export function createBodyMemoryBudgets({ maxBytes, maxRequestsPerSource }: RoomLimits): () => BodyMemoryBudget {
  let used = 0;
  const sources = new Map<string, { requests: number; bytes: number }>();

  return () => {
    let taken = 0;
    let source: string | undefined;
    return {
      enter(name) {
        const known = sources.get(name) ?? { requests: 0, bytes: 0 };
        if (known.requests >= maxRequestsPerSource) return false;
        known.requests += 1;
        sources.set(name, known);
        source = name;
        return true;
      },
      take(bytes) {
        const ofSource = source === undefined ? undefined : sources.get(source);
        if (used + bytes > maxBytes) return false;
        if (ofSource !== undefined) {
          if (ofSource.bytes + bytes > maxBytes / 2) return false;
          ofSource.bytes += bytes;
        }
        used += bytes;
        taken += bytes;
        return true;
      },
      free() {
        used -= taken;
        const ofSource = source === undefined ? undefined : sources.get(source);
        if (source !== undefined && ofSource !== undefined) {
          ofSource.bytes -= taken;
          ofSource.requests -= 1;
          if (ofSource.requests === 0) sources.delete(source);
        }
        taken = 0;
        source = undefined;
      },
    };
  };
}

/** Middleware: gives every request its budget, and releases it when the request has been handled. */
export function bodyRooms(limits: RoomLimits): (ctx: AppContext, next: Next) => Promise<void> {
  const open = createBodyMemoryBudgets(limits);
  return async (ctx, next) => {
    const room = open();
    ctx.state.room = room;
    try {
      await next();
    } finally {
      room.free();
    }
  };
}
