// The ledger against what arrived and what is recorded: is anything lost, and is what came twice the same?
import type { Pool } from '../../../db/connections/pool.ts';
import type { Ledger, Webhook } from '../ledger.ts';
import type { Pipe } from '../pipes.ts';
import type { Arrival } from '../receivers.ts';
import { type Problem, problems } from './problems.ts';

interface DeliveryRow {
  id: string;
  eventId: string;
  destinationId: string;
  status: string;
  error: string | null;
}

export interface Arrived {
  /** Acknowledged events that reached a receiver. */
  arrived: number;
  /** Acknowledged events that ended as failed, held or skipped, with the reason shown. */
  failedVisibly: number;
  /** Acknowledged events that their route's filter refused. */
  filtered: number;
  lost: number;
  /** Requests that were taken again by the receiver that had taken them, beyond the first. */
  duplicates: number;
  problems: Problem[];
}

const VISIBLE = ['failed', 'schema_failed', 'filter_failed', 'skipped', 'cancelled', 'circuit_open'];

/** Judges every acknowledged event and every request that arrived. */
export async function judgeArrivals(pool: Pool, pipes: Pipe[], ledger: Ledger): Promise<Arrived> {
  const deliveries = await readDeliveries(pool);
  const { rows: events } = await pool.query<{ id: string }>('select id from events');
  const arrivals = arrivalsByDelivery(pipes);
  const result: Arrived = { arrived: 0, failedVisibly: 0, filtered: 0, lost: 0, duplicates: 0, problems: [] };
  const stored = new Set(events.map((event) => event.id));
  const lost: string[] = [];
  for (const [eventId, webhook] of ledger.acknowledged) {
    const reason = stored.has(eventId)
      ? judge(webhook, deliveries.byEvent.get(eventId) ?? [], arrivals, result)
      : 'there is no such event';
    if (reason !== null) lost.push(`${eventId} (${webhook.pipe.kind}-${webhook.pipe.lane}: ${reason})`);
  }
  result.lost = lost.length;
  for (const list of arrivals.values()) result.duplicates += list.length - 1;
  result.problems = [
    ...problems('lost', 'acknowledged events', lost),
    ...problems('wrong', 'webhooks acknowledged as two events', ledger.twice),
    ...problems(
      'wrong',
      'events that nobody was told of',
      [...stored].filter((id) => !ledger.acknowledged.has(id)),
    ),
    ...problems('wrong', 'events that were overtaken by a later one of their ordering key', overtaken(pipes, ledger)),
    ...problems('wrong', 'requests that are not what was sent', strangers(pipes, ledger, deliveries.byId)),
  ];
  return result;
}

/** @returns why the event is lost; null when it is not */
function judge(
  webhook: Webhook,
  deliveries: DeliveryRow[],
  arrivals: Map<string, Arrival[]>,
  result: Arrived,
): string | null {
  if (!webhook.wanted) {
    result.filtered += 1;
    return deliveries.length === 0 ? null : 'its filter refused it, and it was delivered all the same';
  }
  if (deliveries.some((delivery) => arrivals.has(delivery.id))) result.arrived += 1;
  // What failed over has a successor, which is one of these.
  const last = deliveries.filter((delivery) => delivery.status !== 'failed_over');
  const [delivery] = last;
  if (!delivery || last.length > 1) return `${last.length} deliveries stand for it`;
  if (delivery.status === 'delivered') {
    return arrivals.has(delivery.id) ? null : `${delivery.id} is recorded as delivered and never arrived`;
  }
  if (!VISIBLE.includes(delivery.status)) return `${delivery.id} is ${delivery.status}`;
  if (delivery.error === null) return `${delivery.id} is ${delivery.status} without a reason`;
  result.failedVisibly += 1;
  return null;
}

/** Arrivals whose ids or bytes do not belong together: of another event, another destination, or changed on the way. */
function strangers(pipes: Pipe[], ledger: Ledger, deliveries: Map<string, DeliveryRow>): string[] {
  const found: string[] = [];
  for (const { receivers } of pipes) {
    for (const [destinationId, receiver] of receivers) {
      const deliveryOf = new Map<string, string>();
      for (const { eventId, deliveryId, body } of receiver.arrivals) {
        const delivery = deliveries.get(deliveryId);
        const first = deliveryOf.get(eventId) ?? deliveryId;
        deliveryOf.set(eventId, first);
        const fits =
          delivery?.eventId === eventId &&
          delivery.destinationId === destinationId &&
          first === deliveryId &&
          ledger.acknowledged.get(eventId)?.body === body;
        if (!fits) found.push(`${deliveryId} of ${eventId} at ${receiver.name}`);
      }
    }
  }
  return found;
}

/**
 * Events whose first arrival came after that of a later one of their key. Later is what has a higher sequence number;
 * and what was sent after the response to the other has one.
 */
function overtaken(pipes: Pipe[], ledger: Ledger): string[] {
  const found: string[] = [];
  for (const { receivers } of pipes.filter(({ kind }) => kind === 'ordered')) {
    const arrivals = [...receivers.values()].flatMap((receiver) => receiver.arrivals);
    const first = new Map<string, Arrival>();
    for (const arrival of arrivals) if (!first.has(arrival.eventId)) first.set(arrival.eventId, arrival);
    const known = [...first.values()].flatMap(({ eventId, sequence }) => {
      const webhook = ledger.acknowledged.get(eventId);
      return webhook ? [{ eventId, sequence, webhook }] : [];
    });
    for (const ofKey of Map.groupBy(known, ({ webhook }) => webhook.key).values()) {
      for (const [at, { sequence, eventId, webhook }] of ofKey.entries()) {
        if (sequence <= (ofKey[at - 1]?.sequence ?? 0)) found.push(`${eventId} (${webhook.key}, ${sequence})`);
        const isAhead = ({ webhook: other, sequence: its }: (typeof ofKey)[number]) =>
          (other.acknowledgedAt ?? Number.POSITIVE_INFINITY) < webhook.sentAt && its > sequence;
        if (ofKey.some(isAhead)) found.push(`${eventId} (${webhook.key}, sent after what it precedes)`);
      }
    }
  }
  return found;
}

async function readDeliveries(pool: Pool) {
  const { rows } = await pool.query<DeliveryRow>(
    'select id, event_id as "eventId", destination_id as "destinationId", status, error from deliveries',
  );
  return { byId: new Map(rows.map((row) => [row.id, row])), byEvent: Map.groupBy(rows, (row) => row.eventId) };
}

function arrivalsByDelivery(pipes: Pipe[]): Map<string, Arrival[]> {
  const all = pipes.flatMap(({ receivers }) => [...receivers.values()].flatMap((receiver) => receiver.arrivals));
  return Map.groupBy(all, (arrival) => arrival.deliveryId);
}
