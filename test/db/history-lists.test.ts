// The lists against a plain recount: totals and pages must be what the rows say, in every snapshot, while everything
// that changes rows continues.
import { expect } from 'chai';
import { openError, ownWords } from '../../core/text/error-summary.ts';
import { cancelDeliveries, endDeliveries } from '../../db/delivery/delivery-commands.ts';
import { deleteEvent, deleteSource } from '../../db/delivery/deletions.ts';
import { eventSelection, listEvents } from '../../db/history/events.ts';
import { type DeliveryFilter, deliverySelection } from '../../db/history/deliveries.ts';
import { SearchTooBroadError, searchPage } from '../../db/history/search.ts';
import { DAY_MS, dropPartitionsBefore } from '../../db/sql/partitions.ts';
import { inSnapshot } from '../../db/connections/pool.ts';
import { createReplays } from '../../db/replay/replay.ts';
import {
  type HistoryOwner,
  makeOwner,
  recordOutcome,
  type StoredEvent,
  storeEvent,
} from '../support/database/history.ts';
import { maintainOnce } from '../support/database/housekeeping.ts';
import { agrees, agreesByCursor, selections } from '../support/database/recount.ts';
import { useHistoryDatabase, useMade } from '../support/use-hookyard.ts';
import { selectRows } from '../support/database/sql.ts';

const HOUR = 3_600_000;
const DAYS = 3;
const REASON = openError(ownWords`a test`);
const ANSWERED = openError(ownWords`The receiver answered 500`);
// Hours in which nothing happens.
const GAP = { from: 30 * HOUR, length: 3 * HOUR };
const PAGES = [
  { limit: 20, offset: 0 },
  { limit: 7, offset: 7 },
  { limit: 50, offset: 100 },
  { limit: 20, offset: 100_000 },
];

