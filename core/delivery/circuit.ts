// The circuit breaker of a route as a pure state machine. It sees attempts of primary deliveries only: a failover
// destination says nothing about the route's own.

export const CIRCUIT_STATES = ['closed', 'open', 'half_open'] as const;
export type CircuitState = (typeof CIRCUIT_STATES)[number];

/** Times are milliseconds since 1970. */
export interface Circuit {
  state: CircuitState;
  failureCount: number;
  probeSuccessCount: number;
  /** When the current cooldown began; null unless open. */
  openedAt: number | null;
  /** The one delivery that may be attempted while half-open; after `until` another one replaces it. */
  probe: { deliveryId: string; until: number } | null;
}

export interface CircuitRule {
  cooldownSeconds: number;
  failureThreshold: number;
  probeSuccessThreshold: number;
}

// A probe that ends without an attempt is cleared by the statement that ends it (db/delivery/delivery-commands.ts).
export type CircuitEvent =
  | { type: 'succeeded'; deliveryId: string; at: number }
  | { type: 'failed'; deliveryId: string; at: number }
  | { type: 'probe'; deliveryId: string; until: number }
  | { type: 'elapsed'; at: number }
  | { type: 'reset' };

/**
 * Timeout of a probe, ms: the longest deadline of a destination plus the overhead of an attempt. If a probe is lost
 * with its worker, its own workflow repeats it before that.
 */
export const PROBE_MS = 105_000;

export const CLOSED_CIRCUIT: Circuit = {
  state: 'closed',
  failureCount: 0,
  probeSuccessCount: 0,
  openedAt: null,
  probe: null,
};

/** The circuit after an event; the same object when nothing changed. */
export function nextCircuit(circuit: Circuit, rule: CircuitRule, event: CircuitEvent): Circuit {
  switch (event.type) {
    case 'succeeded':
      return succeeded(circuit, rule, event.deliveryId);
    case 'failed':
      return failed(circuit, rule, event);
    case 'probe':
      if (circuit.state !== 'half_open' || circuit.probe) return circuit;
      return { ...circuit, probe: { deliveryId: event.deliveryId, until: event.until } };
    case 'elapsed':
      return elapsed(circuit, rule, event.at);
    case 'reset':
      return CLOSED_CIRCUIT;
  }
}

type Admitting = Pick<Circuit, 'state'> & { probe: { deliveryId: string } | null };

export function admits(circuit: Admitting, deliveryId: string): boolean {
  return circuit.state === 'closed' || isProbe(circuit, deliveryId);
}

/** Time of the circuit's next scheduled change, milliseconds since 1970; null: only an event changes it. */
export function changesAt(circuit: Circuit, rule: CircuitRule): number | null {
  if (circuit.openedAt !== null) return circuit.openedAt + rule.cooldownSeconds * 1000;
  return circuit.probe?.until ?? null;
}

function isProbe({ state, probe }: Admitting, deliveryId: string): boolean {
  return state === 'half_open' && probe?.deliveryId === deliveryId;
}

function succeeded(circuit: Circuit, rule: CircuitRule, deliveryId: string): Circuit {
  // An attempt that was running when the circuit opened is not a probe: it sets the count to 0 and closes nothing.
  if (!isProbe(circuit, deliveryId)) return circuit.failureCount === 0 ? circuit : { ...circuit, failureCount: 0 };
  const probeSuccessCount = circuit.probeSuccessCount + 1;
  if (probeSuccessCount >= rule.probeSuccessThreshold) return CLOSED_CIRCUIT;
  return { ...circuit, failureCount: 0, probeSuccessCount, probe: null };
}

function failed(circuit: Circuit, rule: CircuitRule, { deliveryId, at }: { deliveryId: string; at: number }): Circuit {
  const failureCount = circuit.failureCount + 1;
  const opens = circuit.state === 'closed' ? failureCount >= rule.failureThreshold : isProbe(circuit, deliveryId);
  if (!opens) return { ...circuit, failureCount };
  return { state: 'open', failureCount, probeSuccessCount: 0, openedAt: at, probe: null };
}

function elapsed(circuit: Circuit, rule: CircuitRule, at: number): Circuit {
  if (circuit.openedAt !== null) {
    // The clock was set back: the cooldown restarts, instead of becoming longer by the difference.
    if (at < circuit.openedAt) return { ...circuit, openedAt: at };
    if (at < circuit.openedAt + rule.cooldownSeconds * 1000) return circuit;
    return { ...circuit, state: 'half_open', probeSuccessCount: 0, openedAt: null };
  }
  // The threshold may have been lowered to the current count.
  if (circuit.state === 'half_open' && circuit.probeSuccessCount >= rule.probeSuccessThreshold) return CLOSED_CIRCUIT;
  if (circuit.probe && (at >= circuit.probe.until || at + PROBE_MS < circuit.probe.until)) {
    return { ...circuit, probe: null };
  }
  return circuit;
}
