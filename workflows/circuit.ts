// The circuit of one route, from its opening until it is closed and everything it held is released. PostgreSQL has the
// state; this workflow keeps the time, and shows an operator what is going on.
import {
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, CircuitAdvice } from '../activities/types.ts';
import { circuitChanged, type CircuitInput, circuitStatus, resetCircuit } from './messages.ts';

const MAX_OWN_SIDE_WAIT_MS = 30_000;

const { advanceCircuit } = proxyActivities<Activities>({
  // Longer than one release takes (activities/circuit.ts) while every statement of it is slow.
  startToCloseTimeout: 120_000,
  heartbeatTimeout: 15_000,
  retry: { maximumAttempts: 1 },
});

export async function circuit(input: CircuitInput): Promise<void> {
  const news = { changed: false, reset: false };
  let advice: CircuitAdvice | null = null;
  setHandler(circuitStatus, () => advice);
  setHandler(circuitChanged, () => {
    news.changed = true;
  });
  setHandler(resetCircuit, () => {
    news.reset = true;
  });
  for (let failures = 0; ; ) {
    const { reset } = news;
    news.changed = false;
    news.reset = false;
    try {
      advice = await advanceCircuit({ routeId: input.routeId, reset });
      failures = 0;
    } catch {
      // Our own side is away: PostgreSQL or a worker.
      news.reset ||= reset;
      setCurrentDetails('Hookyard cannot reach its database or a worker at the moment; trying again.');
      await sleep(Math.min(MAX_OWN_SIDE_WAIT_MS, 1000 * 2 ** failures), { summary: 'Waiting for our own side' });
      failures += 1;
      continue;
    }
    setCurrentDetails(describe(advice));
    const isNews = () => news.changed || news.reset;
    if (advice.state !== 'closed') await untilNews(isNews, advice);
    else if (advice.held === 0 && !isNews()) return;
    if (workflowInfo().continueAsNewSuggested && !news.reset) await continueAsNew<typeof circuit>(input);
  }
}

async function untilNews(isNews: () => boolean, advice: CircuitAdvice): Promise<void> {
  if (advice.waitMs === null) await condition(isNews);
  else if (advice.waitMs > 0) {
    const summary = advice.state === 'open' ? 'Cooldown of the circuit' : 'Deadline of the probe';
    await condition(isNews, advice.waitMs, { summary });
  }
}

/** What an operator reads in the Temporal UI. */
function describe(advice: CircuitAdvice): string {
  const held = `${advice.held} deliveries ${advice.held === 1 ? 'is' : 'are'} held`.replace(
    /^1 deliveries/,
    '1 delivery',
  );
  const hint = 'Signal `resetCircuit` closes the circuit now.';
  if (advice.state === 'closed') return advice.held === 0 ? 'Closed.' : `Closed; releasing: ${held}.`;
  if (advice.state === 'open') {
    const until = new Date(Date.now() + (advice.waitMs ?? 0)).toISOString();
    return `Open after ${advice.failureCount} failed attempts in a row: nothing is sent to the route's destinations until ${until}; ${held}. ${hint}`;
  }
  const probes = `${advice.probeSuccessCount} of ${advice.probeSuccessThreshold} probes succeeded`;
  const probe =
    advice.probeDeliveryId === null
      ? 'the next delivery is a probe'
      : `delivery ${advice.probeDeliveryId} is sent as a probe`;
  return `Half-open: ${probes}; ${probe}; ${held}. ${hint}`;
}
