// Retention on running processes: payloads end after 2 days and events after 6. What ends is gone everywhere, what is
// kept works as before, and nothing acknowledged vanishes without having ended visibly.
import { expect } from 'chai';
import { applyRetention } from '../../activities/maintenance/index.ts';
import { firstKeptDays } from '../../db/operations/retention.ts';
import { createLog } from '../../core/process/log.ts';
import { TUNING } from '../../core/config/tuning.ts';
import { readSettings } from '../../core/config/config.ts';
import { DAY_MS, ensurePartitions } from '../../db/sql/partitions.ts';
import { PAYLOAD_REMOVED } from '../../db/operations/retention.ts';
import { status } from '../../workflows/signals-and-queries.ts';
import {
  danglingReferences,
  partitionAges,
  pauseHousekeeping,
  type Pipe,
  storeAged,
} from '../support/database/aged-events.ts';
import { expectError } from '../support/api-client.ts';
import type { StoredEvent } from '../support/database/history.ts';
import { keepHouse } from '../support/database/housekeeping.ts';
import { pauseReconciliation, reconcileNow } from '../support/workflows/reconcile.ts';
import { type DestinationView, onceMore } from '../support/records.ts';
import { lakeAt } from '../support/warehouse/taking-store.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { inOpenTransaction } from '../support/database/row-lock.ts';
import { execute } from '../support/database/sql.ts';

const PAYLOAD_DAYS = 2;
const EVENT_DAYS = 6;
// Ages in days: the payload is kept; it is gone and the event is kept; the event is gone.
const [YOUNG, OLD, GONE] = [1, 4, 8];
const HOUR_MS = 3_600_000;

