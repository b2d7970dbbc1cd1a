// The circuit breaker's state machine: its table, and random sequences of events against a plain model of it.
import { expect } from 'chai';
import fc from 'fast-check';
import {
  admits,
  changesAt,
  type Circuit,
  type CircuitEvent,
  type CircuitRule,
  CLOSED_CIRCUIT,
  nextCircuit,
} from '../../core/delivery/circuit.ts';

const RULE: CircuitRule = { cooldownSeconds: 60, failureThreshold: 3, probeSuccessThreshold: 2 };
const circuitAfter = (...events: CircuitEvent[]) =>
  events.reduce((circuit, event) => nextCircuit(circuit, RULE, event), CLOSED_CIRCUIT);

const failed = (at: number, deliveryId = 'd'): CircuitEvent => ({ type: 'failed', deliveryId, at });
const succeeded = (at: number, deliveryId = 'd'): CircuitEvent => ({ type: 'succeeded', deliveryId, at });
const elapsed = (at: number): CircuitEvent => ({ type: 'elapsed', at });
const probe = (deliveryId: string, until: number): CircuitEvent => ({ type: 'probe', deliveryId, until });
const opened = [failed(1), failed(2), failed(3)];
const halfOpened = [...opened, elapsed(60_003)];

describe('circuit', () => {
  it('opens when consecutive failures reach the threshold', () => {
    expect(circuitAfter(failed(1), failed(2))).to.include({ state: 'closed', failureCount: 2 });
    expect(circuitAfter(...opened)).to.deep.equal({
      state: 'open',
      failureCount: 3,
      probeSuccessCount: 0,
      openedAt: 3,
      probe: null,
    });
  });

  it('counts again after a success', () => {
    expect(circuitAfter(failed(1), failed(2), succeeded(3), failed(4), failed(5))).to.include({
      state: 'closed',
      failureCount: 2,
    });
  });

  it('is half-open when the cooldown has passed, and not before', () => {
    expect(changesAt(circuitAfter(...opened), RULE)).to.equal(60_003);
    expect(circuitAfter(...opened, elapsed(60_002)).state).to.equal('open');
    expect(circuitAfter(...halfOpened)).to.include({ state: 'half_open', openedAt: null, probeSuccessCount: 0 });
  });

  it('begins its cooldown again when the clock is set back, and gives up a probe of the time before', () => {
    const setBack = circuitAfter(failed(9_000_001), failed(9_000_002), failed(9_000_003), elapsed(5000));
    expect(setBack).to.include({ state: 'open', openedAt: 5000 });
    expect(nextCircuit(setBack, RULE, elapsed(64_999)).state).to.equal('open');
    expect(nextCircuit(setBack, RULE, elapsed(65_000)).state).to.equal('half_open');
    const probing = circuitAfter(...halfOpened, probe('p', 9_000_000));
    expect(nextCircuit(probing, RULE, elapsed(61_000)).probe).to.equal(null);
  });

  it('admits nothing while open, one probe while half-open, everything while closed', () => {
    expect(admits(circuitAfter(...opened), 'd')).to.equal(false);
    expect(admits(circuitAfter(...halfOpened), 'd')).to.equal(false);
    const probing = circuitAfter(...halfOpened, probe('p', 99), probe('q', 99));
    expect([admits(probing, 'p'), admits(probing, 'q')]).to.deep.equal([true, false]);
    expect(admits(CLOSED_CIRCUIT, 'd')).to.equal(true);
  });

  it('closes when probes have succeeded often enough', () => {
    const once = [...halfOpened, probe('p', 99_000), succeeded(60_100, 'p')];
    expect(circuitAfter(...once)).to.include({ state: 'half_open', probeSuccessCount: 1, probe: null });
    expect(circuitAfter(...once, probe('q', 99_000), succeeded(60_200, 'q'))).to.deep.equal(CLOSED_CIRCUIT);
  });

  it('opens again when a probe fails: the cooldown and the count of probes start again', () => {
    const circuit = circuitAfter(
      ...halfOpened,
      probe('p', 99_000),
      succeeded(60_100, 'p'),
      probe('q', 99_000),
      failed(60_200, 'q'),
    );
    expect(circuit).to.include({ state: 'open', openedAt: 60_200, probeSuccessCount: 0, probe: null });
    expect(changesAt(circuit, RULE)).to.equal(120_200);
  });

  it('takes the end of an earlier attempt for no probe', () => {
    expect(circuitAfter(...opened, succeeded(4))).to.include({ state: 'open', failureCount: 0, openedAt: 3 });
    expect(circuitAfter(...opened, failed(4))).to.include({ state: 'open', failureCount: 4, openedAt: 3 });
    expect(circuitAfter(...halfOpened, probe('p', 99_000), failed(60_100, 'x'), succeeded(60_101, 'y'))).to.include({
      state: 'half_open',
      probeSuccessCount: 0,
    });
  });

  it('gives up a probe that is not heard of', () => {
    const probing = [...halfOpened, probe('p', 70_000)];
    expect(changesAt(circuitAfter(...probing), RULE)).to.equal(70_000);
    expect(circuitAfter(...probing, elapsed(69_999)).probe).to.not.equal(null);
    expect(circuitAfter(...probing, elapsed(70_000)).probe).to.equal(null);
  });

  it('is closed by a reset in every state', () => {
    for (const events of [[failed(1)], opened, halfOpened, [...halfOpened, probe('p', 99_000)]]) {
      expect(circuitAfter(...events, { type: 'reset' })).to.deep.equal(CLOSED_CIRCUIT);
    }
  });

  it('goes by a changed rule at once', () => {
    const open = circuitAfter(...opened);
    expect(nextCircuit(open, { ...RULE, cooldownSeconds: 1 }, elapsed(1003)).state).to.equal('half_open');
    const once = circuitAfter(...halfOpened, probe('p', 99_000), succeeded(60_100, 'p'));
    const lowered = nextCircuit(once, { ...RULE, probeSuccessThreshold: 1 }, elapsed(60_200));
    expect(lowered).to.deep.equal(CLOSED_CIRCUIT);
    const counted = circuitAfter(failed(1));
    expect(nextCircuit(counted, { ...RULE, failureThreshold: 2 }, failed(2)).state).to.equal('open');
  });

  it('agrees with a model that reads the whole history of events', () => {
    fc.assert(
      fc.property(rules, fc.array(events, { maxLength: 60 }), (rule, deltas) => {
        let circuit = CLOSED_CIRCUIT;
        const model = new Model(rule);
        let now = 0;
        for (const { passed, ...random } of deltas) {
          now += passed;
          const event = at(random, now, circuit);
          circuit = nextCircuit(circuit, rule, event);
          model.see(event, now);
          expect(shown(circuit)).to.deep.equal(model.shown());
          expect(circuit.openedAt !== null).to.equal(circuit.state === 'open');
          if (circuit.probe) expect(circuit.state).to.equal('half_open');
          for (const id of IDS) expect(admits(circuit, id), `admits ${id}`).to.equal(model.admits(id));
        }
      }),
      { numRuns: 2000 },
    );
  });
});

