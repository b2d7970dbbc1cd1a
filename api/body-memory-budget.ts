// How much memory all bodies of requests may take together, from their first byte until the request is answered, and how
// much of it the webhooks of one source. Without it, as many connections as are allowed, each with a body as large as is
// allowed, are more memory than there is.
import type { AppContext, Next } from './context.ts';

/** What one request holds of it. */
export interface BodyMemoryBudget {
  /**
   * Counts the request for a source. A source may hold half of the memory, so that one under attack leaves room for others.
   * @returns false when the source has as many under way as it may; then the request counts for nothing
   */
  enter(source: string): boolean;
  /** Takes room for what has arrived. @returns false when there is none */
  take(bytes: number): boolean;
  /** Gives everything back. */
  free(): void;
}

export interface RoomLimits {
  /** Bytes of the bodies of all requests. */
  maxBytes: number;
  /** Requests of one source that are being received or stored. */
  maxRequestsPerSource: number;
}

/** @returns makes the room of one request */
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

/** Middleware: gives every request its room, and takes it back when the request has been handled. */
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
