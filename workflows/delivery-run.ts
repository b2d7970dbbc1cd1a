// The state of one run of a delivery's workflow, shared by its code.
import { type CancellationScope, continueAsNew, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { AttemptRequest } from '../activities/types.ts';
import type { delivery } from './delivery.ts';
import type * as texts from './delivery-texts.ts';
import type { DeliveryInput, DeliveryRequests } from './messages.ts';
import { deliveryStatusAttribute, eventIdAttribute } from '../core/search-attributes.ts';

// About a hundred attempts. Well before Temporal suggests it: a worker that takes over a delivery replays its history first.
const MAX_HISTORY_EVENTS = 1000;

/** One run of the workflow. */
export interface Run extends texts.Facts {
  input: DeliveryInput;
  requests: DeliveryRequests;
  /** What a cancellation request from outside cancels; the delivery itself runs in a scope that nothing interrupts. */
  scope: CancellationScope;
  /** DeliveryStatus as it was set last. */
  shown?: string;
}

/** Whether it was started with search attributes. Without, its namespace may know none, and it must not set one. */
export function hasSearchAttributes(): boolean {
  return workflowInfo().typedSearchAttributes.get(eventIdAttribute) !== undefined;
}

export function showStatus(run: Run, value: string): void {
  run.shown = value;
  if (hasSearchAttributes()) upsertSearchAttributes([{ key: deliveryStatusAttribute, value }]);
}

/** @returns ISO 8601 */
export function fromNow(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

/** Whether the history is long enough to continue as new. */
export function isLong(): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return continueAsNewSuggested || historyLength >= MAX_HISTORY_EVENTS;
}

/** Continues as new, before this attempt. Open requests are carried over. */
export function continueFrom({ input, requests }: Run, attempt: number, request?: AttemptRequest): Promise<never> {
  const { slotAt, queued } = request ?? {};
  return continueAsNew<typeof delivery>({ ...input, resumeAt: attempt, carried: { requests, slotAt, queued } });
}