describe('retention', () => {
  const { testInstance, records, receiver } = useHookyard({});
  before(async () => {
    await testInstance.startWorker({
      HOOKYARD_PAYLOAD_RETENTION_DAYS: String(PAYLOAD_DAYS),
      HOOKYARD_EVENT_RETENTION_DAYS: String(EVENT_DAYS),
      // Files are tried for longer than payloads are kept.
      tuning: { warehouseRetrySeconds: 2_592_000 },
    });
    await Promise.all([pauseHousekeeping(testInstance), pauseReconciliation(testInstance)]);
  });

  const eventPath = (id: string) => `${testInstance.base}/events/${id}`;
  const replayBody = (eventIds: string[]) =>
    testInstance.client.request('POST', `${testInstance.base}/events/bulk/replay`, { eventIds });
  const total = async (path: string) => (await testInstance.client.list(path)).pagination.total;

  /** An event of each age, delivered. */
  async function delivered(pipe: Pipe): Promise<Record<'young' | 'old' | 'gone', StoredEvent>> {
    const [young, old, gone] = [
      await storeAged(testInstance, pipe, YOUNG, '{"find":"me"}'),
      await storeAged(testInstance, pipe, OLD, '{"find":"me"}'),
      await storeAged(testInstance, pipe, GONE, '{"find":"me"}'),
    ];
    for (const { id } of [young, old, gone]) await records.eventWith('delivered', id);
    return { young, old, gone };
  }

  it('drops payloads first and everything of an event later, and nothing refers to what is gone', async () => {
    const pipe = await records.pipe(receiver.endpoint().url);
    const { young, old, gone } = await delivered(pipe);
    // A delivery of today, of an event that is about to end.
    const replayed = await testInstance.client.post<{ deliveriesCreated: number }>(`${eventPath(gone.id)}/replay`);
    expect(replayed.deliveriesCreated).to.equal(1);
    const late = await until('the replay to be delivered', async () => {
      const deliveries = await records.deliveries(gone.id);
      return deliveries.find((delivery) => delivery.status === 'delivered' && delivery.replayOf !== null);
    });
    const today = await records.accepted(pipe.source, '{"find":"me"}');
    await records.eventWith('delivered', today);
    const dryRun = { sourceId: pipe.source.id, dryRun: true };
    expect(await testInstance.client.post(`${testInstance.base}/events/replay`, dryRun)).to.include({
      eventsTotal: 4,
      eventsExpired: 0,
    });

    await keepHouse(testInstance);

    expect(await partitionAges(testInstance, 'event_payloads'))
      .to.include(YOUNG)
      .and.to.not.include.oneOf([OLD, GONE]);
    for (const table of ['events', 'deliveries', 'attempts']) {
      expect(await partitionAges(testInstance, table), table)
        .to.include.members([YOUNG, OLD])
        .and.to.not.include(GONE);
    }
    expect(await danglingReferences(testInstance)).to.deep.equal({});
    // The payload is over: 410 wherever it is needed, and everything else continues.
    for (const answer of [
      await testInstance.client.request('GET', `${eventPath(old.id)}/payload`),
      await testInstance.client.request('GET', `${eventPath(old.id)}?includePayload=true`),
      await testInstance.client.request('POST', `${eventPath(old.id)}/replay`),
      await replayBody([old.id]),
      await testInstance.client.request('POST', `/api/deliveries/${old.deliveries[0]?.id}/replay`),
    ]) {
      expectError(answer, 410, 'PAYLOAD_EXPIRED');
    }
    expect(await records.event(old.id)).to.include({ status: 'delivered', deliveriesCount: 1, deliveriesSucceeded: 1 });
    expect((await records.deliveries(old.id))[0]?.attempts).to.have.length(1);
    expect(await testInstance.client.get(`${eventPath(old.id)}/timeline`))
      .to.have.property('deliveries')
      .with.length(1);
    // The event is over: 404.
    for (const path of [
      eventPath(gone.id),
      `${eventPath(gone.id)}/payload`,
      `${eventPath(gone.id)}/timeline`,
      ...[...gone.deliveries, late].map(({ id }) => `/api/deliveries/${id}`),
    ]) {
      expectError(await testInstance.client.request('GET', path), 404, 'RESOURCE_NOT_FOUND');
    }
    expectError(await testInstance.client.request('POST', `${eventPath(gone.id)}/replay`), 404, 'RESOURCE_NOT_FOUND');
    expect((await replayBody([gone.id, young.id])).body).to.include({ eventsQueued: 1 });
    await records.eventWith('delivered', young.id);
    // Lists agree with what is there, statistics with what has happened.
    const ofSource = `sourceId=${pipe.source.id}`;
    expect(await total(`${testInstance.base}/events?${ofSource}`)).to.equal(3);
    expect(await total(`${testInstance.base}/events?${ofSource}&search=find`)).to.equal(2);
    expect(await total(`${testInstance.base}/events?${ofSource}&page=3&pageSize=1`)).to.equal(3);
    expect(await total(`/api/deliveries?routeId=${pipe.route.id}`)).to.equal(4);
    expect(await total(`/api/deliveries?eventId=${gone.id}`)).to.equal(0);
    const { client, base } = testInstance;
    expect(await client.get(`${base}/sources/${pipe.source.id}`)).to.include({ eventsCount: 4 });
    expect(await client.get(`/api/routes/${pipe.route.id}/stats?period=30d`)).to.include({ eventsRouted: 4 });
    expect(await client.get(`/api/destinations/${pipe.destination.id}/health`)).to.include({ status: 'healthy' });
  });

  describe('what is still open when its payload ends', () => {
    async function failed(event: StoredEvent): Promise<void> {
      const delivery = await records.deliveryWith('failed', event.id);
      expect(delivery.error).to.equal(PAYLOAD_REMOVED.detail);
      expect(delivery.nextAttemptAt).to.equal(null);
      expect(await records.event(event.id)).to.include({ status: 'failed', deliveriesFailed: 1 });
    }

    const waiting = async (what: string, table: string, event: StoredEvent) =>
      until(what, async () => {
        const { rowCount } = await testInstance.pool.query(`select from ${table} where event_id = $1`, [event.id]);
        return rowCount === 1;
      });

    it('fails visibly with the reason, wherever it waits, and its workflow learns of it', async () => {
      const retries = await records.pipe(receiver.endpoint(500).url, {
        destination: { retryPolicy: onceMore(3, 20 * HOUR_MS) },
      });
      const breaker = { circuitFailureThreshold: 1, circuitCooldownSeconds: 3600 };
      const held = await records.pipe(receiver.endpoint(500).url, {
        destination: { retryPolicy: onceMore(3, 20 * HOUR_MS) },
        route: breaker,
      });
      const limited = await records.pipe(receiver.endpoint().url, { destination: { rateLimitPerMinute: 1 } });
      const retrying = await storeAged(testInstance, retries, OLD);
      await records.deliveryWith('retrying', retrying.id);
      // The first one opens the circuit and is held with its workflow, the second one without.
      const heldLater = await storeAged(testInstance, held, OLD);
      await records.deliveryWith('circuit_open', heldLater.id);
      const heldAtOnce = await storeAged(testInstance, held, OLD);
      await waiting('it to be held', 'held_deliveries', heldAtOnce);
      const inTime = await storeAged(testInstance, limited, OLD);
      await records.eventWith('delivered', inTime.id);
      const queued = await storeAged(testInstance, limited, OLD);
      await waiting('it to be queued', 'outbox', queued);
      const young = await storeAged(testInstance, retries, YOUNG);
      await records.deliveryWith('retrying', young.id);

      await keepHouse(testInstance);

      for (const event of [retrying, heldLater, heldAtOnce, queued]) await failed(event);
      expect(await records.deliveryWith('retrying', young.id)).to.include({ attemptCount: 1 });
      expect(await danglingReferences(testInstance)).to.deep.equal({});
      const parked = [retrying, heldLater].map((event) => event.deliveries[0]?.id ?? '');
      await execute(testInstance.pool)`update deliveries set finished_at = now() - interval '1 hour'
        where id = any(${parked})`;
      await until('the workflows to show it', async () => {
        await reconcileNow(testInstance);
        for (const id of parked) {
          const view = await testInstance.temporal.workflow.getHandle(id).query(status);
          if (view.status !== 'failed') throw new Error(`${id} shows ${view.status}`);
        }
        return true;
      });
    });

    it('fails when it waits for a file; what is in a file that is being written keeps its payload until that has ended', async () => {
      const source = await records.source();
      // Nobody listens there.
      const lake = lakeAt('http://127.0.0.1:1', { batchSize: 1 });
      const destination = await testInstance.client.create<DestinationView>('/api/destinations', lake);
      const pipe = { source, destination, route: await records.route(source.id, [destination.id]) };
      const inFile = await storeAged(testInstance, pipe, OLD);
      await until('its file to be tried', async () => {
        const { data } = await testInstance.client.list<{ attempts: number; lastError: string | null }>(
          `/api/destinations/${destination.id}/batches`,
        );
        return (data[0]?.attempts ?? 0) > 0 && data[0]?.lastError !== null;
      });
      // Its file is made when that one has ended.
      const behind = await storeAged(testInstance, pipe, OLD);

      await keepHouse(testInstance);

      await failed(behind);
      expect(await records.deliveryWith('pending', inFile.id))
        .to.have.property('batchId')
        .that.is.a('string');
      expect(await partitionAges(testInstance, 'event_payloads')).to.include(OLD);

      await testInstance.client.patch(`/api/destinations/${destination.id}`, { enabled: false });
      await records.deliveryWith('skipped', inFile.id);
      await until('the payload to be dropped', async () => {
        await keepHouse(testInstance);
        return !(await partitionAges(testInstance, 'event_payloads')).includes(OLD);
      });
      expectError(await testInstance.client.request('GET', `${eventPath(inFile.id)}/payload`), 410, 'PAYLOAD_EXPIRED');
      expect(await danglingReferences(testInstance)).to.deep.equal({});
    });
  });

  it('never keeps webhooks waiting for somebody who reads for long', async () => {
    const pipe = await records.pipe(receiver.endpoint().url);
    const { gone } = await delivered(pipe);
    await inOpenTransaction(testInstance.pool, async (reader) => {
      for (const table of ['events', 'event_payloads', 'deliveries', 'attempts'])
        await reader.query(`select count(*) from ${table}`);
      const housekeeping = keepHouse(testInstance);
      let kept = false;
      const ended = housekeeping.then(() => {
        kept = true;
      });
      // Partitions ahead are made all the same.
      await ensurePartitions(testInstance.pool, Date.now() + 10 * DAY_MS);
      const accepted: string[] = [];
      do accepted.push(await records.accepted(pipe.source, '{}'));
      while (!kept);
      await ended;
      for (const id of accepted) await records.eventWith('delivered', id);
      expect(testInstance.logs()).to.include('retention is waiting for a transaction that uses the table');
      expect(await partitionAges(testInstance, 'event_payloads')).to.include(GONE);
      expect(await records.event(gone.id)).to.include({ status: 'delivered' });
    });
    await keepHouse(testInstance);
    expect(await partitionAges(testInstance, 'event_payloads')).to.not.include(GONE);
    expectError(await testInstance.client.request('GET', eventPath(gone.id)), 404, 'RESOURCE_NOT_FOUND');
    expect(await danglingReferences(testInstance)).to.deep.equal({});
  });

  it('of 0 days keeps for ever', async () => {
    const pipe = await records.pipe(receiver.endpoint().url);
    const { gone } = await delivered(pipe);
    const settings = { ...readSettings({}), HOOKYARD_PAYLOAD_RETENTION_DAYS: 0, HOOKYARD_EVENT_RETENTION_DAYS: 0 };
    const log = createLog({ ...readSettings({}), LOG_LEVEL: 'silent' }, 'worker');
    expect(await applyRetention({ pool: testInstance.pool, settings, tuning: TUNING, log })).to.equal(false);
    expect((await testInstance.client.request('GET', `${eventPath(gone.id)}/payload`)).status).to.equal(200);
  });

  it('never keeps a payload for longer than its event', () => {
    const at = 100 * DAY_MS + HOUR_MS;
    const kept = (payloads: number, events: number) =>
      firstKeptDays({ HOOKYARD_PAYLOAD_RETENTION_DAYS: payloads, HOOKYARD_EVENT_RETENTION_DAYS: events }, at);
    expect(kept(30, 90)).to.deep.equal({ payloads: 70, events: 10 });
    expect(kept(0, 90)).to.deep.equal({ payloads: 10, events: 10 });
    expect(kept(95, 90)).to.deep.equal({ payloads: 10, events: 10 });
    expect(kept(30, 0)).to.deep.equal({ payloads: 70, events: null });
    expect(kept(0, 0)).to.deep.equal({ payloads: null, events: null });
  });
});
