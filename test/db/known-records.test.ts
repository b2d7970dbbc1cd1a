// What an import reads: only what its file names, however much there is.
import { expect } from 'chai';
import { knownRoutes } from '../../db/records/routes.ts';
import { knownDestinations, takenSlugs } from '../../db/records/slugs.ts';
import { createOrm, type EntityManager, type MikroORM, tenantEntityManager } from '../../db/records/orm.ts';
import { makeSource } from '../support/api-records.ts';
import { stackAddresses } from '../support/stack.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const url = 'https://receiver.example/hooks';
const LONG = 'x'.repeat(60);

describe('Records that an import may conflict with', () => {
  const organization = useOrganization();
  let orm: MikroORM;
  let em: EntityManager;
  let ids: Map<string, string>;
  before(async () => {
    orm = createOrm(stackAddresses().databaseUrl, 1);
    em = tenantEntityManager(orm, organization.id);
    const slugs = ['crm', 'crm-2', 'crm-x', 'crm-2-3', 'cr', LONG, `${LONG}-2`, 'other'];
    await organization.api.post('/api/destinations/import', {
      destinations: slugs.map((slug) => ({ name: `Name of ${slug}`, slug, url })),
      conflictStrategy: 'skip',
    });
    const { data } = await organization.api.list<{ id: string; slug: string }>('/api/destinations');
    ids = new Map(data.map(({ id, slug }) => [slug, id]));
  });
  after(() => orm.close());

  const taken = async (...slugs: string[]) => (await takenSlugs(em, 'destination', organization.id, slugs)).toSorted();

  it('are slugs with a number, too', async () => {
    expect(await taken('crm')).to.deep.equal(['crm', 'crm-2']);
    expect(await taken('crm-2', 'other')).to.deep.equal(['crm-2', 'crm-2-3', 'other']);
    expect(await taken(LONG)).to.deep.equal([LONG, `${LONG}-2`]);
    expect(await taken('none')).to.deep.equal([]);
    expect(await taken()).to.deep.equal([]);
  });

  it('are destinations of a slug or a name', async () => {
    const known = await knownDestinations(em, organization.id, { slugs: ['crm'], names: ['Name of other', 'None'] });
    expect(known.map(({ slug }) => slug).toSorted()).to.deep.equal(['crm', 'other']);
  });

  it('are routes of a name, with a number where that matters, and duplicates', async () => {
    const [source, another] = [await makeSource(organization), await makeSource(organization)];
    const [crm = '', other = ''] = [ids.get('crm'), ids.get('other')];
    const make = (name: string, sourceId: string, ...destinationIds: string[]) =>
      organization.api.create('/api/routes', { name, sourceId, destinationIds });
    await make('Orders', source.id, crm);
    await make('Orders (2)', another.id, crm);
    await make('Twin', source.id, other, crm);
    await make('Unnamed', another.id, other, crm);
    const asked = [
      { name: 'Orders', sourceId: source.id, destinationIds: [crm, other].toSorted() },
      { name: 'None', sourceId: source.id, destinationIds: [] },
    ];
    const known = (isRenamed: boolean) => knownRoutes(em, organization.id, { routes: asked, isRenamed });
    const { routes, counts } = await known(false);
    expect(routes.map(({ name }) => name)).to.deep.equal(['Orders', 'Twin']);
    expect(routes[0]).to.deep.include({ sourceId: source.id, destinationIds: [crm] });
    expect(counts).to.deep.equal([{ sourceId: source.id, count: 2 }]);
    expect((await known(true)).routes.map(({ name }) => name)).to.deep.equal(['Orders', 'Orders (2)', 'Twin']);
  });
});
