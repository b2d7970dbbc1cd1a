// The state of one run of a delivery's workflow, shared by its code, and the requests of operators, the API and the route's circuit
// to it. The Temporal UI shows the descriptions where a signal is chosen.
import {
  CancellationScope,
  continueAsNew,
  type SignalDefinition,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { AttemptRequest } from '../activities/types.ts';
import type { delivery } from './delivery.ts';
import type * as texts from './delivery-texts.ts';
import {
  cancel,
  type DeliveryInput,
  type DeliveryRequests,
  type DeliveryStatusView,
  release,
  replay,
  retryNow,
  status,
} from './messages.ts';
import { deliveryStatusAttribute, eventIdAttribute } from '../core/temporal/search-attributes.ts';

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

/**
 * Sets the handlers of all signals and of the query; a cancellation request counts as the signal `cancel`.
 * @param before the open requests of the run before, when this one continues it
 * @returns the requests so far
 */
export function listen(view: DeliveryStatusView, before?: DeliveryRequests): DeliveryRequests {
  const requests: DeliveryRequests = { retry: false, cancel: false, replay: false, release: false, ...before };
  setHandler(status, () => view, { description: 'What the delivery has come to and what it waits for' });
  const on = (signal: SignalDefinition<[]>, request: 'retry' | 'cancel' | 'release', description: string) => {
    const note = () => {
      requests[request] = true;
    };
    setHandler(signal, note, { description });
  };
  on(retryNow, 'retry', 'Makes the next attempt now, during the wait for a retry');
  on(cancel, 'cancel', 'Ends the delivery: no further attempt is made');
  on(release, 'release', "Sent by Hookyard when the route's circuit lets the delivery continue; not needed by hand");
  setHandler(
    replay,
    (replayedAs) => {
      requests.replay = true;
      // Anything else was typed into the Temporal UI and names no delivery; the workflow then creates one.
      requests.replayedAs = isDeliveryId(replayedAs) ? replayedAs : undefined;
    },
    { description: 'Delivers a failed delivery again, as a new delivery; leave Data empty' },
  );
  CancellationScope.current().cancelRequested.catch(() => {
    requests.cancel = true;
  });
  return requests;
}

function isDeliveryId(data: unknown): data is string {
  return typeof data === 'string' && data.startsWith('dlv_');
}
