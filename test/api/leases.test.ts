// Leases: records that are removed unless somebody renews them.
import { expect } from 'chai';
import { newId } from '../../core/ids.ts';
import { removeExpired } from '../../db/leases.ts';
import { expectInvalid, type Json } from '../support/api-client.ts';
import { ingest, makeDestination, makePipeline, makeRoute } from '../support/api-records.ts';
import { createOrganization, type TestOrganization, testPool } from '../support/service.ts';

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
