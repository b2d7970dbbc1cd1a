// Limits the memory of all request bodies together, from the first byte until the request is answered. Without it, the maximum
// number of connections with bodies of the maximum size would exceed the memory of the machine. Organizations share it by
// core/fairness/fair-queue.ts. So do the client addresses that send webhooks, each as much as it leaves free: a stranger's bodies leave room for
// the other senders of the same organization. The management API has a part of its own, so that a flood of webhooks locks no operator
// out.
import { FairQueue } from '../../core/fairness/fair-queue.ts';
import { ingestBuffered } from '../../core/metrics/ingest.ts';
import type { AppContext, Next } from '../request/context.ts';

const INGEST_PART = 3 / 4;
const CLIENT_TIMES_FREE = 1;

/** What the body of one request takes. */
export class BodyRoom {
  readonly #shares: readonly (readonly [FairQueue, string])[];
  #taken = 0;

  constructor(...shares: (readonly [FairQueue, string])[]) {
    this.#shares = shares;
  }

  /** Reserves memory for bytes that have arrived. @returns false when there is none for this sender */
  take(bytes: number): boolean {
    for (const [at, [queue, name]] of this.#shares.entries()) {
      if (queue.hold(name, bytes)) continue;
      for (const [taken, its] of this.#shares.slice(0, at)) taken.release(its, bytes);
      return false;
    }
    this.#taken += bytes;
    return true;
  }

  /** Releases all of it. */
  free(): void {
    if (this.#taken > 0) for (const [queue, name] of this.#shares) queue.release(name, this.#taken);
    this.#taken = 0;
  }
}

export class BodyMemory {
  readonly #ingest: FairQueue;
  readonly #clients: FairQueue;
  readonly #management: FairQueue;

  constructor(maxBytes: number) {
    const ingestBytes = Math.floor(maxBytes * INGEST_PART);
    this.#ingest = new FairQueue(ingestBytes);
    this.#clients = new FairQueue(ingestBytes, CLIENT_TIMES_FREE);
    this.#management = new FairQueue(maxBytes - ingestBytes);
    ingestBuffered.readFrom(() => this.#ingest.held + this.#management.held);
  }

  forWebhook(client: string, organization: string): BodyRoom {
    return new BodyRoom([this.#ingest, organization], [this.#clients, client]);
  }

  forManagement(organization: string): BodyRoom {
    return new BodyRoom([this.#management, organization]);
  }
}

/**
 * Bytes for all bodies, so that one client address may hold the largest webhook: it gets three eighths. Three times leave an eighth of
 * the webhook for the overhead of its chunks.
 * @param least of which a management request may have three sixteenths; the largest import (api/request/body.ts) must fit
 */
export const bufferedBytes = (least: number, maxPayloadBytes: number): number => Math.max(least, 3 * maxPayloadBytes);

/** Middleware: releases what the body of a request has taken when the request has been handled. */
export function bodyMemory(maxBytes: number): (ctx: AppContext, next: Next) => Promise<void> {
  const memory = new BodyMemory(maxBytes);
  return async (ctx, next) => {
    ctx.state.memory = memory;
    try {
      await next();
    } finally {
      ctx.state.room?.free();
    }
  };
}
