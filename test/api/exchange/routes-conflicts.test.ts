import { expect } from 'chai';
import type { Json } from '../../support/api-client.ts';
import { makeRoute } from '../../support/api-records.ts';
import { late, useEach } from '../../support/use-hookyard.ts';
import { everything, exported, furnished, importRoutes, minimal, plain, routeOf } from './route-files.ts';

describe('Imports of routes that meet others', () => {
  const made = useEach(furnished);
  const organization = late(() => made.organization);
  const ids = late(() => made.ids);

  describe('conflicts', () => {
    let stored: Json;
    beforeEach(async () => {
      stored = await routeOf(organization, await importRoutes(organization, [everything]));
    });
    const incoming = { ...minimal, name: 'Everything', destinationSlug: 'erp' };

    it('skip keeps the existing route', async () => {
      const result = await importRoutes(organization, [incoming, { ...minimal, name: 'Other' }]);
      expect(result).to.deep.include({ imported: 1, skipped: 1, overwritten: 0, errors: [], warnings: [] });
      expect(result.routes[0]).to.deep.equal({ id: stored.id, name: 'Everything', status: 'skipped' });
      expect(await routeOf(organization, result)).to.deep.equal(stored);
    });

    it('rename appends a space and a number in parentheses', async () => {
      await importRoutes(organization, [{ ...minimal, name: 'Everything (2)' }]);
      const result = await importRoutes(organization, [incoming, { ...incoming, destinationSlug: 'backup' }], 'rename');
      expect(result.routes.map(({ name, status }) => [name, status])).to.deep.equal([
        ['Everything (3)', 'created'],
        ['Everything (4)', 'created'],
      ]);
      expect(result).to.deep.include({ imported: 2, warnings: [] });
      expect(await organization.api.get(`/api/routes/${stored.id}`)).to.deep.equal(stored);
    });

    it('rename keeps names within their length and their characters whole', async () => {
      const name = '😀'.repeat(127);
      const result = await importRoutes(
        organization,
        ['crm', 'erp'].map((destinationSlug) => ({ ...minimal, name, destinationSlug })),
        'rename',
      );
      expect(result.routes.map((route) => route.name)).to.deep.equal([name, `${'😀'.repeat(125)} (2)`]);
    });

    it('overwrite replaces the existing route: it keeps its id, what the file leaves out goes back to its default', async () => {
      const result = await importRoutes(organization, [incoming], 'overwrite');
      expect(result).to.deep.include({ imported: 0, skipped: 0, overwritten: 1, errors: [], warnings: [] });
      expect(result.routes).to.deep.equal([{ id: stored.id, name: 'Everything', status: 'overwritten' }]);
      expect((await exported(organization)).routes).to.deep.equal([
        { ...plain, name: 'Everything', destinationSlug: 'erp', destinationSlugs: ['erp'] },
      ]);
      expect((await routeOf(organization, result)).createdAt).to.equal(stored.createdAt);
    });

    it('overwrite refuses to move a route to another source, which cannot be changed', async () => {
      const result = await importRoutes(organization, [{ ...incoming, sourceSlug: 'billing' }], 'overwrite');
      expect(result).to.deep.include({ overwritten: 0, routes: [] });
      expect(result.errors).to.have.length(1);
      expect(await organization.api.get(`/api/routes/${stored.id}`)).to.deep.equal(stored);
    });

    it('overwrite finds the route of the same source among several of one name, or says that there are more', async () => {
      const shop = String(ids.shop);
      await makeRoute(organization, String(ids.billing), [String(ids.crm)], { name: 'Everything' });
      expect((await importRoutes(organization, [incoming], 'overwrite')).routes[0]?.id).to.equal(stored.id);
      await makeRoute(organization, shop, [String(ids.backup)], { name: 'Everything' });
      expect((await importRoutes(organization, [incoming], 'overwrite')).errors).to.not.be.empty;
    });

    it('treats routes of one file that have the same name like any others', async () => {
      const twins = ['crm', 'backup'].map((destinationSlug) => ({ ...minimal, name: 'Twin', destinationSlug }));
      const refused = await importRoutes(organization, twins, 'overwrite');
      expect(refused.errors[0]).to.match(/^routes\[1\] "Twin": .*routes\[0\] "Twin"/);
      const skipped = await importRoutes(organization, twins);
      expect(skipped).to.deep.include({ imported: 1, skipped: 1 });
      expect(skipped.warnings[0]).to.match(/^routes\[1\] "Twin": skipped/);
    });
  });

  describe('duplicates: the same source and destinations', () => {
    beforeEach(() => importRoutes(organization, [{ ...minimal, destinationSlugs: ['crm', 'erp'] }]));
    const same = { ...minimal, name: 'Other', destinationSlug: 'erp', destinationSlugs: ['erp', 'crm'] };

    it('are refused, as the create endpoint refuses them', async () => {
      for (const strategy of ['skip', 'overwrite']) {
        const result = await importRoutes(
          organization,
          [{ ...minimal, name: 'Fine', sourceSlug: 'billing' }, same],
          strategy,
        );
        expect(result).to.deep.include({ imported: 0, routes: [] });
        expect(result.errors[0]).to.match(/^routes\[1\] "Other": has the same source and destinations as Plain \(rte_/);
      }
      const inFile = [
        { ...same, sourceSlug: 'billing' },
        { ...same, sourceSlug: 'billing', name: 'Third' },
      ];
      expect((await importRoutes(organization, inFile)).errors[0]).to.match(
        /^routes\[1\] "Third": .*routes\[0\] "Other"/,
      );
      expect((await exported(organization)).routes).to.have.length(1);
    });

    it('are made by a renamed import, which is a copy, with a warning; such copies can be overwritten and moved', async () => {
      const file = await exported(organization);
      const copy = await importRoutes(organization, file.routes, 'rename');
      expect(copy).to.deep.include({ imported: 1, errors: [] });
      expect(copy.routes[0]?.name).to.equal('Plain (2)');
      expect(copy.warnings[0]).to.match(/delivered twice/);
      const both = await exported(organization);
      const expected = { overwritten: 2, errors: [], warnings: [] };
      expect(await importRoutes(organization, both.routes, 'overwrite')).to.deep.include(expected);
      const other = await furnished();
      expect((await importRoutes(other.organization, both.routes, 'rename')).imported).to.equal(2);
      expect((await exported(other.organization)).routes).to.deep.equal(both.routes);
    });

    it('do not come from two routes that exchange their destinations', async () => {
      await importRoutes(organization, [{ ...minimal, name: 'Second', destinationSlug: 'backup' }]);
      const swapped = [
        { ...minimal, destinationSlug: 'backup' },
        { ...same, name: 'Second' },
      ];
      expect(await importRoutes(organization, swapped, 'overwrite')).to.deep.include({ overwritten: 2, errors: [] });
    });
  });

  it('imports at once leave one of each', async () => {
    const pairs = ['crm', 'erp', 'backup', 'archive'].flatMap((destinationSlug) =>
      ['shop', 'billing'].map((sourceSlug) => ({ sourceSlug, destinationSlug })),
    );
    const items = pairs.map((pair) => ({ ...minimal, ...pair, name: `${pair.sourceSlug} to ${pair.destinationSlug}` }));
    const results = await Promise.all([
      importRoutes(organization, items),
      importRoutes(organization, items.toReversed(), 'overwrite'),
      importRoutes(organization, items),
    ]);
    expect(results.flatMap(({ errors }) => errors)).to.deep.equal([]);
    expect(results.reduce((sum, { imported }) => sum + imported, 0)).to.equal(8);
    expect((await exported(organization)).routes).to.have.length(8);
  });

  it('continues while destinations and routes that it names are deleted', async () => {
    const items = ['crm', 'erp', 'backup', 'archive'].map((destinationSlug) => ({
      ...minimal,
      name: `To ${destinationSlug}`,
      destinationSlug,
    }));
    const { routes } = await importRoutes(organization, items);
    const [result] = await Promise.all([
      importRoutes(organization, items, 'overwrite'),
      organization.api.request('DELETE', '/api/destinations/bulk', { ids: [ids.archive, ids.crm] }),
      organization.api.request('POST', '/api/routes/bulk-delete', { routeIds: [routes[1]?.id, routes[2]?.id] }),
      importRoutes(organization, items.toReversed(), 'overwrite'),
    ]);
    expect(
      result.errors.every((error) => /there is no destination/.test(error)),
      result.errors.join(),
    ).to.equal(true);
    const left = (await exported(organization)).routes.flatMap(({ destinationSlugs }) => destinationSlugs as string[]);
    expect(left).to.not.include('crm').and.not.include('archive');
  });
});
