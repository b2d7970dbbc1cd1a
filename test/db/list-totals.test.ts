import { expect } from 'chai';
import { deliverySelection } from '../../db/history/deliveries.ts';
import { findPart } from '../../db/history/search.ts';
import { MOST_COUNTED, PageTooDeepError, type Part } from '../../db/sql/list-parts.ts';
import { eventSelection } from '../../db/history/events.ts';
import { inSnapshot } from '../../db/connections/pool.ts';
import type { Selection } from '../../db/history/selection.ts';
import { fillHour, type Volume } from '../support/database/volume.ts';
import { useDatabase } from '../support/use-hookyard.ts';
import { execute, selectRows, selectValue } from '../support/database/sql.ts';

const ROWS = 126_000;
const RARE = 60;
const PAGE = { limit: 20, offset: 0 };

describe('totals of long lists', () => {
  const { database } = useDatabase('totals', { statementTimeoutMs: 60_000 });
  let volume: Volume;
  before(async () => {
    volume = await fillHour(database.pool, ROWS, 1, 60);
    // Spread among the others.
    await execute(database.pool)`update deliveries set status = 'failed', status_code = 503 where id = any(array(
      select id from (select id, row_number() over (order by id) as n from deliveries where id like '%0000001') seconds
      where n % (3600 / ${RARE}::int) = 1))`;
  });

  const find = (selection: Selection, part: Part = PAGE) =>
    inSnapshot(database.pool, (db) => findPart(db, selection, part, 1000));
  const deliveries = (filter: Parameters<typeof deliverySelection>[1] = {}) =>
    deliverySelection(volume.organizationId, filter);

  it('are exact as far as is counted, and else an estimate above that', async () => {
    expect(await find(eventSelection(volume.organizationId, {}))).to.include({ total: 3600, totalIsExact: true });
    for (const filter of [{}, { destinationId: volume.destinationId }]) {
      const { total, totalIsExact } = await find(deliveries(filter));
      expect(totalIsExact).to.equal(false);
      expect(total).to.be.within(MOST_COUNTED + 1, ROWS * 1.5);
    }
    const halfAnHour = { from: new Date(volume.from), to: new Date(volume.from + 1_800_000 - 1) };
    expect(await find(deliveries(halfAnHour))).to.include({ total: ROWS / 2, totalIsExact: true });
  });

  it('are estimated from the part that was read where no index tells what matches', async () => {
    const { total, totalIsExact, ids } = await find(deliveries({ statusCode: 503 }));
    expect(ids).to.have.length(20);
    expect(totalIsExact).to.equal(false);
    expect(total).to.be.closeTo(RARE, RARE / 3);
    const most = await find(deliveries({ sourceId: volume.sourceId }));
    expect(most.totalIsExact).to.equal(false);
    expect(most.total).to.be.closeTo(ROWS, ROWS / 3);
  });

  it('are exact of what failed, without reading what was delivered', async () => {
    for (const filter of [
      { status: ['failed'] },
      { status: ['failed', 'cancelled'] },
      { status: ['failed'], destinationId: volume.destinationId },
    ]) {
      const { found, read } = await inSnapshot(database.pool, async (db) => {
        // Of this session: also of its transactions before, as long as it has not reported them.
        const readSoFar = () => selectValue<number>(db)`select sum(idx_tup_fetch + seq_tup_read)::int as read
          from pg_stat_xact_all_tables where relname ~ '^deliveries_'`;
        const before = await readSoFar();
        const found = await findPart(db, deliveries(filter), PAGE, 1000);
        return { found, read: (await readSoFar()) - before };
      });
      expect(found).to.include({ total: RARE, totalIsExact: true });
      expect(read).to.be.below(RARE * 10);
    }
  });

  it('have pages up to where counting ends', async () => {
    const rows = await selectRows<{ id: string }>(database.pool)`select id from deliveries
      order by id desc limit 20 offset ${MOST_COUNTED - 20}`;
    const last = { limit: 20, offset: MOST_COUNTED - 20 };
    expect((await find(deliveries(), last)).ids).to.deep.equal(rows.map(({ id }) => id));
    expect((await find(deliveries({ sourceId: volume.sourceId }), last)).ids).to.deep.equal(rows.map(({ id }) => id));
    const beyond = { limit: 20, offset: MOST_COUNTED };
    for (const selection of [deliveries(), deliveries({ sourceId: volume.sourceId })]) {
      const failure = await find(selection, beyond).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(PageTooDeepError);
    }
    const short = await find(eventSelection(volume.organizationId, {}), beyond);
    expect(short).to.deep.include({ ids: [], total: 3600, totalIsExact: true });
  });
});
