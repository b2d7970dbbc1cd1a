// What traces are made of. Spans are made in telemetry/, and only where traces are sent: elsewhere there is no tracing,
// and all that is left to do is to hand on the headers of the sender, or new ones (core/http/trace-context.ts).
import type { ErrorSummary } from '../text/error-summary.ts';
import type { Lane } from '../delivery/delivery.ts';

/** Records what happens to webhooks. Nothing of it waits or throws. */
export interface Tracing {
  /** Begins the trace of a webhook, or its part of the sender's. @returns null when it is not recorded */
  webhook(received: TracedWebhook): WebhookSpan | null;
  /** Begins an attempt. @returns null when it is not recorded: its trace is not, or it belongs to none */
  attempt(attempt: TracedAttempt): AttemptSpan | null;
}

export interface TracedWebhook {
  organizationId: string;
  sourceId: string;
  method: string;
  /** As received, names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** bytes */
  size: number;
  receivedAt: Date;
}

export interface WebhookSpan {
  /** Kept with the event: attempts are children of this span. */
  traceparent: string;
  /** Measures how long it takes to store the event, with others and until the commit. */
  storing<T>(store: () => Promise<T>): Promise<T>;
  /** @param status of the answer */
  accepted(status: number, event: { id: string; isDuplicate: boolean }): void;
  /** It is refused, and not for what its sender did. @param status of the answer */
  failed(status: number, code: string): void;
}

export interface TracedAttempt {
  /** Of the webhook's span, or of the trace that was made for it; null: the trace is the sender's, in the headers. */
  traceparent: string | null;
  /** Of the webhook, names in lower case. */
  headers: Readonly<Record<string, string>>;
  organizationId: string;
  eventId: string;
  routeId: string | null;
  destinationId: string;
  deliveryId: string;
  replayOf: string | null;
  /** 1 for the first. */
  number: number;
  lane: Lane;
  method: string;
  url: string;
  startedAt: Date;
}

export interface AttemptSpan {
  traceparent: string;
  end(attempt: EndedAttempt): void;
}

export interface EndedAttempt {
  /** From its start to the end of the answer, ms. */
  tookMs: number;
  outcome: 'delivered' | 'retrying' | 'failed';
  statusCode: number | null;
  /** Why there was no answer, or what is wrong with it; no text of others. */
  error: { code: string; summary: ErrorSummary } | null;
  /** Null: there was nothing to connect to. */
  steps: AttemptSteps | null;
}

/** How an attempt went over the network. Times in ms; null: not reached, or there was no such step. */
export interface AttemptSteps {
  address: string | null;
  port: number | null;
  dns: number | null;
  connect: number | null;
  tls: number | null;
  /** From the request on the connection to the first byte of its answer. */
  firstByte: number | null;
  /** From the start of the attempt until its own connection was begun. */
  beganAfter: number | null;
  /** From the start of the attempt until the request was written. */
  sentAfter: number | null;
}
