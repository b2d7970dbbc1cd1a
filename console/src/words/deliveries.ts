// What the status of a delivery means, and what comes next.
import type { Delivery } from 'hookyard/client';

type Status = Delivery['status'];

export const STATUSES: Record<Status, { means: string; next: string }> = {
  pending: { means: 'Its first attempt has no result yet.', next: 'There is nothing to do.' },
  retrying: {
    means: 'An attempt failed, and the next one is made by itself.',
    next: 'Retry now makes it at once.',
  },
  circuit_open: {
    means: 'It is held: the circuit of its route is open, or a pause is on. Nothing is lost.',
    next: 'It goes out by itself when that ends; the page of the route says when, and ends it now.',
  },
  delivered: { means: 'The destination took it.', next: 'There is nothing to do. Replay sends it once more.' },
  failed: {
    means: 'Its last attempt failed, and no other is made.',
    next: 'Repair the cause; then Replay sends it again, as a new delivery.',
  },
  failed_over: {
    means: 'Its destination did not take it, and a failover destination got it instead.',
    next: 'All deliveries of the event show what became of it there.',
  },
  schema_failed: {
    means: 'Its payload does not match the schema of the route, so it was not sent.',
    next: 'Correct the schema or the sender; then Replay tries it again.',
  },
  filter_failed: {
    means: 'The filter of the route is more work than one webhook may make, so it was not sent.',
    next: 'Make the filter simpler; then Replay tries it again.',
  },
  skipped: { means: 'Its destination was disabled.', next: 'Enable the destination; then Replay sends it.' },
  cancelled: {
    means: 'Somebody ended it, or its destination was deleted.',
    next: 'Replay sends it, if the destination is there.',
  },
};

const LANES: Record<NonNullable<Delivery['lane']>, true> = { workflow: true, express: true };
export const LANE_NAMES = Object.keys(LANES) as (keyof typeof LANES)[];

export const STATUS_NAMES = Object.keys(STATUSES) as Status[];

/** Those that have not ended. */
export const isOpen = (status: Status): boolean => ['pending', 'retrying', 'circuit_open'].includes(status);
