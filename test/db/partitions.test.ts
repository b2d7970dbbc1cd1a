import { expect } from 'chai';
import { idFloor } from '../../core/text/ids.ts';
import {
  DAY_MS,
  daysBefore,
  dropPartitionsBefore,
  ensurePartitions,
  type PartitionedTable,
} from '../../db/sql/partitions.ts';
import { useHistoryDatabase } from '../support/use-hookyard.ts';
import { inOpenTransaction } from '../support/database/row-lock.ts';
import { execute, selectRows } from '../support/database/sql.ts';

const TABLES: PartitionedTable[] = ['events', 'event_payloads', 'deliveries', 'attempts'];

describe('partitions', () => {
  const { pool } = useHistoryDatabase(0);

  it('are made once, no matter who makes them at the same time, while somebody reads and somebody writes', async () => {
    const later = Date.now() + 20 * DAY_MS;
    await inOpenTransaction(pool, async (reader) => {
      for (const table of TABLES) await reader.query(`select count(*) from ${table}`);
      await inOpenTransaction(pool, async (writer) => {
        await execute(writer)`insert into event_payloads (event_id, is_text, body)
          values (${idFloor('evt', Date.now())}, true, '')`;
        await Promise.all([1, 2, 3].map(() => ensurePartitions(pool, later)));
      });
    });
    for (const table of TABLES) {
      const days = await daysBefore(pool, table, Number.POSITIVE_INFINITY);
      const today = Math.floor(later / DAY_MS);
      expect(days.slice(-5), table).to.deep.equal([today - 1, today, today + 1, today + 2, today + 3]);
    }
  });

  it('have the indexes, triggers and storage of their table', async () => {
    const invalid = await selectRows(pool)`
      select indexrelid::regclass::text as name from pg_index where not indisvalid`;
    expect(invalid).to.deep.equal([]);
    const rows = await selectRows<{ table: string; indexes: number; triggers: number; storage: string | null }>(pool)`
      select distinct i.inhparent::regclass::text as table, c.reloptions::text as storage,
             (select count(*) from pg_index x join pg_inherits xi on xi.inhrelid = x.indexrelid
             where x.indrelid = c.oid)
               - (select count(*) from pg_index x where x.indrelid = i.inhparent) as indexes,
             (select count(*) from pg_trigger t where t.tgrelid = c.oid and t.tgparentid <> 0)
               - (select count(*) from pg_trigger t where t.tgrelid = i.inhparent) as triggers
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = any(${TABLES}::regclass[]) order by 1`;
    const like = (table: string, storage: string | null) => ({ table, storage, indexes: 0, triggers: 0 });
    expect(rows).to.deep.equal([
      like('attempts', null),
      like('deliveries', '{fillfactor=70}'),
      like('event_payloads', null),
      like('events', '{fillfactor=85}'),
    ]);
  });

  it('are dropped oldest first, up to the one that is in use, and it is said by whom', async () => {
    for (const ago of [50, 45, 40]) await ensurePartitions(pool, Date.now() - ago * DAY_MS);
    const today = Math.floor(Date.now() / DAY_MS);
    const first = (await daysBefore(pool, 'attempts', today))[0] ?? 0;
    const gone = await dropPartitionsBefore(pool, 'attempts', first + 1);
    expect(gone.dropped).to.have.length(1);
    await inOpenTransaction(pool, async (reader) => {
      await reader.query('select count(*) from attempts');
      const { rows } = await reader.query<{ pid: number }>('select pg_backend_pid() as pid');
      const { dropped, inUse } = await dropPartitionsBefore(pool, 'attempts', today - 30);
      expect(dropped).to.deep.equal([]);
      expect(inUse?.by?.pid).to.equal(rows[0]?.pid);
    });
    const { inUse } = await dropPartitionsBefore(pool, 'attempts', today - 30);
    expect(inUse).to.equal(null);
    expect(await daysBefore(pool, 'attempts', today - 30)).to.deep.equal([]);
  });
});
