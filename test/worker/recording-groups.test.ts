// Which results of attempts share a commit, seen by the transactions that wrote them.
import { expect } from 'chai';
import { createResultRecorder } from '../../activities/attempt/results.ts';
import { readSettings } from '../../core/config/config.ts';
import type { Lane } from '../../core/delivery/delivery.ts';
import { IssueCounts } from '../../core/messages/issue-counts.ts';
import { createLog } from '../../core/process/log.ts';
import {
  attemptResult,
  type HistoryOwner,
  makeOwner,
  type RecordedOutcome,
  storeEvent,
  firstRoute,
} from '../support/database/history.ts';
import { useHistoryDatabase, usePool } from '../support/use-hookyard.ts';

describe('results of attempts', () => {
  const { database } = useHistoryDatabase(1);
  const hotPool = usePool(database, { hotPath: true });
  let owner: HistoryOwner;
  const log = createLog({ ...readSettings({}), LOG_LEVEL: 'silent' }, 'worker');
  before(async () => {
    owner = await makeOwner(database.pool, 1, 1);
  });

  async function made(lane: Lane, outcome: RecordedOutcome) {
    const route = firstRoute(owner);
    const event = await storeEvent(database.pool, owner, route, { receivedAt: new Date(), statuses: ['pending'] });
    const [delivery] = event.deliveries;
    if (!delivery) throw new Error('there is no delivery');
    return { ...attemptResult(event, delivery, outcome), lane };
  }
  const delivered = () => made('express', { status: 'delivered' });

  /** The transactions that recorded these results. */
  async function commits(results: { deliveryId: string }[]): Promise<number> {
    const { rows } = await database.pool.query<{ commits: number; attempts: number }>(
      'select count(distinct xmin::text)::int as commits, count(*)::int as attempts from attempts where delivery_id = any($1)',
      [results.map(({ deliveryId }) => deliveryId)],
    );
    expect(rows[0]?.attempts).to.equal(results.length);
    return rows[0]?.commits ?? 0;
  }

  /** Submits results, each in a later turn of the event loop. */
  async function recordInTurn(
    results: Awaited<ReturnType<typeof made>>[],
    isAwaited: (deliveryId: string) => boolean = () => false,
  ) {
    const recorder = createResultRecorder(hotPool, log, new IssueCounts(), isAwaited);
    const recordings = [];
    for (const result of results) {
      recordings.push(recorder.record(owner.organizationId, result).recorded);
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const { changed } of await Promise.all(recordings)) expect(changed).to.equal(true);
    return recorder;
  }

  it('that nobody waits for share one, although they come one by one', async () => {
    const results = [await delivered(), await delivered(), await delivered()];
    await recordInTurn(results);
    expect(await commits(results)).to.equal(1);
  });

  it('are recorded at once, with those that came before, when one is a failure', async () => {
    const results = [await delivered(), await made('express', { status: 'failed' })];
    const last = await delivered();
    const recorder = createResultRecorder(hotPool, log, new IssueCounts());
    const late = recorder.record(owner.organizationId, last).recorded;
    const first = await recordInTurn(results);
    expect(await commits(results)).to.equal(1);
    await Promise.all([late, recorder.idle(), first.idle()]);
  });

  it('are not held back from a workflow, nor from a delivery that waits for their place', async () => {
    const inWorkflow = [
      await made('workflow', { status: 'delivered' }),
      await made('workflow', { status: 'delivered' }),
    ];
    await recordInTurn(inWorkflow);
    expect(await commits(inWorkflow)).to.equal(2);
    const awaited = [await delivered(), await delivered()];
    await recordInTurn(awaited, () => true);
    expect(await commits(awaited)).to.equal(2);
  });
});