const IDS = ['a', 'b', 'c'];
const rules = fc.record({
  cooldownSeconds: fc.integer({ min: 1, max: 5 }),
  failureThreshold: fc.integer({ min: 1, max: 4 }),
  probeSuccessThreshold: fc.integer({ min: 1, max: 3 }),
});
const events = fc.record({
  type: fc.constantFrom('succeeded', 'failed', 'failed', 'probe', 'probe', 'elapsed', 'elapsed', 'reset'),
  deliveryId: fc.constantFrom(...IDS),
  passed: fc.integer({ min: 0, max: 3000 }),
  // Results are most often those of the probe.
  ofProbe: fc.boolean(),
});

function at(
  random: { type: string; deliveryId: string; ofProbe: boolean },
  now: number,
  circuit: Circuit,
): CircuitEvent {
  const deliveryId = random.ofProbe && circuit.probe ? circuit.probe.deliveryId : random.deliveryId;
  if (random.type === 'probe') return { type: 'probe', deliveryId: random.deliveryId, until: now + 4000 };
  if (random.type === 'elapsed' || random.type === 'reset') return { type: random.type, at: now };
  return { type: random.type, deliveryId, at: now } as CircuitEvent;
}

const shown = ({ state, failureCount, probeSuccessCount, openedAt, probe: current }: Circuit) => ({
  state,
  failureCount,
  probeSuccessCount,
  openedAt,
  probe: current?.deliveryId ?? null,
});

/** Keeps what happened since the last change of state and derives the rest from it, sentence by sentence. */
class Model {
  readonly #rule: CircuitRule;
  #phase: { state: Circuit['state']; since: number } = { state: 'closed', since: 0 };
  #attempts: boolean[] = [];
  #probes: { id: string; until: number; result?: boolean; over?: true }[] = [];

  constructor(rule: CircuitRule) {
    this.#rule = rule;
  }

  #enter(state: Circuit['state'], since: number): void {
    this.#phase = { state, since };
    this.#probes = [];
    if (state === 'closed') this.#attempts = [];
  }

  #current() {
    return this.#probes.find((candidate) => candidate.result === undefined && !candidate.over);
  }

  #failures(): number {
    return this.#attempts.length - 1 - this.#attempts.lastIndexOf(true);
  }

  #successes(): number {
    return this.#probes.filter((candidate) => candidate.result === true).length;
  }

  see(event: CircuitEvent, now: number): void {
    const { state, since } = this.#phase;
    if (event.type === 'reset') {
      this.#enter('closed', now);
      return;
    }
    const current = this.#current();
    if (event.type === 'succeeded' || event.type === 'failed') {
      const success = event.type === 'succeeded';
      this.#attempts.push(success);
      if (state === 'closed' && !success && this.#failures() >= this.#rule.failureThreshold) this.#enter('open', now);
      if (current?.id !== event.deliveryId) return;
      current.result = success;
      if (!success) this.#enter('open', now);
      else if (this.#successes() >= this.#rule.probeSuccessThreshold) this.#enter('closed', now);
    } else if (event.type === 'probe') {
      if (state === 'half_open' && !current) this.#probes.push({ id: event.deliveryId, until: event.until });
    } else if (state === 'open' && now - since >= this.#rule.cooldownSeconds * 1000) {
      this.#enter('half_open', now);
    } else if (current && now >= current.until) {
      current.over = true;
    }
  }

  admits(id: string): boolean {
    return this.#phase.state === 'closed' || this.#current()?.id === id;
  }

  shown() {
    return {
      state: this.#phase.state,
      failureCount: this.#failures(),
      probeSuccessCount: this.#successes(),
      openedAt: this.#phase.state === 'open' ? this.#phase.since : null,
      probe: this.#current()?.id ?? null,
    };
  }
}
