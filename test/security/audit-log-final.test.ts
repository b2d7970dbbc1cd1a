import { expect } from 'chai';
import { forgetAuditRecords } from '../../db/organizations/audit.ts';
import { makeSource } from '../support/api-records.ts';
import { createOrganization } from '../support/service.ts';
import { asServices } from '../support/stack.ts';
import { late, useHookyard, usePool } from '../support/use-hookyard.ts';
import { removeOrganization } from '../support/rows.ts';

describe('The audit log, once written', () => {
  const { testInstance } = useHookyard({});
  const servicesUrl = late(() => ({ databaseUrl: asServices(testInstance.databaseUrl) }));
  // One connection, which keeps what is set on it.
  const services = usePool(servicesUrl, { max: 1 });
  before(async () => {
    await makeSource(await createOrganization({ service: testInstance.api, pool: testInstance.pool }));
  });

  describe('is final', () => {
    const refused: [string, string][] = [
      ['an update', `update audit_records set outcome = 'done'`],
      ['a deletion', 'delete from audit_records'],
      ['truncate', 'truncate audit_records'],
      ['the removal of what is younger than 30 days', 'select forget_audit_records(29, 1000)'],
      ['a number of days that is none', 'select forget_audit_records(null, 1000)'],
      [
        'the removal of an organization that exists',
        `select forget_audit_of((select id from organizations limit 1), 1000)`,
      ],
    ];
    for (const [what, statement] of refused) {
      it(`for ${what}, also of the service itself`, async () => {
        const { rows: before } = await testInstance.pool.query('select count(*) as n from audit_records');
        expect(Number(before[0].n)).to.be.greaterThan(0);
        const error: unknown = await testInstance.pool.query(statement).catch((reason: unknown) => reason);
        expect(error).to.have.property('code').that.is.oneOf(['42501', '22023']);
        const { rows: after } = await testInstance.pool.query('select count(*) as n from audit_records');
        expect(after).to.deep.equal(before);
      });
    }

    it('but for what is older than its retention', async () => {
      const insert = `
        insert into audit_records (id, organization_id, at, actor, action, resource, outcome)
        select 'aud_' || n, $1, now() - make_interval(days => n), 'operator', 'old', 'x', 'done' from generate_series(1, 400) n`;
      await testInstance.pool.query(insert, ['org_of_old_ones']);
      while (await forgetAuditRecords(testInstance.pool, 90));
      const { rows } = await testInstance.pool.query(
        `select count(*)::int as n, min(at) > now() - interval '90 days' as young from audit_records where organization_id = $1`,
        ['org_of_old_ones'],
      );
      expect(rows[0].young).to.equal(true);
      expect(rows[0].n).to.be.within(88, 90);
      expect(await forgetAuditRecords(testInstance.pool, 0)).to.equal(false);
    });

    it('and that of an organization that is gone, of which the actions of operators stay', async () => {
      const gone = await createOrganization({ service: testInstance.api, pool: testInstance.pool });
      await makeSource(gone);
      await testInstance.pool.query(
        `insert into audit_records (id, organization_id, actor, action, resource, outcome)
         values ('aud_gone', $1, 'operator', 'deleteOrganization', 'organization', 'done')`,
        [gone.id],
      );
      await removeOrganization(testInstance.pool, gone.id);
      await testInstance.pool.query('select forget_audit_of($1, 1000)', [gone.id]);
      const { rows } = await testInstance.pool.query('select action from audit_records where organization_id = $1', [
        gone.id,
      ]);
      expect(rows).to.deep.equal([{ action: 'deleteOrganization' }]);
    });

    it('for the role of the services, whatever it says', async () => {
      const tries = [
        'delete from audit_records',
        `update audit_records set outcome = 'done'`,
        'truncate audit_records',
        'alter table audit_records disable trigger all',
        'drop function forget_audit_records',
        'select forget_audit_records(0, 1000)',
      ];
      const refusal = (...query: [statement: string, values?: unknown[]]) =>
        services.query(...query).catch((reason: unknown) => reason);
      await services.query(`set hookyard.forgets_audit = 'on'`);
      for (const statement of tries)
        expect(await refusal(statement), statement)
          .to.have.property('code')
          .that.is.oneOf(['42501', '22023']);
      await forgetAuditRecords(services, 90);
      // A deletion that is taken back would let the records be forgotten.
      const { id } = await createOrganization({ service: testInstance.api, pool: testInstance.pool });
      await services.query('update organizations set deleted_at = now() where id = $1', [id]);
      const back = await refusal('update organizations set deleted_at = null where id = $1', [id]);
      expect(back).to.have.property('code', '42501');
    });
  });
});
