import { expect } from 'chai';
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

const once = [...halfOpened, probe('p', 99_000), succeeded(60_100, 'p')];
const setBack = [failed(9_000_001), failed(9_000_002), failed(9_000_003), elapsed(5000)];
const reset: CircuitEvent = { type: 'reset' };

describe('circuit', () => {
  const open: Partial<Circuit> = { state: 'open', failureCount: 3, openedAt: 3 };
  const halfOpen: Partial<Circuit> = { state: 'half_open', failureCount: 3 };
  // What differs from a circuit that is closed.
  const rows: [what: string, events: CircuitEvent[], expected: Partial<Circuit>][] = [
    ['counts consecutive failures', [failed(1), failed(2)], { failureCount: 2 }],
    ['opens when they reach the threshold', opened, open],
    ['counts again after a success', [failed(1), failed(2), succeeded(3), failed(4), failed(5)], { failureCount: 2 }],
    ['stays open until the cooldown has passed', [...opened, elapsed(60_002)], open],
    ['is half-open then', halfOpened, halfOpen],
    ['begins its cooldown again when the clock is set back', setBack, { ...open, openedAt: 5000 }],
    ['counts that from there', [...setBack, elapsed(64_999)], { ...open, openedAt: 5000 }],
    ['is half-open after that', [...setBack, elapsed(65_000)], halfOpen],
    ['gives up a probe of the time before', [...halfOpened, probe('p', 9_000_000), elapsed(61_000)], halfOpen],
    ['waits for more probes after one that succeeds', once, { state: 'half_open', probeSuccessCount: 1 }],
    ['closes when probes have succeeded often enough', [...once, probe('q', 99_000), succeeded(60_200, 'q')], {}],
    [
      'opens again when a probe fails, and counts probes anew',
      [...once, probe('q', 99_000), failed(60_200, 'q')],
      { state: 'open', failureCount: 1, openedAt: 60_200 },
    ],
    ['takes the success of an earlier attempt for no probe', [...opened, succeeded(4)], { ...open, failureCount: 0 }],
    ['takes its failure for none', [...opened, failed(4)], { ...open, failureCount: 4 }],
    [
      'takes attempts beside the probe for none',
      [...halfOpened, probe('p', 99_000), failed(60_100, 'x'), succeeded(60_101, 'y')],
      { state: 'half_open', probe: { deliveryId: 'p', until: 99_000 } },
    ],
    [
      'waits for a probe until its time is over',
      [...halfOpened, probe('p', 70_000), elapsed(69_999)],
      { ...halfOpen, probe: { deliveryId: 'p', until: 70_000 } },
    ],
    ['gives up a probe that is not heard of', [...halfOpened, probe('p', 70_000), elapsed(70_000)], halfOpen],
    ['is closed by a reset after a failure', [failed(1), reset], {}],
    ['is closed by a reset when open', [...opened, reset], {}],
    ['is closed by a reset when half-open', [...halfOpened, reset], {}],
    ['is closed by a reset during a probe', [...halfOpened, probe('p', 99_000), reset], {}],
  ];
  for (const [what, events, expected] of rows)
    it(what, () => expect(circuitAfter(...events)).to.deep.equal({ ...CLOSED_CIRCUIT, ...expected }));

  it('says when it changes by itself', () => {
    expect(changesAt(circuitAfter(...opened), RULE)).to.equal(60_003);
    expect(changesAt(circuitAfter(...once, probe('q', 99_000), failed(60_200, 'q')), RULE)).to.equal(120_200);
    expect(changesAt(circuitAfter(...halfOpened, probe('p', 70_000)), RULE)).to.equal(70_000);
  });

  it('admits nothing while open, one probe while half-open, everything while closed', () => {
    expect(admits(circuitAfter(...opened), 'd')).to.equal(false);
    expect(admits(circuitAfter(...halfOpened), 'd')).to.equal(false);
    const probing = circuitAfter(...halfOpened, probe('p', 99), probe('q', 99));
    expect([admits(probing, 'p'), admits(probing, 'q')]).to.deep.equal([true, false]);
    expect(admits(CLOSED_CIRCUIT, 'd')).to.equal(true);
  });

  it('goes by a changed rule at once', () => {
    expect(nextCircuit(circuitAfter(...opened), { ...RULE, cooldownSeconds: 1 }, elapsed(1003)).state).to.equal(
      'half_open',
    );
    const lowered = nextCircuit(circuitAfter(...once), { ...RULE, probeSuccessThreshold: 1 }, elapsed(60_200));
    expect(lowered).to.deep.equal(CLOSED_CIRCUIT);
    expect(nextCircuit(circuitAfter(failed(1)), { ...RULE, failureThreshold: 2 }, failed(2)).state).to.equal('open');
  });
});
