// A destination that can be down, and what a bench asks of the circuit in front of it.
import type { Service } from '../support/service.ts';
import type { Receiver } from '../support/traffic.ts';

/** One request that reached the destination. */
export interface Hit {
  eventId: string;
  /** ms since 1970, the clock of the workers. */
  at: number;
  taken: boolean;
}

export interface BreakableDestination {
  /** In order of arrival. */
  hits: Hit[];
  /** While true, requests are answered 500. */
  isDown: () => boolean;
}

/** Makes the receiver note everything that reaches it, and refuse it while it is down. */
export function makeBreakable(receiver: Receiver): BreakableDestination {
  const destination: BreakableDestination = { hits: [], isDown: () => false };
  receiver.arrivals.clear();
  receiver.answer = ({ headers }) => {
    const taken = !destination.isDown();
    destination.hits.push({ eventId: String(headers['x-hookyard-event-id']), at: Date.now(), taken });
    return taken ? 200 : 500;
  };
  return destination;
}

/** When a circuit opened, ms since 1970; false while it is not open. */
export async function openedAt(service: Service, routeId: string): Promise<number | false> {
  const status = await service.call('GET', `/api/routes/${routeId}/circuit-status`);
  const time = (status as { openedAt: string | null }).openedAt;
  return time === null ? false : Date.parse(time);
}
