// The status of an event as people see it.
import type { Event } from '@hookyard/client';

/** The API calls an event delivered, too, that no route took: nothing of it is open. */
export const eventState = ({ status, routed, deliveriesCount }: Event): string =>
  status === 'delivered' && !routed && deliveriesCount === 0 ? 'not_routed' : status;
