// Limits the memory of all request bodies together, from the first byte until the request is answered. Without it, the maximum
// number of connections with bodies of the maximum size would exceed the memory of the machine. No client address, no source and
// no organization can take all of it, and ingest leaves a part to the management API.
import { ingestBuffered } from '../core/metrics/ingest.ts';
import { type Holder, SharedCapacity } from '../core/shared-capacity.ts';
import type { AppContext, Next } from './context.ts';

// What ingest may use of the memory; the rest is for the management API only, so that a flood of webhooks locks no operator out.
const INGEST_PART = 3 / 4;

// Who may hold how many times what is free (core/shared-capacity.ts): alone 1/2, 2/3 and 3/4 of ingest's part. A wider group has
// the larger factor, so that one address leaves room for the others of its source, and one source for those of its organization.
const FACTORS = { client: 1, source: 2, organization: 3 };
// One address may have most of a source's places, because a provider may have one address only.
const PLACES_FACTOR = 7;

/** Whom the memory of a request is counted for; each is the name of one in any form. */
export interface Sender {
  client: string;
  /** Only of a webhook. */
  source?: string;
  organization: string;
}

/** The share of one request. */
export interface BodyMemoryBudget {
  /**
   * Says whose request it is. Before that it may not take anything.
   * @returns false when its source receives as many webhooks as it may; the request is not counted then
   */
  enter(sender: Sender): boolean;
  /** Reserves memory for bytes that have arrived. @returns false when there is none for this sender */
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
  const all = new SharedCapacity(maxBytes);
  const ingest = new SharedCapacity(Math.floor(maxBytes * INGEST_PART));
  const places = new Map<string, SharedCapacity>();
  ingestBuffered.readFrom(() => all.used);

  function enterSource(source: string, client: Holder[]): boolean {
    const ofSource = places.get(source) ?? new SharedCapacity(maxRequestsPerSource);
    if (!ofSource.take(1, client)) return false;
    places.set(source, ofSource);
    return true;
  }

  function leaveSource(source: string, client: Holder[]): void {
    const ofSource = places.get(source);
    ofSource?.give(1, client);
    if (ofSource?.used === 0) places.delete(source);
  }

  return () => {
    let taken = 0;
    let source: string | undefined;
    let client: Holder[] = [];
    let holders: Holder[] | undefined;
    return {
      enter(sender) {
        client = [{ name: sender.client, factor: PLACES_FACTOR }];
        if (sender.source !== undefined && !enterSource(sender.source, client)) return false;
        source = sender.source;
        holders = holdersOf(sender);
        return true;
      },
      take(bytes) {
        if (holders === undefined) return false;
        // The management API has no share of its own: its organizations share the whole.
        const isIngest = source !== undefined;
        if (isIngest && !ingest.take(bytes, holders)) return false;
        if (!all.take(bytes, isIngest ? [] : holders)) {
          if (isIngest) ingest.give(bytes, holders);
          return false;
        }
        taken += bytes;
        return true;
      },
      free() {
        if (holders === undefined) return;
        if (source !== undefined) ingest.give(taken, holders);
        all.give(taken, source === undefined ? holders : []);
        if (source !== undefined) leaveSource(source, client);
        taken = 0;
        source = undefined;
        holders = undefined;
      },
    };
  };
}

function holdersOf({ client, source, organization }: Sender): Holder[] {
  const ofOrganization = { name: `organization ${organization}`, factor: FACTORS.organization };
  if (source === undefined) return [ofOrganization];
  return [
    { name: `client ${client}`, factor: FACTORS.client },
    { name: `source ${source}`, factor: FACTORS.source },
    ofOrganization,
  ];
}

/**
 * Bytes for all bodies, so that one client address may hold the largest webhook: it gets three eighths (`INGEST_PART` and `FACTORS`).
 * Three times leave an eighth of the webhook for the overhead of its chunks.
 * @param least of which a management request may have three quarters; the largest import (api/body.ts) must fit
 */
export const bufferedBytes = (least: number, maxPayloadBytes: number): number => Math.max(least, 3 * maxPayloadBytes);

/** Middleware: gives every request its budget, and releases it when the request has been handled. */
export function bodyMemory(limits: RoomLimits): (ctx: AppContext, next: Next) => Promise<void> {
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
