// Requests of operators, the API and the route's circuit to a running delivery. The Temporal UI shows the descriptions where a
// signal is chosen.
import { CancellationScope, setHandler } from '@temporalio/workflow';
import {
  cancel,
  type DeliveryStatusView,
  release,
  replay,
  retryNow,
  status,
  type DeliveryRequests,
} from './messages.ts';

/**
 * Sets the handlers of all signals and of the query; a cancellation request counts as the signal `cancel`.
 * @param before the open requests of the run before, when this one continues it
 * @returns the requests so far
 */
export function listen(view: DeliveryStatusView, before?: DeliveryRequests): DeliveryRequests {
  const requests: DeliveryRequests = { retry: false, cancel: false, replay: false, release: false, ...before };
  setHandler(status, () => view, { description: 'What the delivery has come to and what it waits for' });
  setHandler(
    retryNow,
    () => {
      requests.retry = true;
    },
    { description: 'Makes the next attempt now, during the wait for a retry' },
  );
  setHandler(
    cancel,
    () => {
      requests.cancel = true;
    },
    { description: 'Ends the delivery: no further attempt is made' },
  );
  setHandler(
    replay,
    (replayedAs) => {
      requests.replay = true;
      // Anything else was typed into the Temporal UI and names no delivery; the workflow then creates one.
      requests.replayedAs = isDeliveryId(replayedAs) ? replayedAs : undefined;
    },
    { description: 'Delivers a failed delivery again, as a new delivery; leave Data empty' },
  );
  setHandler(
    release,
    () => {
      requests.release = true;
    },
    { description: "Sent by Hookyard when the route's circuit lets the delivery continue; not needed by hand" },
  );
  CancellationScope.current().cancelRequested.catch(() => {
    requests.cancel = true;
  });
  return requests;
}

function isDeliveryId(data: unknown): data is string {
  return typeof data === 'string' && data.startsWith('dlv_');
}
