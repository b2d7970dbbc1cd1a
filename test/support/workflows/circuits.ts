// The circuits of routes, as tests open, watch and reset them; and destinations that fail as long as a test wants.
import { circuitWorkflowId } from '../../../core/temporal/names.ts';
import type { Hookyard } from '../hookyard.ts';
import type { PauseView } from './pauses.ts';
import type { Answer, Endpoint, Receiver } from '../receiver.ts';
import { onceMore, type Records, type RouteView } from '../records.ts';
import { until } from '../until.ts';

export interface CircuitStatus extends PauseView {
  circuitState: string;
  failureCount: number;
  failureThreshold: number;
  cooldownSeconds: number;
  lastFailureAt: string | null;
  lastSuccessAt: string | null;
  openedAt: string | null;
  probeSuccessCount: number;
  probeSuccessThreshold: number;
}

export interface Switched {
  endpoint: Endpoint;
  answer(next: Answer): void;
}

/** A destination whose answer can be changed at any time. */
export function switchedEndpoint(receiver: Receiver, status: number): Switched {
  const current: Answer = { status };
  return {
    endpoint: receiver.endpoint(current),
    answer: (next) => Object.assign(current, { after: undefined, ...next }),
  };
}

/** An answer that is given when `letGo` is called. */
export function answerLater(status: number): { answer: Answer; letGo: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { answer: { status, after: promise }, letGo: resolve };
}

/**
 * Members of a route whose circuit opens after two failures. Its cooldown does not end by itself in a test: to see it
 * end, a test shortens it when the circuit is open, so that no state is over before it was looked at.
 */
export const breaker = (fields: Record<string, unknown> = {}) => ({
  circuitFailureThreshold: 2,
  circuitCooldownSeconds: 3600,
  circuitProbeSuccessThreshold: 2,
  ...fields,
});

export class Circuits {
  readonly #testInstance: Hookyard;
  readonly #records: Records;

  constructor(testInstance: Hookyard, records: Records) {
    this.#testInstance = testInstance;
    this.#records = records;
  }

  status(route: RouteView): Promise<CircuitStatus> {
    return this.#testInstance.client.get(`/api/routes/${route.id}/circuit-status`);
  }

  configure(route: RouteView, fields: Record<string, unknown>): Promise<unknown> {
    return this.#testInstance.client.patch(`/api/routes/${route.id}/circuit-config`, fields);
  }

  reset(route: RouteView): Promise<unknown> {
    return this.#testInstance.client.post(`/api/routes/${route.id}/reset-circuit`);
  }

  untilState(route: RouteView, state: string, deadlineMs?: number): Promise<CircuitStatus> {
    const look = async () => {
      const found = await this.status(route);
      if (found.circuitState !== state) throw new Error(JSON.stringify(found));
      return found;
    };
    return until(`the circuit to be ${state}`, look, deadlineMs);
  }

  /** A route whose circuit was opened by two failed deliveries, whose events are `failures`. */
  async opened({ url }: Endpoint, fields: Record<string, unknown> = {}, retryPolicy: unknown = onceMore(0)) {
    const made = await this.#records.pipe(url, { destination: { retryPolicy }, route: breaker(fields) });
    const failures = [await this.#send(made.source), await this.#send(made.source)];
    await this.untilState(made.route, 'open');
    return { ...made, failures };
  }

  #send(source: Parameters<Records['accepted']>[0]): Promise<string> {
    return this.#records.accepted(source, '{"order":1}');
  }

  /** Of the workflow of a circuit. @throws when it has none */
  async workflowStatus(route: RouteView): Promise<string> {
    const { status } = await this.#testInstance.temporal.workflow.getHandle(circuitWorkflowId(route.id)).describe();
    return status.name;
  }

  ended(route: RouteView): Promise<unknown> {
    return until('the workflow of the circuit to end', async () => (await this.workflowStatus(route)) === 'COMPLETED');
  }
}
