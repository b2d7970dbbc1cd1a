import { expect } from 'chai';
import { WorkflowPermits } from '../../core/fairness/workflow-permits.ts';

describe('turns of organizations at Temporal', () => {
  const made: WorkflowPermits[] = [];
  function turnsOf(heldMs: number, alone = false): WorkflowPermits {
    const turns = new WorkflowPermits({ permits: 8, heldMs, alone: () => alone });
    made.push(turns);
    return turns;
  }
  afterEach(() => {
    for (const turns of made.splice(0)) turns.end();
  });

  /** How many it gets at this moment. */
  function passAll(turns: WorkflowPermits, organizationId: string): number {
    let passed = 0;
    while (passed < 500 && turns.tryAcquire(organizationId)) passed += 1;
    return passed;
  }

  it('are half of what is left, so that any number of them leaves room for the next', () => {
    const turns = turnsOf(60_000);
    expect(['a', 'b', 'c', 'd'].map((id) => passAll(turns, id))).to.deep.equal([4, 2, 1, 1]);
  });

  it('are all for the only organization', async () => {
    const turns = turnsOf(60_000, true);
    expect(passAll(turns, 'only')).to.equal(500);
    expect(await turns.acquire('only')).to.equal(true);
    expect(turns.waiting).to.equal(0);
  });

  it('are waited for in order of arrival, and are a first attempt’s until it is given back', async () => {
    const turns = turnsOf(10);
    const first = turns.take('busy');
    passAll(turns, 'busy');
    const order: number[] = [];
    const waiting = [1, 2, 3, 4, 5, 6].map((n) => turns.acquire('busy').then(() => order.push(n)));
    expect(turns.waiting).to.equal(6);
    expect(await turns.acquire('quiet')).to.equal(true);
    await Promise.all(waiting);
    expect(order).to.deep.equal([1, 2, 3, 4, 5, 6]);
    expect(turns.waiting).to.equal(0);
    first?.();
  });

  it('are none when the worker ends', async () => {
    const turns = turnsOf(60_000);
    passAll(turns, 'busy');
    const waiting = [turns.acquire('busy'), turns.acquire('busy')];
    turns.end();
    expect(await Promise.all([...waiting, turns.acquire('busy'), turns.acquire('quiet')])).to.deep.equal(
      Array.from({ length: 4 }, () => false),
    );
  });
});
