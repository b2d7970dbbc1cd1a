import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import type { Issue } from '../../core/messages/issues.ts';
import { heldDeliveries } from '../../db/issues/held.ts';
import { type HistoryOwner, makeOwner } from '../support/database/history.ts';
import { useHistoryDatabase } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

const MINUTE_MS = 60_000;

describe('failed deliveries that an issue holds', () => {
  const { database } = useHistoryDatabase(1);
  let owner: HistoryOwner;
  let issue: Issue;
  before(async () => {
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

  afterEach(() => database.pool.query('delete from deliveries where organization_id = $1', [owner.organizationId]));

  /**
   * Failed deliveries, made so many minutes ago, all in the same millisecond.
   * @param held whether they have not been replayed
   * @param end how they ended
   */
  async function failed(
    count: number,
    minutesAgo: number,
    held: boolean,
    { status = 'failed', attempts = 1, statusCode = 500 as number | null } = {},
  ): Promise<string[]> {
    const [route] = owner.routes;
    const at = Date.now() - minutesAgo * MINUTE_MS;
    const ids = Array.from({ length: count }, () => newId('dlv', at));
    await execute(database.pool)`
      insert into deliveries (id, organization_id, event_id, source_id, route_id, destination_id, priority, status,
                              counted, attempt_count, status_code, finished_at)
      select id, ${owner.organizationId}, 'evt', ${route?.sourceId}, ${route?.id}, ${route?.destinationIds[0]}, 0,
             ${status}, ${held}, ${attempts}, ${statusCode}, now()
      from unnest(${ids}::text[]) id`;
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

  it('are those of its kind and cause', async () => {
    const [answered] = await failed(1, 9, true);
    const [other] = await failed(1, 8, true, { statusCode: 502 });
    const [silent] = await failed(1, 7, true, { statusCode: null });
    const [transform] = await failed(1, 6, true, { attempts: 0, statusCode: null });
    const [schema] = await failed(1, 5, true, { status: 'schema_failed', attempts: 0, statusCode: null });
    const held = async (kind: Issue['kind'], cause: string) =>
      (await heldDeliveries(database.pool, { ...issue, kind, cause }, 10, null)).ids;
    expect(await held('delivery_failing', 'HTTP_500')).to.deep.equal([answered]);
    expect(await held('delivery_failing', 'HTTP_502')).to.deep.equal([other]);
    for (const cause of ['TIMEOUT', 'CONNECTION_FAILED', 'NO_RESPONSE'])
      expect(await held('delivery_failing', cause), cause).to.deep.equal([silent]);
    expect(await held('delivery_failing', 'OTHER')).to.deep.equal([silent, other, answered]);
    expect(await held('transform_failing', 'EXCEPTION')).to.deep.equal([transform]);
    expect(await held('schema_refusing', 'SCHEMA_MISMATCH')).to.deep.equal([schema]);
    for (const kind of ['circuit_open', 'warehouse_not_writable'] as const)
      expect(await held(kind, 'TIMEOUT'), kind).to.deep.equal([transform, silent, other, answered]);
    for (const kind of ['signature_failing', 'quota_reached', 'ingest_refused', 'notification_failing'] as const)
      expect(await held(kind, 'TIMEOUT'), kind).to.deep.equal([]);
  });
});
