import { expect } from 'chai';
import {
  admits,
  changesAt,
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
    const open = { state: 'open', failureCount: 3, probeSuccessCount: 0, openedAt: 3, probe: null };
    expect(circuitAfter(...opened)).to.deep.equal(open);
  });

  it('counts again after a success', () => {
    const again = circuitAfter(failed(1), failed(2), succeeded(3), failed(4), failed(5));
    expect(again).to.include({ state: 'closed', failureCount: 2 });
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
    const once = [...halfOpened, probe('p', 99_000), succeeded(60_100, 'p')];
    const circuit = circuitAfter(...once, probe('q', 99_000), failed(60_200, 'q'));
    expect(circuit).to.include({ state: 'open', openedAt: 60_200, probeSuccessCount: 0, probe: null });
    expect(changesAt(circuit, RULE)).to.equal(120_200);
  });

  it('takes the end of an earlier attempt for no probe', () => {
    expect(circuitAfter(...opened, succeeded(4))).to.include({ state: 'open', failureCount: 0, openedAt: 3 });
    expect(circuitAfter(...opened, failed(4))).to.include({ state: 'open', failureCount: 4, openedAt: 3 });
    const others = circuitAfter(...halfOpened, probe('p', 99_000), failed(60_100, 'x'), succeeded(60_101, 'y'));
    expect(others).to.include({ state: 'half_open', probeSuccessCount: 0 });
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
});
