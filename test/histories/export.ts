// Exports one genuine history for each path of the workflows: npm test -- test/histories/export.ts
// CONTRIBUTING.md says when ("Change a workflow"). The files are what replay.test.ts replays.
import { ApplicationFailure } from '@temporalio/common';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownWords } from '../../core/text/error-summary.ts';
import {
  cancel,
  circuitChanged,
  release,
  replay,
  resetCircuit,
  retryNow,
  status,
  warehouseChanged,
} from '../../workflows/signals-and-queries.ts';
import {
  closed,
  deferred,
  delivered,
  failed,
  failedOver,
  held,
  inQueue,
  retrying,
  type ScriptedDelivery,
  type ScriptedWorker,
  startScriptedWorker,
  unrecorded,
} from '../support/workflows/scripted-attempts.ts';
import { type ScriptedMessages, startScriptedMessages } from '../support/workflows/scripted-messages.ts';
import { runningProgress, type ScriptedReplays, startScriptedReplays } from '../support/workflows/scripted-replay.ts';
import {
  filling,
  frozen,
  idle,
  more,
  refused,
  type ScriptedWarehouses,
  startScriptedWarehouses,
} from '../support/workflows/scripted-warehouse.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
const project = join(import.meta.dirname, '..', '..');

const paths: Record<string, (worker: ScriptedWorker) => Promise<ScriptedDelivery['handle']>> = {
  'delivered-first-attempt': async (worker) => (await worker.start([delivered], { quick: true })).handle,
  'retried-while-away': async (worker) => {
    const away = new Error('The database is away');
    return (await worker.start([away, retrying(10), retrying(20), delivered], { quick: true })).handle;
  },
  'retried-now-and-cancelled': async (worker) => {
    const { handle, attempts } = await worker.start([retrying(HOUR_MS), retrying(HOUR_MS)]);
    await untilStatus(handle, 'retrying');
    await handle.signal(retryNow);
    await until('the second attempt', () => attempts.length === 2);
    await until('the second wait', async () => (await handle.query(status)).attempts === 2);
    await handle.signal(cancel);
    return handle;
  },
  'waited-for-slot-and-turn': async (worker) => {
    const slotAt = 1_795_000_000_000;
    const steps = [deferred(10), deferred(20, slotAt), retrying(10), inQueue, inQueue, delivered];
    const { handle, attempts } = await worker.start(steps);
    await until('the wait', () => attempts.length === 4);
    await handle.signal(release);
    await until('the second wait', () => attempts.length === 5);
    await handle.signal(release);
    return handle;
  },
  'held-and-failed-over': async (worker) => {
    const { handle, attempts } = await worker.start([retrying(10), held, held, retrying(10), failedOver]);
    await untilStatus(handle, 'circuit_open');
    await handle.signal(release);
    await until('the second hold', () => attempts.length === 3);
    await handle.signal(release);
    return handle;
  },
  'continued-and-replayed': async (worker) => {
    const requests = { retry: true, cancel: false, replay: false, release: false };
    const { handle } = await worker.start([retrying(HOUR_MS), failed], { resumeAt: 2, carried: { requests } });
    await untilStatus(handle, 'failed');
    await handle.signal(replay);
    return handle;
  },
  'resumed-and-cancelled-while-away': async (worker) => {
    const { handle } = await worker.start([retrying(10), new Error('The database is away')], {
      resumed: { attempts: 2, waitMs: 10, statusCode: 500, error: ownWords`The destination answered 500` },
    });
    await until('the pause', async () => {
      const metadata = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
      return metadata.currentDetails.includes('trying again');
    });
    await handle.signal(cancel);
    return handle;
  },
  'express-retried-and-closed': async (worker) =>
    (await worker.start([closed], { first: { ...failed, status: 'retrying', waitMs: 10 } })).handle,
  'express-failed-and-replayed': async (worker) => {
    const { handle } = await worker.start([], { first: failed });
    await untilStatus(handle, 'failed');
    await handle.signal(replay, 'dlv_00000000000000000000000000');
    return handle;
  },
  'express-deferred-and-failed': async (worker) => {
    const first = { status: 'deferred', waitMs: 10, slotAt: 1_795_000_000_000 } as const;
    return (await worker.start([{ ...failed, parked: false }], { first })).handle;
  },
  'express-recorded-later': async (worker) => {
    const recordings = [new Error('The database takes no writes'), retrying(10), delivered];
    return (await worker.start([{ ...unrecorded, attempt: 2 }], { first: unrecorded }, undefined, recordings)).handle;
  },
};

