import { expect } from 'chai';
import { inTransaction } from '../../db/connections/pool.ts';
import { toStatement } from '../../db/connections/statements.ts';
import { newestOfEvent, deliverySelection } from '../../db/history/deliveries.ts';
import { READ_IN_ORDER } from '../../db/sql/rules.ts';
import type { Json } from '../support/api-client.ts';
import { deliveryOf, forgetQueued, ingest, makePipeline, recordAttempt } from '../support/api-records.ts';
import { copyDelivery } from '../support/workflows/many-deliveries.ts';
import { rowsRead } from '../support/database/rows-read.ts';
import { testPool } from '../support/service.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const COPIES = 3000;
const SHOWN = 1000;

interface InFull {
  deliveries: { id: string }[];
  deliveriesNextCursor: string | null;
}
interface Timeline {
  deliveries: { deliveryId: string; attempts: Json[] }[];
  deliveriesNextCursor: string | null;
}

describe('An event with thousands of deliveries', () => {
  const organization = useOrganization();
  let eventId: string;
  let event: string;
  /** Oldest first. */
  let ids: string[];
  before(async () => {
    eventId = await ingest(organization, (await makePipeline(organization)).source, '{}');
    event = `${organization.base}/events/${eventId}`;
    const first = await deliveryOf(organization, eventId);
    await recordAttempt({ eventId, deliveryId: first.id });
    ids = [first.id, ...(await copyDelivery(testPool(), first.id, COPIES))];
  });
  afterEach(() => forgetQueued(organization));

  async function rest(cursor: string | null): Promise<string[]> {
    const found: string[] = [];
    for (let next = cursor; next !== null; ) {
      const page = await organization.api.get<{ data: { id: string }[]; pagination: { nextCursor: string | null } }>(
        `/api/deliveries?eventId=${eventId}&cursor=${next}&pageSize=100`,
      );
      found.push(...page.data.map(({ id }) => id));
      next = page.pagination.nextCursor;
    }
    return found.toReversed();
  }

  it('is shown with the newest thousand, oldest first, and the cursor of the others', async () => {
    const shown = await organization.api.get<InFull>(`${event}?includeDeliveries=true`);
    const newest = shown.deliveries.map(({ id }) => id);
    expect(newest).to.deep.equal(ids.slice(-SHOWN));
    expect([...(await rest(shown.deliveriesNextCursor)), ...newest]).to.deep.equal(ids);
  });

  it('has a timeline of as many, with the attempts of each and without what they answered', async () => {
    const answer = await organization.api.get<Timeline>(`${event}/timeline`);
    const { deliveries, deliveriesNextCursor } = answer;
    expect(deliveries.map(({ deliveryId }) => deliveryId)).to.deep.equal(ids.slice(-SHOWN));
    expect(deliveries.every(({ attempts }) => attempts.length === 2)).to.equal(true);
    expect(deliveries[0]?.attempts.map(({ attemptNumber }) => attemptNumber)).to.deep.equal([1, 2]);
    expect(JSON.stringify(answer).length).to.be.below(1000 * SHOWN);
    expect(await rest(deliveriesNextCursor)).to.have.length(ids.length - SHOWN);
  });

  it('is listed page by page, with its total and by status', async () => {
    const list = `/api/deliveries?eventId=${eventId}`;
    const page = await organization.api.list<{ id: string }>(`${list}&page=31&pageSize=100`);
    expect(page.pagination.total).to.equal(ids.length);
    expect(page.data.map(({ id }) => id)).to.deep.equal(ids.slice(0, 1));
    expect((await organization.api.list(`${list}&status=delivered`)).data.map(({ id }) => id)).to.deep.equal([ids[0]]);
  });

  for (const [what, after, limit] of [
    ['newest', undefined, SHOWN + 1],
    ['next', 2000, 21],
  ] as const) {
    it(`reads no more of its deliveries than the ${what} ones it needs`, async () => {
      const selection = deliverySelection(organization.id, {});
      const before = after === undefined ? {} : { before: ids[after] ?? '' };
      const { text, values } = toStatement(newestOfEvent(eventId, { ...selection, ...before }, limit, 0));
      await inTransaction(testPool(), async (db) => {
        await db.query(`select ${READ_IN_ORDER}`);
        expect(await rowsRead(db, 'deliveries', text, values)).to.be.within(limit, limit + 1);
      });
    });
  }

  it('is deleted with all of them', async () => {
    expect((await organization.api.request('DELETE', event)).status).to.equal(204);
    for (const [table, column] of [
      ['deliveries', 'id'],
      ['attempts', 'delivery_id'],
    ]) {
      const { rowCount } = await testPool().query(`select from ${table} where ${column} = any($1)`, [ids]);
      expect(rowCount).to.equal(0);
    }
  });
});
