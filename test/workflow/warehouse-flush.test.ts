// The workflow of warehouses on a real Temporal server, with activities that follow a script.
import { expect } from 'chai';
import type { WarehouseAdvice } from '../../activities/types.ts';
import { warehouseChanged, warehouseStatus } from '../../workflows/messages.ts';
import {
  BATCH_ID,
  filling,
  frozen,
  idle,
  refused,
  type ScriptedFlush,
  type ScriptedWarehouses,
  startScriptedWarehouses,
  uploaded,
} from '../support/scripted-warehouse.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
const away = () => new Error('The database is away');

describe('warehouse workflow @turns', () => {
  let warehouses: ScriptedWarehouses;
  before(async () => {
    warehouses = await startScriptedWarehouses('test-warehouse-workflow');
  });
  after(() => warehouses.stop());

  it('uploads and records one batch after the other, and ends when nothing waits', async () => {
    const { handle, calls } = await warehouses.start({
      looks: [filling(20), frozen(), frozen(), idle],
      uploads: [uploaded, uploaded],
      finishes: [true, true],
    });
    await handle.result();
    expect(steps(calls)).to.deep.equal(['look', 'look', 'upload', 'look', 'upload']);
    expect(calls.filter((call) => call === 'delivered')).to.have.lengthOf(2);
  });

  it('looks at once when a file may be full', async () => {
    const flush = await warehouses.start({ looks: [filling(HOUR_MS), idle] });
    await waits(flush, 1);
    await flush.handle.signal(warehouseChanged);
    await flush.handle.result();
    expect(flush.calls).to.deep.equal(['look', 'look']);
  });

  it('records what another worker had uploaded, in as many steps as it takes', async () => {
    const { handle, calls } = await warehouses.start({
      looks: [{ state: 'uploaded', batchId: BATCH_ID, events: 3 }, idle],
      finishes: [false, false, true],
    });
    await handle.result();
    expect(steps(calls)).to.deep.equal([]);
    expect(calls.filter((call) => call === 'delivered')).to.have.lengthOf(3);
  });

  it('waits a second after the first failed upload, longer after others, and tries again', async () => {
    const flush = await warehouses.start({
      looks: [frozen(0), frozen(1), idle],
      uploads: [refused('soon'), uploaded],
      finishes: [true],
    });
    await flush.handle.result();
    expect(steps(flush.calls)).to.deep.equal(['look', 'upload', 'look', 'upload']);
    expect((await timerLengths(flush))[0]).to.be.within(900, 1100);

    const later = await warehouses.start({
      looks: [frozen(3), frozen(20), idle],
      uploads: [refused('soon'), refused('soon')],
    });
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
    const flush = await warehouses.start({
      looks: [frozen(0), frozen(1), idle],
      uploads: [refused('slowly'), uploaded],
      finishes: [true],
    });
    await waits(flush, 1);
    expect(await timerLengths(flush)).to.deep.equal([300_000]);
    await flush.handle.signal(warehouseChanged);
    await flush.handle.result();
    expect(steps(flush.calls)).to.deep.equal(['look', 'upload', 'look', 'upload']);
  });

  it('gives up after one try what is too old, and what cannot be written at all', async () => {
    const old = await warehouses.start(
      {
        looks: [frozen(0, { waitingSince: Date.now() - HOUR_MS }), idle],
        uploads: [refused('soon')],
        finishes: [false, true],
      },
      { retryMs: HOUR_MS },
    );
    await old.handle.result();
    expect(old.calls).to.deep.equal(['look', 'upload', 'failed', 'failed', 'look']);
    const never = await warehouses.start({ looks: [frozen(), idle], uploads: [refused('never')], finishes: [true] });
    await never.handle.result();
    expect(never.calls).to.deep.equal(['look', 'upload', 'failed', 'look']);
  });

  it('does not wait beyond the time at which it gives up', async () => {
    const flush = await warehouses.start(
      {
        looks: [frozen(0), frozen(1, { waitingSince: 0 }), idle],
        uploads: [refused('slowly'), refused('slowly')],
        finishes: [true],
      },
      { retryMs: 1500 },
    );
    await flush.handle.result();
    expect((await timerLengths(flush))[0]).to.be.at.most(1500);
    expect(flush.calls).to.deep.equal(['look', 'upload', 'look', 'upload', 'failed', 'look']);
  });

  it('repeats each step while our own side is away', async () => {
    const { handle, calls } = await warehouses.start({
      looks: [away(), frozen(), idle],
      uploads: [away(), uploaded],
      finishes: [away(), true],
    });
    await handle.result();
    expect(steps(calls)).to.deep.equal(['look', 'look', 'upload', 'upload']);
    expect(calls.filter((call) => call === 'delivered')).to.have.lengthOf(2);
  });

  it('tells in the Temporal UI why a batch waits, and answers what it is doing', async () => {
    const flush = await warehouses.start({ looks: [frozen(4), idle], uploads: [refused('slowly')] });
    await waits(flush, 1);
    expect(await flush.handle.query(warehouseStatus)).to.include({ state: 'frozen', batchId: BATCH_ID, attempts: 4 });
    const metadata = await flush.handle.query<{ currentDetails: string }, []>('__temporal_workflow_metadata');
    expect(metadata.currentDetails).to.include('could not be written (try 5): The bucket "events" does not exist');
    expect(metadata.currentDetails).to.include('at once when the destination is changed');
    await flush.handle.signal(warehouseChanged);
    await flush.handle.result();
  });

  it('goes on in a new run when its history grows long', async () => {
    const batches = 120;
    const looks: WarehouseAdvice[] = [...Array.from({ length: batches }, () => frozen()), idle];
    const flush = await warehouses.start({
      looks,
      uploads: Array.from({ length: batches }, () => uploaded),
      finishes: Array.from({ length: batches }, () => true),
    });
    await flush.handle.result();
    expect(flush.calls.filter((call) => call === 'upload')).to.have.lengthOf(batches);
    expect(flush.calls.filter((call) => call === 'delivered')).to.have.lengthOf(batches);
    const { runId } = await warehouses.client.workflow.getHandle(flush.handle.workflowId).describe();
    expect(runId).to.not.equal(flush.handle.firstExecutionRunId);
  }).timeout(60_000);

  it('writes the next batch while deliveries are being recorded, and no third one before they are', async () => {
    const recorded = Promise.withResolvers<boolean>();
    const { handle, calls } = await warehouses.start({
      looks: [frozen(), frozen(), idle],
      uploads: [uploaded, uploaded],
      finishes: [recorded.promise, true],
    });
    await until('the second upload', () => calls.filter((call) => call === 'upload').length === 2);
    expect(calls.filter((call) => call === 'delivered')).to.have.lengthOf(1);
    recorded.resolve(true);
    await handle.result();
    expect(calls.filter((call) => call === 'delivered')).to.have.lengthOf(2);
  });

  /** What is done one after the other, but for the last looks; records are made beside it. */
  function steps(calls: string[]): string[] {
    const others = calls.filter((call) => call !== 'delivered');
    return others.slice(0, others.findLastIndex((call) => call !== 'look') + 1);
  }

  /** Waits until so many timers were started. */
  async function waits(flush: ScriptedFlush, count: number): Promise<void> {
    await until(`${count} waits`, async () => (await timerLengths(flush)).length === count);
  }

  /** Lengths of the timers in the order in which they were started, ms. */
  async function timerLengths({ handle }: ScriptedFlush): Promise<number[]> {
    const { events } = await handle.fetchHistory();
    return (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) =>
      timer
        ? [Number(timer.startToFireTimeout?.seconds ?? 0) * 1000 + (timer.startToFireTimeout?.nanos ?? 0) / 1e6]
        : [],
    );
  }
});