describe('export of histories', () => {
  let worker: ScriptedWorker;
  before(async () => {
    worker = await startScriptedWorker('test-histories');
  });
  after(() => worker.stop());

  for (const [name, walk] of Object.entries(paths)) {
    it(name, async () => {
      const handle = await walk(worker);
      // One that has failed for good ends by an error.
      await handle.result().catch(() => undefined);
      save(name, historyToJSON(await handle.fetchHistory()));
    });
  }

  it('circuit', async () => {
    const open = { failureCount: 5, probeSuccessCount: 0, probeSuccessThreshold: 2, probeDeliveryId: null, held: 3 };
    const probe = 'dlv_00000000000000000000000000';
    const { handle, looks } = await worker.startCircuit([
      { ...open, state: 'open', waitMs: 20 },
      { ...open, state: 'half_open', waitMs: null },
      new Error('The database is away'),
      { ...open, state: 'half_open', probeDeliveryId: probe, waitMs: HOUR_MS },
      { ...open, state: 'open', waitMs: HOUR_MS },
      { state: 'closed', held: 3, waitMs: 20, paused: { until: '2999-01-01T00:00:00.000Z' } },
      { state: 'closed', held: 2, waitMs: 0 },
      { state: 'closed', held: 0, waitMs: 0 },
    ]);
    const looked = (times: number) => until(`${times} looks`, async () => looks.length >= times);
    await looked(2);
    await handle.signal(circuitChanged);
    await looked(4);
    await handle.signal(circuitChanged);
    await looked(5);
    await handle.signal(resetCircuit);
    await handle.result();
    save('circuit', historyToJSON(await handle.fetchHistory()));
  });

  it('maintenance', async () => {
    const handle = await worker.maintain(2);
    save('maintenance', historyToJSON(await handle.fetchHistory()));
  });

  it('reconcile', async () => {
    const { handle } = await worker.reconcile([
      { next: { part: 'deliveries', after: '' }, repairs: {} },
      { next: { part: 'workflows', page: null }, repairs: { 'deliveries resumed': 2 } },
      { next: null, repairs: {} },
    ]);
    await handle.result();
    save('reconcile', historyToJSON(await handle.fetchHistory()));
  });
});

describe('export of histories of messages', () => {
  let messages: ScriptedMessages;
  before(async () => {
    messages = await startScriptedMessages('test-histories-of-messages');
  });
  after(() => messages.stop());

  it('message-sent', async () => {
    const away = ApplicationFailure.retryable('The mail server could not be used (ECONNREFUSED)', 'ReceiverAway');
    const { handle } = await messages.start([away, { status: 'sent' }]);
    await handle.result();
    save('message-sent', historyToJSON(await handle.fetchHistory()));
  });

  it('message-given-up', async () => {
    const steps = [
      ApplicationFailure.retryable('The channel answered 503', 'ReceiverAway'),
      ApplicationFailure.nonRetryable('The channel answered 410', 'MessageRefused'),
    ];
    const { handle } = await messages.start(steps, { to: 'channel', via: 'http' });
    await handle.result().catch(() => undefined);
    save('message-given-up', historyToJSON(await handle.fetchHistory()));
  });
});

describe('export of histories of replays', () => {
  let replays: ScriptedReplays;
  before(async () => {
    replays = await startScriptedReplays('test-histories-of-replays');
  });
  after(() => replays.stop());

  it('event-replay-completed', async () => {
    const waitsFor = '10 deliveries of this organization may wait, and so many do (limit waitingDeliveries)';
    const { handle } = await replays.start(
      [
        { eventsReplayed: 1 },
        { pages: 1 },
        new Error('The database is away'),
        { pages: 1, waitsFor },
        { eventsReplayed: 2, restMs: 2000, waitsFor: undefined },
        { eventsReplayed: 3, status: 'completed' },
      ],
      { ratePerSecond: 1 },
    );
    await handle.result();
    save('event-replay-completed', historyToJSON(await handle.fetchHistory()));
  }).timeout(60_000);

  it('event-replay-cancelled', async () => {
    const away = new Error('The database is away');
    const steps = [{ eventsReplayed: 2 }, away];
    const { handle, pages } = await replays.start(steps, { resumeFrom: runningProgress(1, 1) }, [away]);
    await until('the second page to fail', () => pages.length === 2);
    await handle.cancel();
    await handle.result().catch(() => undefined);
    save('event-replay-cancelled', historyToJSON(await handle.fetchHistory()));
  });
});

describe('export of histories of warehouses', () => {
  let warehouses: ScriptedWarehouses;
  before(async () => {
    warehouses = await startScriptedWarehouses('test-histories-of-warehouses');
  });
  after(() => warehouses.stop());

  it('warehouse', async () => {
    const { handle, calls } = await warehouses.start({
      turns: [
        filling(HOUR_MS),
        new Error('The database is away'),
        refused('soon'),
        more,
        refused('slowly', frozen(1, { waitingSince: 0 })),
        filling(10),
        idle,
      ],
      finishes: [false, true],
    });
    await until('the first turn', () => calls.length === 1);
    await handle.signal(warehouseChanged);
    await handle.result();
    save('warehouse', historyToJSON(await handle.fetchHistory()));
  });
});

// A failure's stack trace names files; where the project lay on the exporting machine is nobody's business.
function save(name: string, json: string): void {
  const history: unknown = JSON.parse(json.replaceAll(`${project}/`, ''));
  writeFileSync(join(import.meta.dirname, `${name}.json`), `${JSON.stringify(history, null, 1)}\n`);
}

async function untilStatus(handle: ScriptedDelivery['handle'], wanted: string): Promise<void> {
  await until(`status ${wanted}`, async () => (await handle.query(status)).status === wanted);
}
