import { WorkflowFailedError } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import { expect } from 'chai';
import { cancel, progress } from '../../workflows/signals-and-queries.ts';
import { currentDetails, tells, timerLengths } from '../support/workflows/scripted-history.ts';
import { type PageStep, startScriptedReplays } from '../support/workflows/scripted-replay.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-hookyard.ts';

const away = () => new Error('The database is away');

describe('replay workflow', () => {
  const replays = useStarted(() => startScriptedReplays('test-replay-workflow'));

  it('asks for one page after the other until the replay has ended', async () => {
    const replay = await replays.start([
      { eventsReplayed: 2 },
      { eventsReplayed: 4 },
      { eventsReplayed: 5, status: 'completed' },
    ]);
    expect(await replay.handle.result()).to.include({ status: 'completed', pages: 3, eventsReplayed: 5 });
    expect(replay.pages).to.deep.equal([1, 2, 3]);
    expect(replay.cancels()).to.equal(0);
    expect(await replay.handle.query(progress)).to.include({ status: 'completed', eventsReplayed: 5 });
  });

  it('waits after a page as long as its events take at the rate', async () => {
    const replay = await replays.start([{ eventsReplayed: 5 }, { status: 'completed' }], { ratePerSecond: 1 });
    await replay.handle.result();
    const [length = 0, ...others] = await timerLengths(replay);
    expect(length).to.be.within(1, 5000);
    expect(others).to.deep.equal([]);
  });

  it('rests until its next page may be made, and can be cancelled meanwhile', async () => {
    const rested = await replays.start([
      { pages: 0, restMs: 700 },
      { eventsReplayed: 1, restMs: 300 },
      { status: 'completed' },
    ]);
    expect(await rested.handle.result()).to.include({ status: 'completed' });
    expect(rested.pages).to.deep.equal([1, 1, 2]);
    expect(await timerLengths(rested)).to.deep.equal([700, 300]);
    const cancelled = await replays.start([{ pages: 0, restMs: 600_000 }]);
    await until('the rest', async () => (await timerLengths(cancelled)).length === 1);
    await cancelled.handle.signal(cancel);
    expect(await cancelled.handle.result()).to.include({ status: 'cancelled' });
    expect(cancelled.pages).to.deep.equal([1]);
  });

  it('makes a page again that our own side lost', async () => {
    const replay = await replays.start([{ eventsReplayed: 1 }, away(), away(), { status: 'completed' }]);
    expect(await replay.handle.result()).to.include({ status: 'completed', pages: 2 });
    expect(replay.pages).to.deep.equal([1, 2, 2, 2]);
  });

  it('waits while there is no room for its page, says so, and can be cancelled meanwhile', async () => {
    const waitsFor = '10 deliveries of this organization may wait, and so many do (limit waitingDeliveries)';
    const replay = await replays.start([{ waitsFor, pages: 0 }]);
    await until('the wait', async () => (await replay.handle.query(progress)).waitsFor === waitsFor);
    expect(await timerLengths(replay)).to.deep.equal([10_000]);
    expect(await currentDetails(replay))
      .to.include('**Waiting**')
      .and.include('10 deliveries of this organization may wait');
    await replay.handle.signal(cancel);
    expect(await replay.handle.result()).to.include({ status: 'cancelled' });
    expect(replay.pages).to.deep.equal([1]);
  });

  it('lets a page finish before it is cancelled', async () => {
    const page = Promise.withResolvers<PageStep & { eventsReplayed: number }>();
    const replay = await replays.start([page.promise]);
    await until('the page to be made', () => replay.pages.length === 1);
    await replay.handle.signal(cancel);
    expect(replay.cancels()).to.equal(0);
    page.resolve({ eventsReplayed: 3 });
    expect(await replay.handle.result()).to.include({ status: 'cancelled', eventsReplayed: 3 });
    expect(replay.pages).to.deep.equal([1]);
  });

  it('is completed when the last page was made before the cancel', async () => {
    const page = Promise.withResolvers<{ status: 'completed' }>();
    const replay = await replays.start([page.promise]);
    await until('the page to be made', () => replay.pages.length === 1);
    await replay.handle.signal(cancel);
    page.resolve({ status: 'completed' });
    expect(await replay.handle.result()).to.include({ status: 'completed' });
    expect(replay.cancels()).to.equal(0);
  });

  it('can be cancelled while our own side is away, and insists until that is recorded', async () => {
    const replay = await replays.start([away()], {}, [away()]);
    await until('the page to fail', () => replay.pages.length === 1);
    await replay.handle.signal(cancel);
    expect(await replay.handle.result()).to.include({ status: 'cancelled' });
    expect(replay.pages).to.deep.equal([1]);
    expect(replay.cancels()).to.equal(2);
  });

  it('takes a cancellation request of Temporal like the signal, and shows as cancelled there', async () => {
    const replay = await replays.start([{ eventsReplayed: 1 }], { ratePerSecond: 1 });
    await until('the wait', async () => (await replay.handle.query(progress)).eventsReplayed === 1);
    await replay.handle.cancel();
    const error: unknown = await replay.handle.result().catch((failure: unknown) => failure);
    expect(error).to.be.instanceOf(WorkflowFailedError);
    expect(error).to.have.property('cause').that.is.instanceOf(CancelledFailure);
    expect(replay.cancels()).to.equal(1);
    expect((await replay.handle.describe()).status.name).to.equal('CANCELLED');
  });

  it('tells in the Temporal UI how far it is, and what it waits for when our own side is away', async () => {
    const replay = await replays.start(
      [{ eventsReplayed: 2, eventsExpired: 1, eventsUnroutable: 3 }, away(), away(), away()],
      { ratePerSecond: 1000 },
    );
    await until('the page to fail', () => tells(replay, 'cannot reach'));
    const details = await currentDetails(replay);
    expect(details).to.include('2 of 5 events replayed');
    expect(details).to.include('1 event no longer had a payload, 3 events had no route');
    await replay.handle.signal(cancel);
    await replay.handle.result();
  });

  it('continues in a new run when its history grows long', async () => {
    const total = 175;
    function* pages(): Generator<PageStep> {
      for (let page = 1; page < total; page += 1) yield { eventsReplayed: page };
      yield { eventsReplayed: total, status: 'completed' };
    }
    const replay = await replays.start(pages());
    expect(await replay.handle.result()).to.include({ status: 'completed', pages: total, eventsReplayed: total });
    expect(replay.pages).to.deep.equal(Array.from({ length: total }, (_, index) => index + 1));
    const { runId } = await replays.client.workflow.getHandle(replay.reference.replayId).describe();
    expect(runId).to.not.equal(replay.handle.firstExecutionRunId);
  });
});
