// Whose the database is, by a sample of its rows and the counts of payloads.
import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { storedParts } from '../../db/organizations/usage.ts';
import { many, ReplayDatabase } from '../support/database/replay-database.ts';
import { useStarted } from '../support/use-hookyard.ts';

describe('the parts of organizations in what is stored', () => {
  const db = useStarted(ReplayDatabase.make);
  beforeEach(() => db.renew());

  const partOf = async (organizationId: string) => (await storedParts(db.pool, 30)).get(organizationId) ?? 0;

  it('have the rows of events, with what strangers have written into their headers', async () => {
    const first = db.organizationId;
    await db.storeEvents(...many(10));
    await db.renew();
    const second = db.organizationId;
    await db.storeEvents(...many(10));
    const equal = (await partOf(first)) / (await partOf(second));
    expect(equal).to.be.within(0.9, 1.1);
    const { rowCount } = await db.pool.query(
      `update events set headers = jsonb_build_object('x', (
         select string_agg(md5(n::text || id), '') from generate_series(1, 500) n)) where organization_id = $1`,
      [second],
    );
    expect(rowCount).to.equal(10);
    expect((await partOf(second)) / (await partOf(first)), 'ten times 16 KB').to.be.above(3);
  });

  it('have the answers of destinations, and payloads that are still kept', async () => {
    const first = db.organizationId;
    await db.storeEvents(...many(10));
    await db.renew();
    const second = db.organizationId;
    await db.storeEvents(...many(10));
    const before = await partOf(first);
    const deliveryId = newId('dlv');
    await db.pool.query(
      `insert into deliveries (id, organization_id, event_id, source_id, destination_id, priority, status, counted)
       values ($1, $2, 'evt_1', 'src_1', 'dst_1', 0, 'delivered', true)`,
      [deliveryId, first],
    );
    await db.pool.query(
      `insert into attempts (delivery_id, attempt_number, status, latency, started_at, completed_at, request_headers, response_body)
       select $1, n, 'failed', 1, now(), now(), '{}', (select string_agg(md5(n::text || m), '') from generate_series(1, 400) m)
       from generate_series(1, 20) n`,
      [deliveryId],
    );
    const after = await partOf(first);
    expect(after).to.be.above(before);
    const count = (column: 'bytes' | 'removed_bytes') =>
      db.pool.query(
        `insert into ledger_entries (organization_id, bucket, source_id, ${column}) values ($1, now(), 'src_1', 1000000000)`,
        [second],
      );
    await count('bytes');
    expect(await partOf(second)).to.be.above(0.99);
    await count('removed_bytes');
    expect(await partOf(second)).to.be.below(0.5);
  });
});
