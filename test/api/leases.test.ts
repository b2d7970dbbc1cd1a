// Leases: records that are removed unless somebody renews them.
import { expect } from 'chai';
import { finishLeases } from '../../activities/deletions.ts';
import { readSettings } from '../../core/config.ts';
import { newId } from '../../core/ids.ts';
import { createLog } from '../../core/log.ts';
import { removeExpired, renewLeases } from '../../db/management/leases.ts';
import { createPool, inTransaction, type Queryable } from '../../db/connections/pool.ts';
import { expectInvalid, type Json } from '../support/api-client.ts';
import { ingest, makeDestination, makePipeline, makeRoute, makeSource } from '../support/api-records.ts';
import { createOrganization, type TestOrganization, testPool } from '../support/service.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';

describe('Leases', () => {
  let organization: TestOrganization;
  beforeEach(async () => {
    organization = await createOrganization();
  });
  const renew = (ids: string[], seconds: number | null, by = organization) =>
    by.api.post<{ ids: string[]; expiresAt: string | null }>('/api/leases', { ids, seconds });
  const counts = async () => {
    const paths = [`${organization.base}/sources`, '/api/destinations', '/api/routes'];
    return Promise.all(paths.map(async (path) => (await organization.api.list(path)).pagination.total));
  };
  /** As housekeeping does, when the leases of the organization are over. */
  async function expire(): Promise<void> {
    const { rowCount } = await testPool().query(
      `update leases set expires_at = now() - interval '1 second' where organization_id = $1`,
      [organization.id],
    );
    expect(rowCount).to.be.greaterThan(0);
    while ((await removeExpired(testPool())) !== null);
    const { rows } = await testPool().query('select from leases where organization_id = $1', [organization.id]);
    expect(rows).to.have.lengthOf(0);
  }

  it('are over at a time of the service, and remove records with what belongs to them', async () => {
    const { source, destination, route } = await makePipeline(organization);
    const event = await ingest(organization, source, '{}');
    const ids = [source.id, destination.id, route.id, newId('rte'), 'nonsense'];
    const { ids: held, expiresAt } = await renew(ids, 900);
    expect(held).to.have.members([source.id, destination.id, route.id]);
    const { rows } = await testPool().query('select extract(epoch from $1::timestamptz - now())::float8 as left', [
      expiresAt,
    ]);
    expect(rows[0].left).to.be.within(600, 900);
    await removeExpired(testPool());
    expect(await counts()).to.deep.equal([1, 1, 1]);
    await expire();
    expect(await counts()).to.deep.equal([0, 0, 0]);
    expect((await organization.api.request('GET', `${organization.base}/events/${event}`)).status).to.equal(404);
  });

  it('are renewed and ended, without a change of the records', async () => {
    const { id } = await makeDestination(organization);
    const before = await organization.api.get(`/api/destinations/${id}`);
    const first = await renew([id], 60);
    const second = await renew([id, id], 900);
    expect(second.ids).to.deep.equal([id]);
    expect(Date.parse(second.expiresAt ?? '')).to.be.greaterThan(Date.parse(first.expiresAt ?? ''));
    expect(await renew([id, newId('dst')], null)).to.deep.equal({ ids: [id], expiresAt: null });
    expect(await renew([id], null)).to.deep.equal({ ids: [], expiresAt: null });
    expect(await organization.api.get(`/api/destinations/${id}`)).to.deep.equal(before);
  });

  it('leave a source from which routes of others lead, with its events', async () => {
    const { source, destination, route } = await makePipeline(organization);
    const other = await makeRoute(organization, source.id, [(await makeDestination(organization)).id]);
    await renew([source.id, destination.id, route.id], 900);
    await expire();
    expect(await counts()).to.deep.equal([1, 1, 1]);
    await organization.api.get(`/api/routes/${other.id}`);
    await organization.api.delete(`/api/routes/${other.id}`);
    await removeExpired(testPool());
    expect(await counts()).to.deep.equal([1, 1, 0]);
  });

  /** Whether somebody waits for a transaction. */
  async function isWaitedFor(pid: number | undefined): Promise<boolean> {
    const waiting = 'select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))';
    return (await testPool().query(waiting, [pid])).rowCount !== 0;
  }
  const pidOf = async (db: Queryable) =>
    (await db.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;

  /** Lets housekeeping find expired leases while a transaction of somebody else is under way. */
  async function expireDuring(work: (db: Queryable) => Promise<unknown>): Promise<void> {
    await testPool().query(`update leases set expires_at = now() - interval '1 second' where organization_id = $1`, [
      organization.id,
    ]);
    let housekeeping: Promise<unknown> | undefined;
    await inTransaction(testPool(), async (db) => {
      await work(db);
      const pid = await pidOf(db);
      let ended = false;
      housekeeping = removeExpired(testPool()).finally(() => {
        ended = true;
      });
      await until('housekeeping waits', async () => ended || (await isWaitedFor(pid)));
    });
    await housekeeping;
  }

  it('are renewed although housekeeping has found them expired', async () => {
    const { source, destination, route } = await makePipeline(organization);
    const lonely = await makeSource(organization);
    for (const id of [source.id, destination.id, route.id, lonely.id]) {
      await renew([id], 900);
      await expireDuring((db) => renewLeases(db, organization.id, [id], 900));
      expect((await renew([id], null)).ids, id).to.deep.equal([id]);
    }
    expect(await counts()).to.deep.equal([2, 1, 1]);
  });

  it('leave a source to which somebody adds a route at that moment', async () => {
    const source = await makeSource(organization);
    const { id: destinationId } = await makeDestination(organization);
    await renew([source.id], 900);
    await expireDuring(async (db) => {
      await db.query('select from sources where id = $1 for update', [source.id]);
      await db.query(
        `insert into routes (id, organization_id, name, source_id, destination_ids) values ($1, $2, 'late', $3, $4)`,
        [newId('rte'), organization.id, source.id, [destinationId]],
      );
    });
    expect(await counts()).to.deep.equal([1, 1, 1]);
  });

  it('are not renewed of a record that is being removed', async () => {
    const { id } = await makeDestination(organization);
    await renew([id], 900);
    let renewing: ReturnType<typeof renew> | undefined;
    await inTransaction(testPool(), async (db) => {
      await db.query('select from destinations where id = $1 for update', [id]);
      const pid = await pidOf(db);
      renewing = renew([id], 900);
      await until('the renewal waits', () => isWaitedFor(pid));
      await db.query('delete from leases where record_id = $1', [id]);
      await db.query('delete from destinations where id = $1', [id]);
    });
    expect(await renewing).to.deep.equal({ ids: [], expiresAt: null });
  });

  it('of a record that somebody holds keep no other from being removed', async () => {
    const held = await makeDestination(organization);
    const others = [await makeSource(organization), await makeDestination(organization)];
    await renew([held.id, ...others.map(({ id }) => id)], 900);
    const { databaseUrl } = stackAddresses();
    const impatient = createPool(databaseUrl, { max: 2, statementTimeoutMs: 1000, onError: () => {} });
    const log = createLog({ ...readSettings({}), LOG_LEVEL: 'silent' }, 'worker');
    try {
      await inTransaction(testPool(), async (db) => {
        await db.query('select from destinations where id = $1 for update', [held.id]);
        await testPool().query(
          `update leases set expires_at = now() - case when record_id = $2 then interval '1 day' else interval '1 second' end
           where organization_id = $1`,
          [organization.id, held.id],
        );
        const error: unknown = await finishLeases(impatient, log).catch((reason: unknown) => reason);
        expect(String(error)).to.include(held.id);
        expect(await counts()).to.deep.equal([0, 1, 0]);
      });
      await finishLeases(impatient, log);
      expect(await counts()).to.deep.equal([0, 0, 0]);
    } finally {
      await impatient.end();
    }
  });

  it('are of the own organization only', async () => {
    const { id } = await makeDestination(organization);
    const stranger = await createOrganization();
    await renew([id], 900);
    expect(await renew([id], 1, stranger)).to.deep.equal({ ids: [], expiresAt: null });
    expect(await renew([id], null, stranger)).to.deep.equal({ ids: [], expiresAt: null });
    expect((await renew([id], null)).ids).to.deep.equal([id]);
  });

  const wrong: [body: Json, path: string][] = [
    [{ ids: [], seconds: 1 }, 'ids'],
    [{ ids: Array(101).fill('x'), seconds: 1 }, 'ids'],
    [{ ids: ['x'], seconds: 0 }, 'seconds'],
    [{ ids: ['x'], seconds: 86_401 }, 'seconds'],
    [{ ids: ['x'] }, 'seconds'],
    [{ ids: ['x'], seconds: 1, forever: true }, 'forever'],
  ];
  for (const [body, path] of wrong) {
    it(`refuse ${JSON.stringify(body).slice(0, 40)}`, async () => {
      expectInvalid(await organization.api.request('POST', '/api/leases', body), path);
    });
  }
});
