// Exports one genuine history for each path of the workflows: npm test -- test/histories/export.ts
// To be run after a workflow was changed on purpose, when no workflow of an earlier version can be open any more (or the
// change is guarded by `patched`, and then into files beside the old ones). The files are what replay.test.ts replays.
import { ApplicationFailure } from '@temporalio/common';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownWords } from '../../core/error-summary.ts';
import {
  cancel,
  circuitChanged,
  release,
  progress,
  replay,
  resetCircuit,
  retryNow,
  status,
  warehouseChanged,
} from '../../workflows/messages.ts';
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
} from '../support/scripted-attempts.ts';
import { type ScriptedMail, startScriptedMail } from '../support/scripted-mail.ts';
import { runningProgress, type ScriptedReplays, startScriptedReplays } from '../support/scripted-replay.ts';
import {
  filling,
  frozen,
  idle,
  more,
  refused,
  type ScriptedWarehouses,
  startScriptedWarehouses,
} from '../support/scripted-warehouse.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
const project = join(import.meta.dirname, '..', '..');

const paths: Record<string, (worker: ScriptedWorker) => Promise<ScriptedDelivery['handle']>> = {
  'delivered-first-attempt': async (worker) => (await worker.start([delivered], { quick: true })).handle,
  'delivered-regular': async (worker) => (await worker.start([delivered], { quick: false })).handle,
  retried: async (worker) => (await worker.start([retrying(10), retrying(20), delivered], { quick: true })).handle,
  'retried-now': async (worker) => {
    const { handle } = await worker.start([retrying(HOUR_MS), delivered]);
    await untilStatus(handle, 'retrying');
    await handle.signal(retryNow);
    return handle;
  },
  'own-side-away': async (worker) =>
    (await worker.start([new Error('The database is away'), delivered], { quick: true })).handle,
  'own-side-cancelled': async (worker) => {
    const { handle } = await worker.start([retrying(10), new Error('The database is away')]);
    await until('the pause', async () => {
      const metadata = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
      return metadata.currentDetails.includes('trying again');
    });
    await handle.signal(cancel);
    return handle;
  },
  'waited-for-turn': async (worker) => {
    const { handle, attempts } = await worker.start([retrying(10), inQueue, inQueue, delivered]);
    await until('the wait', () => attempts.length === 2);
    await handle.signal(release);
    await until('the second wait', () => attempts.length === 3);
    await handle.signal(release);
    return handle;
  },
  'failed-and-closed': async (worker) => (await worker.start([{ ...failed, parked: false }])).handle,
  'failed-parked-replayed': async (worker) => {
    const { handle } = await worker.start([retrying(10), failed]);
    await untilStatus(handle, 'failed');
    await handle.signal(replay);
    return handle;
  },
  cancelled: async (worker) => {
    const { handle } = await worker.start([retrying(HOUR_MS)]);
    await untilStatus(handle, 'retrying');
    await handle.signal(cancel);
    return handle;
  },
  'failed-over': async (worker) => (await worker.start([retrying(10), failedOver], { quick: true })).handle,
  deferred: async (worker) => (await worker.start([deferred(10), deferred(20, 1_795_000_000_000), delivered])).handle,
  held: async (worker) => {
    const { handle, attempts } = await worker.start([retrying(10), held, held, delivered]);
    await untilStatus(handle, 'circuit_open');
    await handle.signal(release);
    await until('the second hold', () => attempts.length === 3);
    await handle.signal(release);
    return handle;
  },
  'express-retried': async (worker) =>
    (await worker.start([retrying(10), delivered], { first: { ...failed, status: 'retrying', waitMs: 10 } })).handle,
  'express-failed': async (worker) => {
    const { handle } = await worker.start([], { first: failed });
    await untilStatus(handle, 'failed');
    await handle.signal(replay);
    return handle;
  },
  'express-deferred': async (worker) =>
    (await worker.start([delivered], { first: { status: 'deferred', waitMs: 10, slotAt: 1_795_000_000_000 } })).handle,
  resumed: async (worker) =>
    (
      await worker.start([retrying(10), delivered], {
        resumed: { attempts: 2, waitMs: 10, statusCode: 500, error: ownWords`The destination answered 500` },
      })
    ).handle,
  'recorded-later': async (worker) => {
    const lost = new Error('The database takes no writes');
    return (await worker.start([unrecorded, delivered], { quick: true }, undefined, [lost, retrying(10)])).handle;
  },
  'express-recorded-later': async (worker) =>
    (await worker.start([], { first: unrecorded }, undefined, [delivered])).handle,
  closed: async (worker) => (await worker.start([retrying(10), closed])).handle,
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

  it('circuit-paused', async () => {
    const { handle, looks } = await worker.startCircuit([
      { state: 'closed', held: 0, waitMs: HOUR_MS, paused: { until: null } },
      { state: 'closed', held: 3, waitMs: 20, paused: { until: '2999-01-01T00:00:00.000Z' } },
      { state: 'closed', held: 2, waitMs: 0 },
      { state: 'closed', held: 0, waitMs: 0 },
    ]);
    await until('the first look', async () => looks.length === 1);
    await handle.signal(circuitChanged);
    await handle.result();
    save('circuit-paused', historyToJSON(await handle.fetchHistory()));
  });

  it('circuit-repeated', async () => {
    const { handle } = await worker.startCircuit([
      new Error('The database is away'),
      { state: 'closed', held: 0, waitMs: 0 },
    ]);
    await handle.result();
    save('circuit-repeated', historyToJSON(await handle.fetchHistory()));
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

describe('export of histories of notifications', () => {
  let mail: ScriptedMail;
  before(async () => {
    mail = await startScriptedMail('test-histories-of-notifications');
  });
  after(() => mail.stop());

  it('notified', async () => {
    const away = ApplicationFailure.retryable('The mail server could not be used (ECONNREFUSED)', 'MailServerAway');
    const { handle } = await mail.start([away, { status: 'sent', count: 1 }]);
    await handle.result();
    save('notified', historyToJSON(await handle.fetchHistory()));
  });

  it('notification-dropped', async () => {
    const refused = ApplicationFailure.nonRetryable('The mail server did not take the mail', 'MailRefused');
    const { handle } = await mail.start([refused]);
    await handle.result().catch(() => undefined);
    save('notification-dropped', historyToJSON(await handle.fetchHistory()));
  });

  it('alert-sent', async () => {
    const silent = ApplicationFailure.retryable('The channel answered 503', 'ChannelAway');
    const { handle } = await mail.startAlert([silent, { status: 'sent' }]);
    await handle.result();
    save('alert-sent', historyToJSON(await handle.fetchHistory()));
  });

  it('alert-given-up', async () => {
    const { handle } = await mail.startAlert([
      ApplicationFailure.nonRetryable('The channel answered 410', 'ChannelRefused'),
    ]);
    await handle.result().catch(() => undefined);
    save('alert-given-up', historyToJSON(await handle.fetchHistory()));
  });
});

describe('export of histories of replays', () => {
  let replays: ScriptedReplays;
  before(async () => {
    replays = await startScriptedReplays('test-histories-of-replays');
  });
  after(() => replays.stop());

  it('event-replay-completed', async () => {
    const { handle } = await replays.start(
      [
        { eventsReplayed: 1 },
        { pages: 1 },
        new Error('The database is away'),
        { eventsReplayed: 2 },
        { eventsReplayed: 3, status: 'completed' },
      ],
      { ratePerSecond: 1 },
    );
    await handle.result();
    save('event-replay-completed', historyToJSON(await handle.fetchHistory()));
  });

  it('event-replay-cancelled', async () => {
    const away = new Error('The database is away');
    const { handle } = await replays.start(
      [{ eventsReplayed: 2 }],
      { ratePerSecond: 1, resumeFrom: runningProgress(1, 1) },
      [away],
    );
    await until('the wait', async () => (await handle.query(progress)).eventsReplayed === 2);
    await handle.signal(cancel);
    await handle.result();
    save('event-replay-cancelled', historyToJSON(await handle.fetchHistory()));
  });

  it('event-replay-waited', async () => {
    const waitsFor = '10 deliveries of this organization may wait, and so many do (limit waitingDeliveries)';
    const { handle } = await replays.start([{ eventsReplayed: 1 }, { waitsFor, pages: 1 }]);
    await until('the wait', async () => (await handle.query(progress)).waitsFor === waitsFor);
    await handle.signal(cancel);
    await handle.result();
    save('event-replay-waited', historyToJSON(await handle.fetchHistory()));
  });

  it('event-replay-rested', async () => {
    const { handle } = await replays.start([
      { pages: 0, restMs: 300 },
      { eventsReplayed: 1, restMs: 300 },
      { eventsReplayed: 2, status: 'completed' },
    ]);
    await handle.result();
    save('event-replay-rested', historyToJSON(await handle.fetchHistory()));
  });

  it('event-replay-cancelled-away', async () => {
    const { handle, pages } = await replays.start([new Error('The database is away')]);
    await until('the page to fail', () => pages.length === 1);
    await handle.cancel();
    await handle.result().catch(() => undefined);
    save('event-replay-cancelled-away', historyToJSON(await handle.fetchHistory()));
  });
});

describe('export of histories of warehouses', () => {
  let warehouses: ScriptedWarehouses;
  before(async () => {
    warehouses = await startScriptedWarehouses('test-histories-of-warehouses');
  });
  after(() => warehouses.stop());

  // Those of workflows that write each file by activities of its own are kept as an earlier release made them.
  it('warehouse-turns', async () => {
    const { handle, calls } = await warehouses.start({
      turns: [filling(HOUR_MS), new Error('The database is away'), refused('soon'), more, filling(10), idle],
    });
    await until('the first turn', () => calls.length === 1);
    await handle.signal(warehouseChanged);
    await handle.result();
    save('warehouse-turns', historyToJSON(await handle.fetchHistory()));
  });

  it('warehouse-given-up', async () => {
    const { handle, calls } = await warehouses.start(
      { turns: [refused('slowly'), refused('slowly', frozen(1, { waitingSince: 0 })), idle], finishes: [false, true] },
      { retryMs: HOUR_MS },
    );
    await until('the upload', () => calls.length === 1);
    await handle.signal(warehouseChanged);
    await handle.result();
    save('warehouse-given-up', historyToJSON(await handle.fetchHistory()));
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
