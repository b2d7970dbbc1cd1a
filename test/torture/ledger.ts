// What was promised: every webhook that was sent, and the answer 200 to it. The run is judged against this and nothing
// else.
import type { Pipe } from './pipes.ts';

export interface Webhook {
  /** Counted from 0; also in the body. */
  number: number;
  pipe: Pipe;
  body: string;
  /** Sent with every try, so that a repeat of what was stored is answered with the same event. */
  idempotencyKey: string;
  /** False: the filter of its route refuses it. */
  wanted: boolean;
  /** When its first try began, `performance.now()` ms. */
  sentAt: number;
  /** Of its route, if that delivers in order. */
  key: string;
  /** The same clock; null: not acknowledged. */
  acknowledgedAt: number | null;
  /** Null: not acknowledged. */
  eventId: string | null;
}

export class Ledger {
  readonly webhooks: Webhook[] = [];
  /** By event id. */
  readonly acknowledged = new Map<string, Webhook>();
  /** Statuses of answers other than 200, and `broken` for connections, with how often each was seen. */
  readonly refusals = new Map<string, number>();
  /** Webhooks whose repeats were answered with another event. */
  readonly twice: string[] = [];
  /** When the latest webhook was sent that was acknowledged, or that arrived, `performance.now()` ms. */
  latestAcknowledged = Number.NEGATIVE_INFINITY;
  latestArrived = Number.NEGATIVE_INFINITY;

  acknowledge(webhook: Webhook, eventId: string): void {
    const other = this.acknowledged.get(eventId);
    if (other !== undefined && other !== webhook) this.twice.push(eventId);
    webhook.eventId = eventId;
    webhook.acknowledgedAt ??= performance.now();
    this.acknowledged.set(eventId, webhook);
    this.latestAcknowledged = Math.max(this.latestAcknowledged, webhook.sentAt);
  }

  refuse(what: string): void {
    this.refusals.set(what, (this.refusals.get(what) ?? 0) + 1);
  }

  /** An event may arrive before its sender reads the answer, so it is known by the number in its body. */
  arrived(body: string): void {
    const webhook = this.webhooks[numberOf(body)];
    if (webhook) this.latestArrived = Math.max(this.latestArrived, webhook.sentAt);
  }
}

/** The number of the webhook that has this body; NaN for a body that is not one of ours. */
export function numberOf(body: string): number {
  return Number(/^\{"number":(\d+),/.exec(body)?.[1]);
}
