import { expect } from 'chai';
import type { CircuitAdvice } from '../../activities/types.ts';
import { circuitChanged, circuitStatus, resetCircuit } from '../../workflows/signals-and-queries.ts';
import { startScriptedWorker } from '../support/workflows/scripted-attempts.ts';
import { currentDetails, tells } from '../support/workflows/scripted-history.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-hookyard.ts';

const HOUR_MS = 3_600_000;
const facts = { failureCount: 5, probeSuccessCount: 0, probeSuccessThreshold: 2, probeDeliveryId: null, held: 3 };
const open = (waitMs: number): CircuitAdvice => ({ ...facts, state: 'open', waitMs });
const halfOpen = (waitMs: number | null): CircuitAdvice => ({ ...facts, state: 'half_open', waitMs });
const releasing: CircuitAdvice = { state: 'closed', held: 2, waitMs: 0 };
const done: CircuitAdvice = { state: 'closed', held: 0, waitMs: 0 };

describe('circuit workflow', () => {
  const worker = useStarted(() => startScriptedWorker('test-circuit-workflow'));

  it('looks again when the cooldown is over, releases until nothing is held, and ends', async () => {
    const { handle, looks } = await worker.startCircuit([open(20), releasing, releasing, done]);
    await handle.result();
    expect(looks.map(({ reset }) => reset)).to.deep.equal([false, false, false, false]);
  });

  it('waits for a change where nothing changes by itself', async () => {
    const { handle, looks } = await worker.startCircuit([halfOpen(null), done]);
    await until('the first look', async () => (await handle.query(circuitStatus))?.state === 'half_open');
    expect(looks).to.have.length(1);
    await handle.signal(circuitChanged);
    await handle.result();
    expect(looks).to.have.length(2);
  });

  it('passes an operator’s reset on, also when our own side is away at first', async () => {
    const { handle, looks } = await worker.startCircuit([open(HOUR_MS), new Error('The database is away'), done]);
    await until('the first look', async () => (await handle.query(circuitStatus))?.state === 'open');
    await handle.signal(resetCircuit);
    await handle.result();
    expect(looks.map(({ reset }) => reset)).to.deep.equal([false, true, true]);
  });

  it('waits for the end of a pause, and tells when that comes by itself', async () => {
    const end = '2999-01-01T00:00:00.000Z';
    const paused: CircuitAdvice = { state: 'closed', held: 0, waitMs: HOUR_MS, paused: { until: end } };
    const { handle, looks } = await worker.startCircuit([paused, releasing, done]);
    await until('the details', () => tells({ handle }, '**Paused**'));
    expect(await currentDetails({ handle })).to.contain(end);
    expect(looks).to.have.length(1);
    await handle.signal(circuitChanged);
    await handle.result();
    expect(looks).to.have.length(3);
  });

  it('tells an operator what it waits for', async () => {
    const { handle } = await worker.startCircuit([open(HOUR_MS), done]);
    await until('the details', () => tells({ handle }, '**Open** after 5 consecutive failed attempts'));
    expect(await currentDetails({ handle })).to.contain(': 3 deliveries.');
    await handle.signal(circuitChanged);
    await handle.result();
  });
});
