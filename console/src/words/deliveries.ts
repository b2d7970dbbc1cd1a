// What the status of a delivery means, and what comes next.
import type { Delivery } from '@hookyard/client';
import { plain } from '../format.ts';

type Status = Delivery['status'];

export const STATUSES: Record<Status, string> = {
  pending: 'The first attempt has not finished yet.',
  retrying: 'The last attempt failed and the next one is scheduled. "Retry now" starts it immediately.',
  circuit_open:
    'Held by the circuit breaker or by a paused route or destination. Sent automatically when the circuit breaker closes or the pause ends.',
  delivered: 'The destination accepted the event.',
  failed: 'The retries are used up, or no attempt could succeed. Fix the cause, then replay the delivery.',
  failed_over:
    'The destination failed or the circuit breaker was open. A delivery to a failover destination replaced this one.',
  schema_failed:
    "The payload does not match the route's schema, or could not be checked against it, so the event was not sent. Fix the schema or the sender, then replay the delivery.",
  filter_failed:
    "The route's filter or ordering key took too much time or memory to evaluate, so the event was not sent. Simplify the filters and schemas of the source's routes, then replay the delivery.",
  skipped: 'The destination was disabled. Enable it, then replay the delivery.',
  cancelled: 'Cancelled by a user or an operator, or because its source or destination was deleted.',
};

const LANES: Record<NonNullable<Delivery['lane']>, true> = { workflow: true, express: true };
export const LANE_NAMES = Object.keys(LANES) as (keyof typeof LANES)[];

export const STATUS_NAMES = Object.keys(STATUSES) as Status[];

/** Of one that `waitsFor` another. */
export const waitingText = ({ orderKey, routeId }: Pick<Delivery, 'orderKey' | 'routeId'>): string =>
  `Waiting for an earlier event ${orderKey === routeId ? 'on the route' : `with the key ${plain(orderKey ?? '')}`}`;

/** Those that have not ended. */
export const OPEN: Status[] = ['pending', 'retrying', 'circuit_open'];
export const isOpen = (status: Status): boolean => OPEN.includes(status);
