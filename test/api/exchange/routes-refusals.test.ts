// Imports of routes that are wrong or name what does not exist.
import { expect } from 'chai';
import type { TestOrganization } from '../../support/service.ts';
import { conditions, exported, furnished, importRoutes, minimal } from './route-files.ts';

describe('Imports of routes that are wrong', () => {
  let organization: TestOrganization;
  beforeEach(async () => {
    ({ organization } = await furnished());
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
