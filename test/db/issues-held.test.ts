// The failed deliveries that an issue holds: all of them are found, whatever their number, in looks of bounded work.
import { expect } from 'chai';
import { newId } from '../../core/ids.ts';
import type { Issue } from '../../core/issues.ts';
import { heldDeliveries } from '../../db/issues/held.ts';
import { type HistoryDatabase, type HistoryOwner, historyDatabase, makeOwner } from '../support/history.ts';

const MINUTE_MS = 60_000;

describe('failed deliveries that an issue holds', () => {
  let database: HistoryDatabase;
  let owner: HistoryOwner;
  let issue: Issue;
  before(async () => {
    database = await historyDatabase(1);
    owner = await makeOwner(database.pool, 1, 1);
    const [route] = owner.routes;
    const now = new Date();
    issue = {
      ...{ id: newId('iss'), organizationId: owner.organizationId, kind: 'delivery_failing', cause: 'HTTP_500' },
      ...{ sourceId: null, routeId: route?.id ?? '', destinationId: route?.destinationIds[0] ?? '' },
      ...{ state: 'open', count: 1, sampleEventId: null, sampleDeliveryId: null },
      ...{ firstSeenAt: new Date(now.getTime() - 60 * MINUTE_MS), lastSeenAt: now },
      ...{ openedAt: now, resolvedAt: null, changedAt: now },
    };
  });
  after(() => database?.close());

  /** Failed deliveries, made so many minutes ago, all in the same millisecond. @param held whether they have not been replayed */
  async function failed(count: number, minutesAgo: number, held: boolean): Promise<string[]> {
    const [route] = owner.routes;
    const at = Date.now() - minutesAgo * MINUTE_MS;
    const ids = Array.from({ length: count }, () => newId('dlv', at));
    await database.pool.query(
      `insert into deliveries (id, organization_id, event_id, source_id, route_id, destination_id, priority, status, counted,
                               attempt_count, status_code, finished_at)
       select id, $2, 'evt', $3, $4, $5, 0, 'failed', $6, 1, 500, now() from unnest($1::text[]) id`,
      [ids, owner.organizationId, route?.sourceId, route?.id, route?.destinationIds[0], held],
    );
    return ids;
  }

  /** The ids of every look, each of at most so many. */
  async function looks(most: number): Promise<string[][]> {
    const found: string[][] = [];
    let next: string | null = null;
    do {
      const look = await heldDeliveries(database.pool, issue, most, next);
      found.push(look.ids);
      ({ next } = look);
    } while (next !== null);
    return found;
  }

  it('are found behind any number that were replayed, and in steps', async () => {
    const oldest = await failed(3, 50, true);
    // More than one look goes through, many of them in one millisecond.
    for (let part = 0; part < 12; part += 1) await failed(1750, 40 - part, false);
    const newest = await failed(4, 5, true);
    const all = [...newest, ...oldest].toSorted().toReversed();
    const found = await looks(1000);
    expect(found.flat()).to.deep.equal(all);
    expect(found.length, 'bounded').to.be.above(1);
    const steps = await looks(2);
    expect(steps.flat()).to.deep.equal(all);
    for (const step of steps) expect(step.length).to.be.at.most(2);
  });
});
