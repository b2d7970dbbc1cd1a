// Imports of routes that are wrong or name what does not exist.
import { expect } from 'chai';
import { expectInvalid } from '../../support/api-client.ts';
import { createOrganization, type TestOrganization } from '../../support/service.ts';
import { conditions, everything, exported, furnished, importRoutes, minimal, request } from './route-files.ts';

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

  it("never finds another organization's records", async () => {
    const empty = await createOrganization();
    expect((await importRoutes(empty, [everything])).errors).to.have.length(7);
    await importRoutes(organization, [everything]);
    const other = await furnished();
    expect(await importRoutes(other.organization, [everything], 'overwrite')).to.deep.include({
      imported: 1,
      overwritten: 0,
    });
  });

  describe('validation', () => {
    const wrong: [string, unknown, RegExp][] = [
      ['no source', { ...minimal, sourceSlug: undefined }, /"Plain": sourceSlug is required/],
      ['no name', { ...minimal, name: undefined }, /^routes\[1\]: name is required/],
      ['no object', 7, /^routes\[1\]: must be an object/],
      [
        'an unknown operator',
        { ...minimal, filterConditions: [{ field: 'a', operator: 'like' }] },
        /filterConditions.0.operator/,
      ],
      [
        'two filters',
        { ...minimal, filterSlug: 'paid', filterConditions: conditions },
        /filterSlug cannot be combined/,
      ],
      [
        'a failover that is primary',
        { ...minimal, failoverDestinationSlugs: ['crm'] },
        /failoverDestinationSlugs must not contain crm/,
      ],
      [
        'a destination twice',
        { ...minimal, destinationSlugs: ['crm', 'crm'] },
        /must not contain the same destination twice/,
      ],
      ['two first destinations', { ...minimal, destinationSlugs: ['erp', 'crm'] }, /destinationSlug must be the first/],
    ];
    for (const [what, item, message] of wrong) {
      it(`refuses ${what}, and imports nothing`, async () => {
        const result = await importRoutes(organization, [{ ...minimal, name: 'Good', sourceSlug: 'billing' }, item]);
        expect(result).to.deep.include({ imported: 0, routes: [] });
        expect(result.errors[0]).to.match(message);
        expect((await exported(organization)).routes).to.deep.equal([]);
      });
    }

    it('answers 400 to a request of the wrong form', async () => {
      expectInvalid(await request(organization, { conflictStrategy: 'skip' }), 'routes');
      expectInvalid(await request(organization, { routes: [] }), 'conflictStrategy');
      expectInvalid(await request(organization, { routes: [], conflictStrategy: 'skip', version: '2.0' }), 'version');
      const many = Array.from({ length: 1001 }, () => minimal);
      expectInvalid(await request(organization, { routes: many, conflictStrategy: 'skip' }), 'routes');
    });
  });
});
