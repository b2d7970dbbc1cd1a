// The audit log asked for one record: found by an index, also behind the policy that binds a tenant to its
// organization.
import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { listAuditRecords } from '../../db/organizations/audit.ts';
import { createPool, inTransaction, type Pool, type Queryable } from '../../db/connections/pool.ts';
import { actingFor } from '../../db/connections/by-organization.ts';
import { TENANT_ROLE } from '../../local/postgres/roles.ts';
import { asServices } from '../support/stack.ts';
import { useDatabase } from '../support/use-hookyard.ts';

const OTHERS = 20_000;
const ABOUT_IT = 3;
const PAGE = { limit: 50, offset: 0 };
const options = { max: 1, statementTimeoutMs: 20_000, onError: () => {} };

describe('The audit log of one record', () => {
  const { database } = useDatabase('audit_by_record');
  let pools: Record<'services' | 'tenants', Pool>;
  const [mine, theirs] = [newId('org'), newId('org')];
  const record = newId('src');

  before(async () => {
    const url = asServices(database.databaseUrl);
    pools = { services: createPool(url, options), tenants: createPool(url, { ...options, tenantRole: TENANT_ROLE }) };
    const insert = `
      insert into audit_records (id, organization_id, at, actor, action, resource, record_ids, record_count, outcome)
      select $1 || n, $2, now() - make_interval(secs => n), 'key', 'updateSource', 'sources', $3, cardinality($3::text[]), 'done'
      from generate_series(1, $4::int) n`;
    await database.pool.query(insert, ['aud_other_', mine, [newId('src')], OTHERS]);
    // One of several, as those that are read together.
    await database.pool.query(insert, ['aud_', mine, [newId('src'), record], ABOUT_IT]);
    // Another organization can name any id.
    await database.pool.query(insert, ['aud_theirs_', theirs, [record], ABOUT_IT]);
    await database.pool.query('analyze audit_records');
  });
  after(async () => {
    await Promise.all(Object.values(pools).map((pool) => pool.end()));
  });

  /** How many rows of the table a transaction has read. */
  async function rowsRead(db: Queryable): Promise<number> {
    const { rows } = await db.query<{ read: number }>(
      `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 as read
       from pg_stat_xact_user_tables where relname = 'audit_records'`,
    );
    return rows[0]?.read ?? Number.NaN;
  }

  for (const name of ['services', 'tenants'] as const) {
    it(`is found among many by an index, by the connections of ${name}`, () =>
      actingFor(mine, () =>
        inTransaction(pools[name], async (db) => {
          const { records, total } = await listAuditRecords(db, mine, { recordId: record }, PAGE);
          expect(records.map(({ id }) => id)).to.deep.equal(['aud_1', 'aud_2', 'aud_3']);
          expect(total).to.equal(ABOUT_IT);
          expect(await rowsRead(db)).to.be.lessThan(100);
          const none = await listAuditRecords(db, mine, { recordId: record, action: 'deleteSource' }, PAGE);
          expect(none).to.deep.include({ records: [], total: 0 });
        }),
      ));
  }

  it('is that of the own organization, whatever a statement asks for', () =>
    actingFor(mine, async () => {
      const db = pools.tenants;
      const foreign = await listAuditRecords(db, theirs, { recordId: record }, PAGE);
      expect(foreign).to.deep.include({ records: [], total: 0 });
      const { rows } = await db.query<{ id: string }>('select audit_records_about($1) as id order by 1', [record]);
      expect(rows.map(({ id }) => id)).to.deep.equal(['aud_1', 'aud_2', 'aud_3']);
    }));

  it('is not for roles without the right to the function', async () => {
    const refused = await pools.services.query('select audit_records_about($1)', [record]).catch((error) => error);
    expect(refused).to.have.property('code', '42501');
  });
});
