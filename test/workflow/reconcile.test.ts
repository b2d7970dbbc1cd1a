import { expect } from 'chai';
import { ownWords } from '../../core/text/error-summary.ts';
import { status } from '../../workflows/signals-and-queries.ts';
import { delivered, failed, retrying, startScriptedWorker } from '../support/workflows/scripted-attempts.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-hookyard.ts';

const HOUR_MS = 3_600_000;

describe('workflow of the reconciliation', () => {
  const worker = useStarted(() => startScriptedWorker('test-reconcile'));

  it('goes from step to step, and adds up what was repaired', async () => {
    const { handle, positions } = await worker.reconcile([
      { next: { part: 'deliveries', after: '' }, repairs: { 'circuits woken': 1 } },
      { next: { part: 'deliveries', after: 'dlv_1' }, repairs: { 'deliveries resumed': 200 } },
      { next: { part: 'workflows', page: null }, repairs: { 'deliveries resumed': 3 } },
      { next: { part: 'workflows', page: 'token' }, repairs: {} },
      { next: null, repairs: { 'workflows ended': 2 } },
    ]);
    const sums = { 'circuits woken': 1, 'deliveries resumed': 203, 'workflows ended': 2 };
    expect(await handle.result()).to.deep.equal(sums);
    expect(positions).to.deep.equal([
      { part: 'wake-ups' },
      { part: 'deliveries', after: '' },
      { part: 'deliveries', after: 'dlv_1' },
      { part: 'workflows', page: null },
      { part: 'workflows', page: 'token' },
    ]);
  });

  const resumed = { attempts: 2, waitMs: 10, statusCode: 500, error: ownWords`The destination returned 500` };

  it('has a delivery continue with the attempt after those that are recorded', async () => {
    const { handle, attempts } = await worker.start([retrying(10), delivered], { resumed });
    expect(await handle.result()).to.deep.equal({ status: 'delivered', attempts: 4 });
    expect(attempts.map(({ attempt }) => attempt)).to.deep.equal([3, 4]);
  });

  it('has it wait for the rest of the time first, until someone asks for the attempt', async () => {
    const { handle, attempts } = await worker.start([delivered], { resumed: { ...resumed, waitMs: HOUR_MS } });
    const view = await until('it to wait', async () => {
      const now = await handle.query(status);
      return now.nextAttemptAt === null ? null : now;
    });
    expect(view).to.include({ status: 'retrying', attempts: 2, lastError: resumed.error, lastStatusCode: 500 });
    await handle.signal('retryNow');
    expect(await handle.result()).to.deep.equal({ status: 'delivered', attempts: 3 });
    expect(attempts).to.have.length(1);
  });

  it('has it make its last attempt when its policy allows no more', async () => {
    const { handle, attempts } = await worker.start([failed], {
      resumed: { ...resumed, attempts: 3 },
      replayWindowMs: 0,
    });
    await handle.result().catch(() => undefined);
    expect(attempts.map(({ attempt, retryDelay }) => ({ attempt, retryDelay }))).to.deep.equal([
      { attempt: 4, retryDelay: null },
    ]);
  });
});
