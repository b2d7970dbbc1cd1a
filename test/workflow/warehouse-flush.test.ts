import { expect } from 'chai';
import type { WritingOutcome } from '../../activities/types.ts';
import { warehouseChanged, warehouseStatus } from '../../workflows/signals-and-queries.ts';
import { currentDetails, timerLengths } from '../support/workflows/scripted-history.ts';
import {
  BATCH_ID,
  filling,
  frozen,
  idle,
  more,
  refused,
  type ScriptedFlush,
  startScriptedWarehouses,
} from '../support/workflows/scripted-warehouse.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-hookyard.ts';

const HOUR_MS = 3_600_000;

describe('warehouse workflow', () => {
  const warehouses = useStarted(() => startScriptedWarehouses('test-warehouse-workflow'));

  it('writes in turns while more is due, and ends when nothing waits', async () => {
    const { handle, calls } = await warehouses.start({ turns: [filling(20), more, more, idle] });
    await handle.result();
    expect(calls).to.deep.equal(['write', 'write', 'write', 'write']);
  });

  it('looks at once when a file may be full', async () => {
    const flush = await warehouses.start({ turns: [filling(HOUR_MS), idle] });
    await waits(flush, 1);
    await flush.handle.signal(warehouseChanged);
    await flush.handle.result();
    expect(flush.calls).to.deep.equal(['write', 'write']);
  });

  it('waits a second after the first failed upload, longer after others, and tries again', async () => {
    const flush = await warehouses.start({ turns: [refused('soon'), idle] });
    await flush.handle.result();
    expect(flush.calls).to.deep.equal(['write', 'write']);
    expect((await timerLengths(flush))[0]).to.be.within(900, 1100);

    const later = await warehouses.start({ turns: [refused('soon', frozen(3)), refused('soon', frozen(20)), idle] });
    await waits(later, 1);
    await later.handle.signal(warehouseChanged);
    await waits(later, 2);
    await later.handle.signal(warehouseChanged);
    await later.handle.result();
    const [fourth, long] = await timerLengths(later);
    expect(fourth).to.be.within(7200, 8800);
    expect(long).to.be.within(54_000, 66_000);
  });

  it('tries again slowly what somebody has to change first, and at once when they have', async () => {
    const flush = await warehouses.start({ turns: [refused('slowly'), idle] });
    await waits(flush, 1);
    expect(await timerLengths(flush)).to.deep.equal([300_000]);
    await flush.handle.signal(warehouseChanged);
    await flush.handle.result();
    expect(flush.calls).to.deep.equal(['write', 'write']);
  });

  it('gives up after one try what is too old, and what cannot be written at all', async () => {
    const old = await warehouses.start(
      { turns: [refused('soon', frozen(0, { waitingSince: Date.now() - HOUR_MS })), idle], finishes: [false, true] },
      { retryMs: HOUR_MS },
    );
    await old.handle.result();
    expect(old.calls).to.deep.equal(['write', 'failed', 'failed', 'write']);
    const never = await warehouses.start({ turns: [refused('never'), idle], finishes: [true] });
    await never.handle.result();
    expect(never.calls).to.deep.equal(['write', 'failed', 'write']);
  });

  it('does not wait beyond the time at which it gives up', async () => {
    const flush = await warehouses.start(
      { turns: [refused('slowly'), refused('slowly', frozen(1, { waitingSince: 0 }))], finishes: [true] },
      { retryMs: 1500 },
    );
    await flush.handle.result();
    expect((await timerLengths(flush))[0]).to.be.at.most(1500);
    expect(flush.calls).to.deep.equal(['write', 'write', 'failed', 'write']);
  });

  it('tells in the Temporal UI why a batch waits, and answers what it is doing', async () => {
    const flush = await warehouses.start({ turns: [refused('slowly', frozen(4)), idle] });
    await waits(flush, 1);
    expect(await flush.handle.query(warehouseStatus)).to.include({ state: 'frozen', batchId: BATCH_ID, attempts: 4 });
    const details = await currentDetails(flush);
    expect(details).to.include('could not be written (attempt 5): The bucket "events" does not exist');
    expect(details).to.include('as soon as the destination is changed');
    await flush.handle.signal(warehouseChanged);
    await flush.handle.result();
  });

  it('continues in a new run when its history grows long', async () => {
    const turns = 200;
    const flush = await warehouses.start({ turns: Array<WritingOutcome>(turns).fill(more) });
    await flush.handle.result();
    expect(flush.calls).to.have.lengthOf(turns + 1);
    const { runId } = await warehouses.client.workflow.getHandle(flush.handle.workflowId).describe();
    expect(runId).to.not.equal(flush.handle.firstExecutionRunId);
  }).timeout(60_000);

  /** Waits until so many timers were started. */
  async function waits(flush: ScriptedFlush, count: number): Promise<void> {
    await until(`${count} waits`, async () => (await timerLengths(flush)).length === count);
  }
});
