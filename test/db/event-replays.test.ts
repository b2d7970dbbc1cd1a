// The pages of replays, straight on PostgreSQL: every event once, whatever happens in between.
import { expect } from 'chai';
import { MAX_OPEN_REPLAYS } from '../../core/event-replay.ts';
import { idFloor, newId } from '../../core/ids.ts';
import { makePage } from '../../db/event-replay-pages.ts';
import {
  claimEventReplays,
  countExpired,
  countMatching,
  createEventReplay,
  type EventReplayKey,
  endEventReplay,
  FilterTooBroadError,
  forgetEventReplays,
  selectEvents,
  TooManyReplaysError,
} from '../../db/event-replays.ts';
import type { EventFilter } from '../../db/history/events.ts';
import { migrate } from '../../db/migrate.ts';
import { createPool, type Pool } from '../../db/pool.ts';
import { createDatabase } from '../support/hookyard.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;

interface StoredEvent {
  status?: string;
  body?: string | null;
  payloadSize?: number;
  /** Relative to now, ms. */
  receivedAgo?: number;
}

describe('pages of a replay', () => {
  let pool: Pool;
  let databaseUrl: string;
  let drop: () => Promise<void>;
  let organizationId: string;
  let sourceId: string;
  let destinationId: string;
  let routeId: string;
  before(async () => {
    // Of its own, so that no worker looks after these replays.
    ({ databaseUrl, drop } = await createDatabase('test_event_replays'));
    await migrate(databaseUrl);
    pool = createPool(databaseUrl, { max: 8, statementTimeoutMs: 20_000, onError: () => {} });
  });
  after(async () => {
    await pool.end();
    await drop();
  });
  beforeEach(async () => {
    [organizationId, sourceId, destinationId, routeId] = [newId('org'), newId('src'), newId('dst'), newId('rte')];
    await pool.query(`insert into organizations (id, slug, name, plan) values ($1, $1, 'Test', 'business')`, [
      organizationId,
    ]);
    await pool.query(`insert into sources (id, organization_id, name, slug) values ($1, $2, 'Orders', $1)`, [
      sourceId,
      organizationId,
    ]);
    await pool.query(
      `insert into destinations (id, organization_id, name, slug, type, url, method, auth_type, timeout_ms, retry_policy)
       values ($1, $2, 'CRM', $1, 'http', 'https://receiver.example/', 'POST', 'none', 1000, '{}')`,
      [destinationId, organizationId],
    );
    await pool.query(
      `insert into routes (id, organization_id, name, source_id, destination_ids) values ($1, $2, 'Orders to CRM', $3, array[$4])`,
      [routeId, organizationId, sourceId, destinationId],
    );
  });

  /** Stores events without deliveries, in the order of time; @returns their ids */
  async function storeEvents(...events: StoredEvent[]): Promise<string[]> {
    const rows = events.map(({ status = 'delivered', body = '{}', payloadSize = 2, receivedAgo = 1000 }) => ({
      id: newId('evt', Date.now() - receivedAgo),
      status,
      body,
      payload_size: payloadSize,
    }));
    await pool.query(
      `with input as (
         select * from json_to_recordset($1::json) as i(id text, status text, body text, payload_size int)
       ), stored as (
         insert into events (id, organization_id, source_id, status, routed, method, query, headers, payload_size,
                             payload_hash, deliveries_count, received_at, validated_at, queued_at)
         select id, $2, $3, status, true, 'POST', '', '{}', payload_size, '', 0, now(), now(), clock_timestamp() from input
       )
       insert into event_payloads (event_id, is_text, body)
       select id, true, convert_to(body, 'UTF8') from input where body is not null`,
      [JSON.stringify(rows), organizationId, sourceId],
    );
    return rows.map(({ id }) => id);
  }

  const many = (count: number, event: StoredEvent = {}): StoredEvent[] => Array.from({ length: count }, () => event);

  async function startReplay(filter: EventFilter = {}, ratePerSecond = 3, destinationIds: string[] | null = null) {
    const selection = await selectEvents(pool, organizationId, filter);
    const eventsTotal = await countMatching(pool, selection);
    const replayId = await createEventReplay(pool, {
      selection,
      search: null,
      destinationIds,
      ratePerSecond,
      eventsTotal,
    });
    return { organizationId, replayId };
  }

  /** Makes pages until the replay has ended; @returns its progress after each */
  async function run(key: EventReplayKey, from = 0) {
    const seen = [];
    for (let page = from + 1; ; ) {
      const { progress } = await makePage(pool, key, page);
      seen.push(progress);
      if (progress.status !== 'running') return seen;
      page = progress.pages + 1;
    }
  }

  /** The event of every delivery, in the order in which they were made. */
  async function replayedEvents(): Promise<string[]> {
    const { rows } = await pool.query<{ event_id: string }>(
      'select event_id from deliveries where organization_id = $1 order by id',
      [organizationId],
    );
    return rows.map((row) => row.event_id);
  }

  it('replay each event once, oldest first, as many in a page as the rate says', async () => {
    const ids = await storeEvents(...many(7));
    const seen = await run(await startReplay());
    expect(seen.map(({ pages, eventsReplayed, status }) => [pages, eventsReplayed, status])).to.deep.equal([
      [1, 3, 'running'],
      [2, 6, 'running'],
      [3, 7, 'completed'],
    ]);
    expect(seen.at(-1)).to.include({
      eventsTotal: 7,
      deliveriesCreated: 7,
      eventsExpired: 0,
      eventsUnroutable: 0,
    });
    expect(await replayedEvents()).to.deep.equal(ids);
    const { rows } = await pool.query(
      'select distinct status, deliveries_count from events where organization_id = $1',
      [organizationId],
    );
    expect(rows).to.deep.equal([{ status: 'pending', deliveries_count: 1 }]);
  });

  it('end with the last event, also when it fills its page', async () => {
    await storeEvents(...many(6));
    expect((await run(await startReplay())).map(({ status }) => status)).to.deep.equal(['running', 'completed']);
  });

  it('of nothing end at once', async () => {
    const [progress] = await run(await startReplay());
    expect(progress).to.include({ status: 'completed', eventsTotal: 0, eventsReplayed: 0, replayedUntil: null });
  });

  it('are made once, however often and by however many they are asked for', async () => {
    const ids = await storeEvents(...many(6));
    const key = await startReplay({}, 2);
    const first = await makePage(pool, key, 1);
    expect(first.deliveries).to.have.length(2);
    const again = await makePage(pool, key, 1);
    expect(again).to.deep.equal({ progress: first.progress, deliveries: [] });
    const rivals = await Promise.all(Array.from({ length: 6 }, () => makePage(pool, key, 2)));
    expect(rivals.map(({ deliveries }) => deliveries.length).toSorted()).to.deep.equal([0, 0, 0, 0, 0, 2]);
    expect(new Set(rivals.map(({ progress }) => progress.eventsReplayed))).to.deep.equal(new Set([4]));
    await run(key, 2);
    expect(await replayedEvents()).to.deep.equal(ids);
  });

  it('leave nothing behind when they are cut off in the middle', async () => {
    const ids = await storeEvents(...many(3));
    const key = await startReplay();
    const [blocker, own] = [await pool.connect(), createPool(databaseUrl, oneConnection)];
    try {
      await blocker.query('begin');
      await blocker.query('select from events where id = $1 for update', [ids[1]]);
      const cutOff = makePage(own, key, 1).then(
        () => 'made',
        () => 'cut off',
      );
      const pid = await until('the page to wait for an event', () => waitingBackend());
      await pool.query('select pg_terminate_backend($1)', [pid]);
      expect(await cutOff).to.equal('cut off');
      await blocker.query('commit');
    } finally {
      blocker.release(true);
      await own.end();
    }
    expect(await replayedEvents()).to.deep.equal([]);
    const seen = await run(key);
    expect(seen.at(-1)).to.include({ status: 'completed', pages: 1, eventsReplayed: 3 });
    expect(await replayedEvents()).to.deep.equal(ids);
  });

  it('of failed events lose none, although each page makes its events pending', async () => {
    const ids = await storeEvents(...many(8, { status: 'failed' }));
    await run(await startReplay({ status: 'failed' }));
    expect(await replayedEvents()).to.deep.equal(ids);
  });

  it('judge an event when its page is reached: what has changed meanwhile counts as it is then', async () => {
    const [a = '', b = '', c = '', d = '', e = ''] = await storeEvents(
      { status: 'failed' },
      { status: 'pending' },
      { status: 'failed' },
      { status: 'failed' },
      { status: 'pending' },
    );
    const key = await startReplay({ status: 'failed' }, 1);
    await makePage(pool, key, 1);
    const become = (id: string, status: string) =>
      pool.query('update events set status = $2 where id = $1', [id, status]);
    // Behind the replay already: it failed again, or failed only now.
    await become(a, 'failed');
    await become(b, 'failed');
    // Before it.
    await become(c, 'delivered');
    await become(e, 'failed');
    const end = (await run(key, 1)).at(-1);
    expect(await replayedEvents()).to.deep.equal([a, b, d, e]);
    expect(end).to.include({ eventsTotal: 3, eventsReplayed: 4 });
  });

  it('leave out events stored after the request, whatever their ids say', async () => {
    const ids = await storeEvents(...many(2));
    const key = await startReplay();
    await storeEvents({ receivedAgo: 60_000 }, { receivedAgo: 1000 }, { receivedAgo: 0 });
    await run(key);
    expect(await replayedEvents()).to.deep.equal(ids);
  });

  it('count what has no payload any more, or goes nowhere, and go on', async () => {
    const events = await storeEvents({}, { body: null }, {}, { body: null }, {});
    const selection = await selectEvents(pool, organizationId, {});
    expect([await countMatching(pool, selection), await countExpired(pool, selection)]).to.deep.equal([5, 2]);
    const key = await startReplay({}, 2);
    await makePage(pool, key, 1);
    await pool.query('delete from routes where id = $1', [routeId]);
    const end = (await run(key, 1)).at(-1);
    expect(end).to.include({ eventsReplayed: 1, eventsExpired: 2, eventsUnroutable: 2, status: 'completed' });
    expect(await replayedEvents()).to.deep.equal([events[0]]);
  });

  it('go to the destinations that were asked for', async () => {
    await storeEvents(...many(2));
    const [asked] = await run(await startReplay({}, 5, [destinationId]));
    expect(asked).to.include({ eventsReplayed: 2, eventsUnroutable: 0 });
    const [other] = await run(await startReplay({}, 5, [newId('dst')]));
    expect(other).to.include({ eventsReplayed: 0, eventsUnroutable: 2, status: 'completed' });
  });

  it('find nothing more once the source is deleted', async () => {
    await storeEvents(...many(4));
    const key = await startReplay();
    await makePage(pool, key, 1);
    await pool.query('delete from sources where id = $1', [sourceId]);
    expect((await run(key, 1)).at(-1)).to.include({ status: 'completed', eventsReplayed: 3, eventsUnroutable: 0 });
  });

  it('look for their events in steps, and say how far they are', async () => {
    const ids = await storeEvents(...many(2500), { status: 'failed' });
    const key = await startReplay({ status: 'failed' });
    const steps = [];
    for (let step = 0; step < 3; step += 1) steps.push((await makePage(pool, key, 1)).progress);
    expect(steps.map(({ status, pages, eventsReplayed }) => [status, pages, eventsReplayed])).to.deep.equal([
      ['running', 0, 0],
      ['running', 0, 0],
      ['completed', 1, 1],
    ]);
    const times = steps.map(({ replayedUntil }) => String(replayedUntil));
    expect(times).to.deep.equal(times.toSorted());
    expect(await replayedEvents()).to.deep.equal([ids.at(-1)]);
  });

  it('search no more than some MiB of payloads in a step', async () => {
    const ids = await storeEvents(...many(5, { payloadSize: 10 * MIB, body: '{"sku":"A-1"}' }));
    const key = await startReplay({ payloadPattern: '%a-1%' }, 5);
    // The first two reach the limit; the sizes are what the events say.
    const seen = (await run(key)).map(({ eventsReplayed }) => eventsReplayed);
    expect(seen).to.deep.equal([2, 4, 5]);
    expect(await replayedEvents()).to.deep.equal(ids);
  });

  it('take no more than some MiB of payloads, and at least one event', async () => {
    await storeEvents(...many(2, { payloadSize: 40 * MIB }), ...many(3, { payloadSize: 15 * MIB }));
    const seen = (await run(await startReplay({}, 5))).map(({ eventsReplayed }) => eventsReplayed);
    expect(seen).to.deep.equal([1, 2, 4, 5]);
  });

  it('are none after a cancel, which waits for the one under way', async () => {
    const ids = await storeEvents(...many(6));
    const key = await startReplay();
    const blocker = await pool.connect();
    try {
      await blocker.query('begin');
      await blocker.query('select from events where id = $1 for update', [ids[0]]);
      const page = makePage(pool, key, 1);
      await until('the page to wait for an event', () => waitingBackend());
      const cancelling = endEventReplay(pool, key, 'cancelled');
      await until('the cancel to wait for the page', async () => (await waitingBackends()).length === 2);
      await blocker.query('commit');
      expect((await page).progress).to.include({ status: 'running', eventsReplayed: 3 });
      expect(await cancelling).to.equal(true);
    } finally {
      blocker.release(true);
    }
    const { progress, deliveries } = await makePage(pool, key, 2);
    expect(progress).to.include({ status: 'cancelled', eventsReplayed: 3, pages: 1 });
    expect(deliveries).to.deep.equal([]);
    expect(await endEventReplay(pool, key, 'cancelled'), 'it has ended').to.equal(false);
    expect(await replayedEvents()).to.deep.equal(ids.slice(0, 3));
  });

  it('of another organization are not made', async () => {
    await storeEvents({});
    const { replayId } = await startReplay();
    const stranger = { organizationId: newId('org'), replayId };
    expect((await makePage(pool, stranger, 1)).deliveries).to.deep.equal([]);
    expect(await endEventReplay(pool, stranger, 'cancelled')).to.equal(false);
    expect(await replayedEvents()).to.deep.equal([]);
  });

  it('are as many replays at a time as an organization may have, however many ask at once', async () => {
    const asked = await Promise.allSettled(Array.from({ length: MAX_OPEN_REPLAYS + 3 }, () => startReplay()));
    const refused = asked.filter((answer) => answer.status === 'rejected');
    expect(refused).to.have.length(3);
    for (const { reason } of refused) expect(reason).to.be.instanceOf(TooManyReplaysError);
    const [made] = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    if (!made) throw new Error('none was made');
    await endEventReplay(pool, made, 'cancelled');
    await startReplay();
  });

  it('count as too many to count when a statement may not take that long', async () => {
    await storeEvents(...many(50, { body: `{"text":"${'abc '.repeat(20_000)}"}` }));
    const hasty = createPool(databaseUrl, { ...oneConnection, statementTimeoutMs: 1 });
    try {
      const selection = await selectEvents(pool, organizationId, { payloadPattern: '%x%y%z%' });
      const error: unknown = await countMatching(hasty, selection).catch((failure: unknown) => failure);
      expect(error).to.be.instanceOf(FilterTooBroadError);
    } finally {
      await hasty.end();
    }
  });

  describe('claims', () => {
    // What earlier tests left open is not looked after here.
    beforeEach(() => pool.query('update event_replays set due_at = null'));

    const letLapse = ({ replayId }: EventReplayKey) =>
      pool.query('update event_replays set due_at = now() where id = $1', [replayId]);

    it('find a new replay once, and again when nothing has come of it', async () => {
      const key = await startReplay();
      const claims = await Promise.all(Array.from({ length: 4 }, () => claimEventReplays(pool, 5)));
      expect(claims.flat().map(({ replayId }) => replayId)).to.deep.equal([key.replayId]);
      await letLapse(key);
      expect(await claimEventReplays(pool, 5)).to.have.length(1);
    });

    it('leave alone a replay that makes pages, one whose page is being made, and one that has ended', async () => {
      await storeEvents(...many(4));
      const key = await startReplay();
      await letLapse(key);
      await makePage(pool, key, 1);
      expect(await claimEventReplays(pool, 5)).to.deep.equal([]);
      await letLapse(key);
      const holder = await pool.connect();
      try {
        await holder.query('begin');
        await holder.query('select from event_replays where id = $1 for update', [key.replayId]);
        expect(await claimEventReplays(pool, 5)).to.deep.equal([]);
      } finally {
        holder.release(true);
      }
      await run(key, 1);
      expect(await claimEventReplays(pool, 5)).to.deep.equal([]);
    });
  });

  it('of replays that ended long ago are forgotten, others kept', async () => {
    const [old, recent, open] = [await startReplay(), await startReplay(), await startReplay()];
    await run(old);
    await run(recent);
    await pool.query(`update event_replays set finished_at = now() - interval '91 days' where id = $1`, [old.replayId]);
    const left = async () => {
      const { rows } = await pool.query<{ id: string }>(
        'select id from event_replays where organization_id = $1 order by id',
        [organizationId],
      );
      return rows.map(({ id }) => id);
    };
    await forgetEventReplays(pool, 0);
    expect(await left()).to.have.length(3);
    await forgetEventReplays(pool, 90);
    expect(await left()).to.deep.equal([recent.replayId, open.replayId]);
  });

  it('begin where the time range begins', async () => {
    const times = [5000, 3000, 1000].map((ago) => Date.now() - ago);
    for (const at of times) await storeEvents({ receivedAgo: Date.now() - at });
    const [, middle = 0] = times;
    const { lowId, endId } = await selectEvents(pool, organizationId, { from: new Date(middle), to: new Date(middle) });
    expect(lowId).to.equal(idFloor('evt', middle));
    expect(endId > lowId).to.equal(true);
    await run(await startReplay({ from: new Date(middle), to: new Date(middle) }));
    expect(await replayedEvents()).to.have.length(1);
  });

  const oneConnection = { max: 1, statementTimeoutMs: 20_000, onError: () => {} };

  /** Backends of this database that wait for a lock. */
  async function waitingBackends(): Promise<number[]> {
    const { rows } = await pool.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.map(({ pid }) => pid);
  }

  async function waitingBackend(): Promise<number | undefined> {
    return (await waitingBackends())[0];
  }
});
