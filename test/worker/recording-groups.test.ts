// Which results of attempts share a commit, seen by the transactions that wrote them.
import { expect } from 'chai';
import { createResultRecorder } from '../../activities/attempt/results.ts';
import { readSettings } from '../../core/config/config.ts';
import type { Lane } from '../../core/delivery/delivery.ts';
import { IssueCounts } from '../../core/messages/issue-counts.ts';
import { createLog } from '../../core/process/log.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import {
  attemptResult,
  type HistoryOwner,
  makeOwner,
  type RecordedOutcome,
  storeEvent,
} from '../support/database/history.ts';
import { useHistoryDatabase } from '../support/use-hookyard.ts';

describe('results of attempts', () => {
  const { database } = useHistoryDatabase(1);
  let hotPool: Pool;
  let owner: HistoryOwner;
  const log = createLog({ ...readSettings({}), LOG_LEVEL: 'silent' }, 'worker');
  before(async () => {
    hotPool = createPool(database.databaseUrl, {
      max: 4,
      statementTimeoutMs: 10_000,
      onError: () => {},
      hotPath: true,
    });
    owner = await makeOwner(database.pool, 1, 1);
  });
  after(async () => {
    await hotPool.end();
  });

  async function made(lane: Lane, outcome: RecordedOutcome) {
    const [route] = owner.routes;
    if (!route) throw new Error('there is no route');
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

  it('that wait are recorded before the recorder is idle', async () => {
    const result = await delivered();
    const recorder = createResultRecorder(hotPool, log, new IssueCounts());
    void recorder.record(owner.organizationId, result);
    await recorder.idle();
    expect(await commits([result])).to.equal(1);
  });
});
