// Files of routes from one organization to another, small and large.
import { expect } from 'chai';
import fc from 'fast-check';
import type { TestOrganization } from '../../support/service.ts';
import { everything, exported, furnished, importRoutes, url } from './route-files.ts';

describe('Files of routes', () => {
  let organization: TestOrganization;
  beforeEach(async () => {
    ({ organization } = await furnished());
  });

  it('takes 1,000 items, new and overwritten', async () => {
    const destinations = Array.from({ length: 1000 }, (_, index) => ({ name: 'D', slug: `d-${index}`, url }));
    await organization.api.post('/api/destinations/import', { destinations, conflictStrategy: 'skip' });
    const items = destinations.map(({ slug }, index) => ({
      ...everything,
      name: `Route ${index}`,
      destinationSlug: slug,
      destinationSlugs: [slug, 'crm'],
    }));
    expect(await importRoutes(organization, items)).to.deep.include({ imported: 1000, errors: [] });
    const changed = items.map((item) => ({ ...item, priority: 3, isActive: true }));
    expect(await importRoutes(organization, changed, 'overwrite')).to.deep.include({ overwritten: 1000, errors: [] });
    expect((await exported(organization)).routes).to.deep.equal(changed);
  });

  it('a round trip between two organizations reproduces every member', async () => {
    const storable = (maxLength: number) =>
      fc.string({ unit: 'grapheme', maxLength }).filter((text) => !text.includes('\0') && text.length <= 255);
    const condition = fc.record({
      field: fc.constantFrom('payload.a', 'headers.x-kind', 'items[*].sku', 'b.0.c'),
      operator: fc.constantFrom('equals', 'not_equals', 'contains', 'starts_with'),
      value: fc.oneof(storable(10), fc.integer().map(String)),
    });
    const filter = fc.oneof(
      fc.constant({ filterSlug: null, filterConditions: null }),
      fc.constant({ filterSlug: 'paid', filterConditions: null }),
      fc.array(condition, { maxLength: 4 }).map((filterConditions) => ({ filterSlug: null, filterConditions })),
    );
    const places = fc
      .tuple(fc.shuffledSubarray(['crm', 'erp', 'backup', 'archive'], { minLength: 1 }), fc.nat({ max: 3 }))
      .map(([slugs, cut]) => {
        const destinationSlugs = slugs.slice(0, Math.max(1, slugs.length - cut));
        const failoverDestinationSlugs = slugs.slice(destinationSlugs.length);
        return { destinationSlug: destinationSlugs[0], destinationSlugs, failoverDestinationSlugs };
      });
    const expected = fc.record(
      {
        statusCodes: fc.uniqueArray(fc.integer({ min: 100, max: 599 }), { minLength: 1, maxLength: 3 }),
        bodyContains: storable(20).filter((text) => text !== ''),
      },
      { requiredKeys: [] },
    );
    const item = fc
      .record({
        filter,
        places,
        settings: fc.record({
          name: storable(30).filter((name) => name.trim() !== ''),
          description: fc.option(storable(40)),
          sourceSlug: fc.constantFrom('shop', 'billing'),
          transformSlug: fc.option(fc.constant('shape')),
          schemaSlug: fc.option(fc.constant('order')),
          filterLogic: fc.constantFrom('AND', 'OR'),
          priority: fc.integer({ min: -2_147_483_647, max: 2_147_483_647 }),
          isActive: fc.boolean(),
          notifyOnFailure: fc.boolean(),
          notifyOnSuccess: fc.boolean(),
          notifyOnRecovery: fc.boolean(),
          notifyEmails: fc.option(fc.constantFrom('a@example.com', 'a@example.com,b@example.org')),
          failoverAfterAttempts: fc.integer({ min: 1, max: 51 }),
          circuitCooldownSeconds: fc.integer({ min: 1, max: 86_400 }),
          circuitFailureThreshold: fc.integer({ min: 1, max: 10_000 }),
          circuitProbeSuccessThreshold: fc.integer({ min: 1, max: 1000 }),
          expectedResponse: fc.option(expected),
          allowOwnAddress: fc.boolean(),
        }),
        lane: fc.constantFrom({}, { lane: 'workflow' }, { lane: 'express' }),
      })
      .map((made) => ({
        ...made.settings,
        ...made.filter,
        ...made.places,
        ...made.lane,
        failureThreshold: made.settings.circuitFailureThreshold,
      }));
    const path = ({ sourceSlug, destinationSlugs }: { sourceSlug: string; destinationSlugs: string[] }) =>
      [sourceSlug, ...destinationSlugs.toSorted()].join();
    const file = fc.uniqueArray(item, {
      maxLength: 8,
      comparator: (one, other) => one.name === other.name || path(one) === path(other),
    });
    await fc.assert(
      fc.asyncProperty(file, async (items) => {
        const [from, to] = await Promise.all([furnished(), furnished()]);
        expect((await importRoutes(from.organization, items)).errors).to.deep.equal([]);
        const first = await exported(from.organization);
        expect(first.routes).to.deep.equal(items);
        const result = await importRoutes(to.organization, first.routes, 'overwrite');
        expect(result).to.deep.include({ imported: items.length, errors: [], warnings: [] });
        expect((await exported(to.organization)).routes).to.deep.equal(items);
      }),
      { numRuns: 10 },
    );
  });
});