describe('Lists of history', () => {
  const { pool } = useHistoryDatabase(DAYS);
  const owner = useMade('an owner', () => makeOwner(pool, 3, 2));
  const other = useMade('another owner', () => makeOwner(pool, 1, 1));
  const events: { event: StoredEvent; owner: HistoryOwner; route: HistoryOwner['routes'][number] }[] = [];

  it('agree with the rows while these are made and changed', async () => {
    let checks = 0;
    let running = true;
    const loading = mixedLoad().finally(() => {
      running = false;
    });
    const checking = async () => {
      while (running) {
        await inSnapshot(pool, (db) => agrees(db, any(selections(owner)), any(PAGES)));
        checks += 1;
      }
    };
    await Promise.all([loading, checking()]);
    expect(checks).to.be.above(10);
    await agreesInAll();
  });

  it('agree after changes of old rows', async () => {
    for (const entry of events.filter((_, n) => n % 5 === 0)) await changeOne(entry, 1);
    await agreesInAll();
  });

  it('search payloads exactly, or say how far they came', async () => {
    const selection = eventSelection(owner.organizationId, { payloadPattern: '%kind 1%' });
    const rows = await selectRows<{ id: string }>(pool)`
      select e.id from events e join sources s on s.id = e.source_id join event_payloads p on p.event_id = e.id
      where e.organization_id = ${owner.organizationId} and convert_from(p.body, 'UTF8') like '%Kind 1%'
      order by e.id desc`;
    expect(rows.length).to.be.above(20);
    const expected = rows.map(({ id }) => id);
    for (const page of PAGES) {
      const found = await inSnapshot(pool, (db) => searchPage(db, selection, page));
      expect(found.total).to.equal(expected.length);
      expect(found.ids).to.deep.equal(expected.slice(page.offset, page.offset + page.limit));
    }
    const tooLong = await inSnapshot(pool, (db) => searchPage(db, selection, { limit: 500, offset: 0 }, -1)).catch(
      (error: unknown) => error,
    );
    expect(tooLong).to.be.instanceOf(SearchTooBroadError);
    const { searchedFrom, found } = tooLong as SearchTooBroadError;
    // What the message says to ask for is answered, and is what was found.
    const narrowed = { ...selection, from: searchedFrom };
    const answer = await inSnapshot(pool, (db) => searchPage(db, narrowed, { limit: 500, offset: 0 }));
    expect(answer.total).to.equal(found);
  });

  it('continue after a cursor, whatever is stored meanwhile', async () => {
    for (const [n, selection] of selections(owner).entries()) {
      await inSnapshot(pool, (db) => agreesByCursor(db, selection, { limit: [3, 17, 100][n % 3] ?? 3 }));
    }
    const { organizationId } = owner;
    const first = await listEvents(pool, organizationId, {}, { limit: 5, after: null, withTotal: false });
    const before = await listEvents(pool, organizationId, {}, { limit: 10, offset: 0 });
    await storeEvent(pool, owner, any(owner.routes), { receivedAt: new Date(), statuses: ['pending'] });
    const second = await listEvents(pool, organizationId, {}, { limit: 5, after: first.next, withTotal: false });
    expect([...first.events, ...second.events].map(({ id }) => id)).to.deep.equal(before.events.map(({ id }) => id));
    expect(first.total).to.equal(null);
  });

  it('find deliveries by what their latest attempt was answered', async () => {
    const [route] = owner.routes;
    const filters: [DeliveryFilter, plain: string][] = [
      [{ statusCode: 500 }, 'r.status_code = 500'],
      [{ codeClass: '5xx' }, 'r.status_code >= 500 and r.status_code < 600'],
      [{ codeClass: '2xx', sourceId: route?.sourceId }, 'r.status_code / 100 = 2'],
      [{ codeClass: 'none' }, 'r.status_code is null and r.attempt_count > 0'],
      [{ errorPattern: '%ANSWERED%' }, `lower(r.error) like '%answered%'`],
      [{ errorPattern: '%a test%', status: ['delivered', 'cancelled'] }, `r.error like '%a test%'`],
      [{ errorPattern: '%a test%', status: ['delivered'] }, `r.error like '%a test%'`],
      [{ lane: 'express' }, `r.lane = 'express'`],
    ];
    for (const [filter, plain] of filters) {
      const selection = deliverySelection(owner.organizationId, filter);
      const where = { ...selection.where, status: filter.status };
      for (const forMs of [1000, -1]) {
        await inSnapshot(pool, (db) => agreesByCursor(db, selection, { limit: 7, forMs, plain, where }));
      }
    }
    const failed = deliverySelection(owner.organizationId, { codeClass: '5xx' });
    const { total } = await inSnapshot(pool, (db) => searchPage(db, failed, { limit: 20, offset: 0 }));
    expect(total).to.be.above(10);
  });

  it('find events by where they were delivered, replays and failovers included', async () => {
    for (const whose of [owner, other]) {
      const [route] = whose.routes;
      const range = { from: new Date(Date.now() - 61 * HOUR), to: new Date(Date.now() - 2 * HOUR - 777) };
      const filters = [
        { routeId: route?.id },
        { destinationId: route?.destinationIds[0] },
        { destinationId: route?.failoverId },
        { routeId: route?.id, destinationId: route?.destinationIds.at(-1) },
        { routeId: 'rte_unknown' },
        { routeId: route?.id, status: ['failed', 'partial'] },
        { destinationId: route?.destinationIds[0], ...range },
        { destinationId: route?.failoverId, ...range },
        { routeId: route?.id, sourceId: 'src_unknown' },
      ];
      for (const filter of filters) {
        const selection = eventSelection(whose.organizationId, filter);
        await inSnapshot(pool, (db) => agreesByCursor(db, selection, { limit: 9 }));
        await inSnapshot(pool, (db) => agreesByCursor(db, selection, { limit: 9, forMs: -1 }));
      }
      const both = eventSelection(whose.organizationId, { routeId: route?.id, payloadPattern: '%kind 1%' });
      const plain = `exists (select from event_payloads p where p.event_id = r.id and convert_from(p.body, 'UTF8') like '%Kind 1%')`;
      await inSnapshot(pool, (db) => agreesByCursor(db, both, { limit: 9, plain }));
    }
  });

  it('agree after a source is deleted, while its rows go, and after they are gone', async () => {
    const [, , doomed] = owner.routes;
    await deleteSource(pool, owner.organizationId, doomed?.sourceId ?? '');
    await agreesInAll();
    while (await maintainOnce(pool));
    await agreesInAll();
  });

  it('agree after the retention dropped a day', async () => {
    const today = Math.floor(Date.now() / DAY_MS);
    await dropPartitionsBefore(pool, 'deliveries', today - DAYS + 1);
    await dropPartitionsBefore(pool, 'events', today - DAYS + 1);
    await agreesInAll();
  });

  /** Events of three days and of now, with all that happens to deliveries; several things at once. */
  async function mixedLoad(): Promise<void> {
    const workers = Array.from({ length: 3 }, async (_, worker) => {
      for (let n = 0; n < 120; n += 1) {
        const whose = n % 10 === 9 ? other : owner;
        const route = any(whose.routes);
        const spread = Math.random() * DAYS * 24 * HOUR * 0.85;
        const age = n % 4 === 0 ? 0 : spread > GAP.from ? spread + GAP.length : spread;
        const statuses = (
          ['pending', n % 7 === 0 ? 'schema_failed' : 'pending', n % 11 === 0 ? 'skipped' : 'pending'] as const
        ).slice(0, n % 6 === 5 ? 0 : 1 + (n % 3));
        const event = await storeEvent(pool, whose, route, {
          receivedAt: new Date(Date.now() - age),
          statuses,
          body: `{"name":"Kind ${n % 3}"}`,
        });
        const entry = { event, owner: whose, route };
        await changeOne(entry, worker + n);
        // What was deleted is changed no further.
        if ((worker + n) % 9 !== 5) events.push(entry);
      }
    });
    await Promise.all(workers);
  }

  async function changeOne({ event, owner: whose, route }: (typeof events)[number], n: number): Promise<void> {
    const [first, second] = event.deliveries;
    const { organizationId } = whose;
    if (!first) return changeUnrouted(event.id, organizationId, n);
    switch (n % 9) {
      case 0:
        return;
      case 1:
        await recordOutcome(pool, event, first, { status: 'failed', error: ANSWERED });
        await createReplays(pool, { organizationId, eventIds: [event.id] });
        return;
      case 2:
        await cancelDeliveries(pool, { organizationId, eventId: event.id, reason: REASON });
        return;
      case 3:
        await recordOutcome(pool, event, first, { status: 'retrying' });
        await recordOutcome(pool, event, first, { status: 'failed', attempt: 2, failoverId: route.failoverId });
        return;
      case 4:
        await endDeliveries(pool, 'failed', { organizationId, deliveryIds: [first.id], reason: REASON });
        return;
      case 5:
        await deleteEvent(pool, organizationId, event.id);
        return;
      default:
        await recordOutcome(pool, event, first, { status: 'delivered', statusCode: 201 });
        if (second && n % 4 === 0) await recordOutcome(pool, event, second, { status: 'retrying', statusCode: null });
        else if (second) await recordOutcome(pool, event, second, { status: n % 2 === 0 ? 'failed' : 'delivered' });
    }
  }

  /** An event that no route took is left alone, deleted, or replayed to where its source goes by now. */
  async function changeUnrouted(eventId: string, organizationId: string, n: number): Promise<void> {
    if (n % 9 === 5) await deleteEvent(pool, organizationId, eventId);
    else if (n % 2 === 0) await createReplays(pool, { organizationId, eventIds: [eventId] });
  }

  async function agreesInAll(): Promise<void> {
    await inSnapshot(pool, async (db) => {
      for (const [n, selection] of [...selections(owner), ...selections(other).slice(0, 20)].entries()) {
        await agrees(db, selection, PAGES[n % PAGES.length] ?? { limit: 20, offset: 0 });
      }
    });
  }
});

function any<T>(items: T[]): T {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error('there is none');
  return item;
}
