// The circuit of one route, from its opening until it is closed and all held deliveries are released; and a pause of a
// route or destination, from its beginning until all it held is released. PostgreSQL has the state; this workflow has
// the timers, and shows operators what is happening.
import {
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, CircuitAdvice } from '../activities/types.ts';
import { listReference, paragraphs, signalChoices, workflowReference } from '../core/temporal/operator-markdown.ts';
import { prefixOf, queryOf, withPrefix } from '../core/temporal/names.ts';
import { plural } from '../core/text/words.ts';
import { circuitChanged, type CircuitInput, circuitStatus, resetCircuit } from './signals-and-queries.ts';
import { HEARTBEAT_TIMEOUT_MS, note, UNTIL_DONE } from './own-side.ts';

const { advanceCircuit } = proxyActivities<Activities>({
  // Longer than one release takes (activities/circuit.ts) while every statement of it is slow.
  startToCloseTimeout: 120_000,
  heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
  retry: UNTIL_DONE,
});

const SUSPENDED = 'The organization is suspended';
const PAUSED = 'Paused';

export async function circuit(input: CircuitInput): Promise<void> {
  const news = { changed: false, reset: false };
  let advice: CircuitAdvice | null = null;
  setHandler(circuitStatus, () => advice, {
    description: 'The state of the circuit breaker or pause, and what it is waiting for',
  });
  note(
    circuitChanged,
    news,
    'changed',
    'Sent by Hookyard when the circuit breaker or pause has changed; do not send this signal manually',
  );
  note(resetCircuit, news, 'reset', 'Closes the circuit breaker now, and sends the held deliveries');
  for (;;) {
    const { reset } = news;
    news.changed = false;
    news.reset = false;
    advice = await advanceCircuit({ ...input, reset });
    setCurrentDetails(describe(input, advice));
    const isNews = () => news.changed || news.reset;
    if (advice.state !== 'closed' || advice.waitMs > 0) await untilNews(isNews, advice);
    else if (advice.held === 0 && !isNews()) return;
    // A change need not be carried over: the new run starts with a check.
    if (workflowInfo().continueAsNewSuggested && !news.reset) await continueAsNew<typeof circuit>(input);
  }
}

async function untilNews(isNews: () => boolean, advice: CircuitAdvice): Promise<void> {
  if (advice.waitMs === null) await condition(isNews);
  else if (advice.waitMs > 0) await condition(isNews, advice.waitMs, { summary: waitSummary(advice) });
}

function waitSummary(advice: CircuitAdvice): string {
  if (advice.suspended) return SUSPENDED;
  if (advice.state === 'closed') return PAUSED;
  return advice.state === 'open' ? 'Circuit breaker cooldown' : 'Probe deadline';
}

function describe({ routeId }: CircuitInput, advice: CircuitAdvice): string {
  if (advice.suspended) {
    return `**Suspended**: ${plural(advice.held, 'delivery is', 'deliveries are')} held until an operator resumes the organization (\`hookyard orgs resume\`).`;
  }
  if (advice.state === 'closed' && advice.paused) return describePause(routeId, advice.paused, advice.held);
  if (advice.state === 'closed') {
    return advice.held === 0
      ? '**Closed**: no deliveries are held.'
      : `**Closed**, sending held deliveries: ${plural(advice.held, 'delivery')} left.`;
  }
  const prefix = prefixOf(workflowInfo().taskQueue);
  const held = `RouteId = "${routeId}" and DeliveryStatus = "circuit_open" and ExecutionStatus = "Running"`;
  return paragraphs(
    advice.state === 'open' ? describeOpen(advice) : describeHalfOpen(advice, prefix),
    `Held as of ${new Date().toISOString()}: ${plural(advice.held, 'delivery')}. Current number: \`GET /api/deliveries?routeId=${routeId}&status=circuit_open\`. Only ${listReference('held deliveries with a previous attempt', queryOf(prefix, held))} have a workflow.`,
    signalChoices(
      '`resetCircuit` closes the circuit breaker now, and sends the held deliveries. If the destinations of the route are still down, the circuit breaker opens again.',
    ),
  );
}

function describePause(id: string, { until }: { until: string | null }, held: number): string {
  const isRoute = id.startsWith('rte_');
  const end = until === null ? '' : ` The pause ends automatically at ${until}.`;
  return paragraphs(
    `**Paused**: nothing is sent ${isRoute ? 'to the destinations of this route' : 'to this destination'}. Held as of ${new Date().toISOString()}: ${plural(held, 'delivery')}.${end}`,
    `To resume deliveries: \`POST /api/${isRoute ? 'routes' : 'destinations'}/${id}/resume\`. Held deliveries are then sent in order of receipt.`,
  );
}

type OpenAdvice = Exclude<CircuitAdvice, { state: 'closed' }>;

function describeOpen({ failureCount, waitMs }: OpenAdvice): string {
  const until = new Date(Date.now() + (waitMs ?? 0)).toISOString();
  return `**Open** after ${plural(failureCount, 'consecutive failed attempt')}. Nothing is sent to the route's destinations until ${until}, when one delivery will be sent as a probe. Until then, new deliveries are sent to the route's failover destinations, or are held if the route has none.`;
}

function describeHalfOpen(
  { probeSuccessCount, probeSuccessThreshold, probeDeliveryId }: OpenAdvice,
  prefix: string,
): string {
  const probe =
    probeDeliveryId === null
      ? 'the next delivery will be sent as a probe'
      : `delivery ${workflowReference(withPrefix(prefix, probeDeliveryId), probeDeliveryId)} is being sent as a probe`;
  return `**Half-open**: ${probeSuccessCount} of ${plural(probeSuccessThreshold, 'required successful probe')} so far; ${probe}. A failed probe opens the circuit breaker again.`;
}
