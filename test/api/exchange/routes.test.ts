import { expect } from 'chai';
import { newId } from '../../../core/text/ids.ts';
import { makeRoute } from '../../support/api-records.ts';
import { late, useEach } from '../../support/use-hookyard.ts';
import { conditions, everything, exported, furnished, importRoutes, minimal, plain, routeOf } from './route-files.ts';

describe('Export and import of routes', () => {
  const made = useEach(furnished);
  const organization = late(() => made.organization);
  const ids = late(() => made.ids);

  describe('export', () => {
    it('answers the envelope with every route, oldest first, names as slugs', async () => {
      const first = await importRoutes(organization, [everything]);
      expect(first).to.deep.include({ imported: 1, skipped: 0, overwritten: 0, errors: [], warnings: [] });
      await makeRoute(organization, String(ids.shop), [String(ids.crm)], { name: 'Plain' });
      await makeRoute(organization, String(ids.billing), [String(ids.erp)], {
        name: 'Filtered',
        filterId: ids.paid,
        lane: 'express',
      });
      const file = await exported(organization);
      expect(file).to.deep.include({ version: '1.0', organizationSlug: organization.slug });
      expect(new Date(file.exportedAt).toISOString()).to.equal(file.exportedAt);
      expect(file.routes).to.deep.equal([
        everything,
        plain,
        {
          ...plain,
          name: 'Filtered',
          sourceSlug: 'billing',
          destinationSlug: 'erp',
          destinationSlugs: ['erp'],
          filterSlug: 'paid',
          lane: 'express',
        },
      ]);
    });

    it('takes ids, and passes over those it does not know', async () => {
      const { routes } = await importRoutes(organization, [
        minimal,
        { ...minimal, name: 'Chosen', sourceSlug: 'billing' },
      ]);
      const query = `?ids=${[routes[1]?.id, newId('rte'), 'nonsense'].join(',')}`;
      expect((await exported(organization, query)).routes.map(({ name }) => name)).to.deep.equal(['Chosen']);
    });

    it('exports a route that lost its destinations, and the import takes it back with a warning', async () => {
      await importRoutes(organization, [minimal]);
      await organization.api.delete(`/api/destinations/${ids.crm}`);
      const file = await exported(organization);
      expect(file.routes[0]).to.deep.include({ destinationSlug: null, destinationSlugs: [] });
      const other = await furnished();
      const result = await importRoutes(other.organization, file.routes);
      expect(result).to.deep.include({ imported: 1, errors: [] });
      expect(result.warnings).to.have.length(1);
      expect((await exported(other.organization)).routes).to.deep.equal(file.routes);
    });
  });

  it('imports what the interface names, with defaults for the rest', async () => {
    const result = await importRoutes(organization, [
      minimal,
      { ...minimal, name: 'Two', sourceSlug: 'billing', filterSlug: 'paid' },
    ]);
    expect(result).to.deep.equal({
      imported: 2,
      skipped: 0,
      overwritten: 0,
      errors: [],
      warnings: [],
      routes: [
        { id: result.routes[0]?.id, name: 'Plain', status: 'created' },
        { id: result.routes[1]?.id, name: 'Two', status: 'created' },
      ],
    });
    const first = { sourceId: ids.shop, destinationIds: [ids.crm], enabled: true };
    expect(await routeOf(organization, result)).to.deep.include(first);
    const second = { filterId: ids.paid, circuitState: 'closed', eventsRouted: 0 };
    expect(await routeOf(organization, result, 1)).to.deep.include(second);
    expect((await exported(organization)).routes[0]).to.deep.equal(plain);
  });

  it('takes the threshold by its other name where the file has only that one', async () => {
    const result = await importRoutes(organization, [
      { ...minimal, failureThreshold: 8 },
      { ...minimal, name: 'Two', sourceSlug: 'billing', failureThreshold: 8, circuitFailureThreshold: 6 },
    ]);
    expect((await routeOf(organization, result)).circuitFailureThreshold).to.equal(8);
    expect((await routeOf(organization, result, 1)).circuitFailureThreshold).to.equal(6);
  });

  it('validateOnly reports the same and changes nothing', async () => {
    await importRoutes(organization, [everything]);
    const items = [
      { ...everything, priority: 5 },
      { ...minimal, name: 'New', destinationSlug: 'backup' },
    ];
    for (const strategy of ['skip', 'rename', 'overwrite']) {
      const before_ = (await exported(organization)).routes;
      const tried = await importRoutes(organization, items, strategy, { validateOnly: true });
      expect((await exported(organization)).routes).to.deep.equal(before_);
      const done = await importRoutes(organization, items, strategy);
      const expected = done.routes.map((route) => (route.status === 'created' ? { ...route, id: null } : route));
      expect(tried).to.deep.equal({ ...done, routes: expected });
      const bad = [...items, { ...minimal, name: 'Bad', sourceSlug: 'nowhere' }];
      const refused = await importRoutes(organization, bad, strategy, { validateOnly: true });
      expect(refused).to.deep.equal(await importRoutes(organization, bad, strategy));
    }
  });

  it('reports every missing reference and imports nothing', async () => {
    const result = await importRoutes(organization, [
      minimal,
      { ...minimal, name: 'A', sourceSlug: 'nowhere', filterSlug: 'no-filter', transformSlug: 'no-transform' },
      {
        ...minimal,
        name: 'B',
        destinationSlugs: ['crm', 'lost'],
        schemaSlug: 'no-schema',
        failoverDestinationSlugs: ['gone'],
      },
    ]);
    expect(result).to.deep.equal({
      imported: 0,
      skipped: 0,
      overwritten: 0,
      errors: [
        ['routes[1] "A"', 'source', 'nowhere'],
        ['routes[1] "A"', 'filter', 'no-filter'],
        ['routes[1] "A"', 'transform', 'no-transform'],
        ['routes[2] "B"', 'schema', 'no-schema'],
        ['routes[2] "B"', 'destination', 'lost'],
        ['routes[2] "B"', 'destination', 'gone'],
      ].map(([label, kind, slug]) => `${label}: there is no ${kind} with the slug "${slug}" in this organization`),
      warnings: [],
      routes: [],
    });
    expect((await exported(organization)).routes).to.deep.equal([]);
  });

  describe('validation', () => {
    const wrong: [string, unknown, RegExp][] = [
      ['no source', { ...minimal, sourceSlug: undefined }, /"Plain": sourceSlug /],
      ['no name', { ...minimal, name: undefined }, /^routes\[1\]: name /],
      ['no object', 7, /^routes\[1\]: /],
      [
        'a wrong filter',
        { ...minimal, filterConditions: [{ field: 'a', operator: 'x' }] },
        /filterConditions.0.operator/,
      ],
      ['two filters', { ...minimal, filterSlug: 'paid', filterConditions: conditions }, /filterSlug /],
      [
        'a failover that is primary',
        { ...minimal, failoverDestinationSlugs: ['crm'] },
        /failoverDestinationSlugs .*crm/,
      ],
      ['a destination twice', { ...minimal, destinationSlugs: ['crm', 'crm'] }, /twice/],
      ['two first destinations', { ...minimal, destinationSlugs: ['erp', 'crm'] }, /destinationSlug /],
    ];
    for (const [what, item, message] of wrong) {
      it(`refuses ${what}, and imports nothing`, async () => {
        const result = await importRoutes(organization, [{ ...minimal, name: 'Good', sourceSlug: 'billing' }, item]);
        expect(result).to.deep.include({ imported: 0, routes: [] });
        expect(result.errors[0]).to.match(message);
        expect((await exported(organization)).routes).to.deep.equal([]);
      });
    }
  });
});
