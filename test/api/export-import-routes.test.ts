// Export and import of routes (interface.md, "Routes (flat family)", rules 4 to 7).
import { expect } from 'chai';
import fc from 'fast-check';
import { newId } from '../../core/ids.ts';
import { type Answer, expectInvalid, type Json } from '../support/api-client.ts';
import { makeRoute, makeSource } from '../support/api-records.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';

interface Envelope {
  version: string;
  exportedAt: string;
  organizationSlug: string;
  routes: Json[];
}
interface ImportResult {
  imported: number;
  skipped: number;
  overwritten: number;
  errors: string[];
  warnings: string[];
  routes: { id: string | null; name: string; status: string }[];
}

const url = 'https://receiver.example/hooks';
const conditions = [
  { field: 'payload.kind', operator: 'equals', value: 'paid' },
  { field: 'a', operator: 'in', value: ['x', 1] },
];

/** An item with every member. */
const everything = {
  name: 'Everything',
  description: 'Has every member',
  sourceSlug: 'shop',
  destinationSlug: 'crm',
  destinationSlugs: ['crm', 'erp'],
  filterSlug: null,
  transformSlug: 'shape',
  schemaSlug: 'order',
  filterConditions: conditions,
  filterLogic: 'OR',
  priority: -7,
  isActive: false,
  notifyOnFailure: true,
  notifyOnSuccess: true,
  notifyOnRecovery: true,
  notifyEmails: 'a@example.com, b@example.com',
  failureThreshold: 9,
  failoverDestinationSlugs: ['backup', 'archive'],
  failoverAfterAttempts: 2,
  circuitCooldownSeconds: 11,
  circuitFailureThreshold: 9,
  circuitProbeSuccessThreshold: 4,
  expectedResponse: { statusCodes: [200, 202], bodyContains: 'ok' },
};
/** What an item without settings is exported as. */
const plain = {
  name: 'Plain',
  description: null,
  sourceSlug: 'shop',
  destinationSlug: 'crm',
  destinationSlugs: ['crm'],
  filterSlug: null,
  transformSlug: null,
  schemaSlug: null,
  filterConditions: null,
  filterLogic: 'AND',
  priority: 0,
  isActive: true,
  notifyOnFailure: false,
  notifyOnSuccess: false,
  notifyOnRecovery: false,
  notifyEmails: null,
  failureThreshold: 5,
  failoverDestinationSlugs: [],
  failoverAfterAttempts: 3,
  circuitCooldownSeconds: 300,
  circuitFailureThreshold: 5,
  circuitProbeSuccessThreshold: 2,
  expectedResponse: null,
};
const minimal = { name: 'Plain', sourceSlug: 'shop', destinationSlug: 'crm' };

describe('Export and import of routes', () => {
  let organization: TestOrganization;
  /** Ids of what the items name, by slug. */
  let ids: Record<string, string>;
  beforeEach(async () => {
    ({ organization, ids } = await furnished());
  });

  /** A new organization that has everything the items of this file name. */
  async function furnished(): Promise<{ organization: TestOrganization; ids: Record<string, string> }> {
    const made = await createOrganization();
    const sources = await Promise.all(['shop', 'billing'].map((slug) => makeSource(made, { slug })));
    const slugs = ['crm', 'erp', 'backup', 'archive'];
    await made.api.post('/api/destinations/import', {
      destinations: slugs.map((slug) => ({ name: slug, slug, url })),
      conflictStrategy: 'skip',
    });
    const { data } = await made.api.list<{ id: string; name: string }>('/api/destinations');
    const filter = await made.api.create('/api/filters', { name: 'Paid', slug: 'paid', conditions });
    const schema = await made.api.create('/api/schemas', { name: 'Order', slug: 'order', schema: {} });
    const transform = await made.api.create('/api/transforms', {
      name: 'S',
      slug: 'shape',
      type: 'jsonata',
      code: '$',
    });
    const named = [...sources.map(({ slug, id }) => [slug, id]), ...data.map(({ name, id }) => [name, id])];
    return {
      organization: made,
      ids: { ...Object.fromEntries(named), paid: filter.id, order: schema.id, shape: transform.id },
    };
  }

  const exported = (query = '', of = organization): Promise<Envelope> => of.api.get(`/api/routes/export${query}`);
  const request = (body: unknown): Promise<Answer> => organization.api.request('POST', '/api/routes/import', body);
  const importRoutes = (
    routes: unknown[],
    conflictStrategy = 'skip',
    options: object = {},
    to = organization,
  ): Promise<ImportResult> => to.api.post('/api/routes/import', { routes, conflictStrategy, ...options });
  const routeOf = (result: ImportResult, index = 0): Promise<Json> =>
    organization.api.get(`/api/routes/${result.routes[index]?.id}`);

  describe('export', () => {
    it('answers the envelope with every route, oldest first, names as slugs', async () => {
      const first = await importRoutes([everything]);
      expect(first).to.deep.include({ imported: 1, skipped: 0, overwritten: 0, errors: [], warnings: [] });
      await makeRoute(organization, String(ids.shop), [String(ids.crm)], { name: 'Plain' });
      await makeRoute(organization, String(ids.billing), [String(ids.erp)], {
        name: 'Filtered',
        filterId: ids.paid,
        lane: 'express',
      });
      const file = await exported();
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
      const { routes } = await importRoutes([minimal, { ...minimal, name: 'Chosen', sourceSlug: 'billing' }]);
      const other = await furnished();
      const foreign = await importRoutes([minimal], 'skip', {}, other.organization);
      const query = `?ids=${[routes[1]?.id, foreign.routes[0]?.id, newId('rte'), 'nonsense'].join(',')}`;
      expect((await exported(query)).routes.map(({ name }) => name)).to.deep.equal(['Chosen']);
      expect((await exported(`?ids=${foreign.routes[0]?.id}`)).routes).to.deep.equal([]);
    });

    it('exports a route that lost its destinations, and the import takes it back with a warning', async () => {
      await importRoutes([minimal]);
      await organization.api.delete(`/api/destinations/${ids.crm}`);
      const file = await exported();
      expect(file.routes[0]).to.deep.include({ destinationSlug: null, destinationSlugs: [] });
      const other = await furnished();
      const result = await importRoutes(file.routes, 'skip', {}, other.organization);
      expect(result).to.deep.include({ imported: 1, errors: [] });
      expect(result.warnings).to.deep.equal(['routes[0] "Plain": has no destination, so it delivers nothing']);
      expect((await exported('', other.organization)).routes).to.deep.equal(file.routes);
    });
  });

  it('imports what the interface names, with defaults for the rest', async () => {
    const result = await importRoutes([
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
    expect(await routeOf(result)).to.deep.include({ sourceId: ids.shop, destinationIds: [ids.crm], enabled: true });
    expect(await routeOf(result, 1)).to.deep.include({ filterId: ids.paid, circuitState: 'closed', eventsRouted: 0 });
    expect((await exported()).routes[0]).to.deep.equal(plain);
  });

  it('takes the threshold by its other name where the file has only that one', async () => {
    const result = await importRoutes([
      { ...minimal, failureThreshold: 8 },
      { ...minimal, name: 'Two', sourceSlug: 'billing', failureThreshold: 8, circuitFailureThreshold: 6 },
    ]);
    expect((await routeOf(result)).circuitFailureThreshold).to.equal(8);
    expect((await routeOf(result, 1)).circuitFailureThreshold).to.equal(6);
    expect((await importRoutes([{ ...minimal, failureThreshold: 0 }])).errors[0]).to.match(/failureThreshold must be/);
  });

  describe('conflicts', () => {
    let stored: Json;
    beforeEach(async () => {
      stored = await routeOf(await importRoutes([everything]));
    });
    const incoming = { ...minimal, name: 'Everything', destinationSlug: 'erp' };

    it('skip keeps the existing route', async () => {
      const result = await importRoutes([incoming, { ...minimal, name: 'Other' }]);
      expect(result).to.deep.include({ imported: 1, skipped: 1, overwritten: 0, errors: [], warnings: [] });
      expect(result.routes[0]).to.deep.equal({ id: stored.id, name: 'Everything', status: 'skipped' });
      expect(await routeOf(result)).to.deep.equal(stored);
    });

    it('rename appends a space and a number in parentheses', async () => {
      await importRoutes([{ ...minimal, name: 'Everything (2)' }]);
      const result = await importRoutes([incoming, { ...incoming, destinationSlug: 'backup' }], 'rename');
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
        ['crm', 'erp'].map((destinationSlug) => ({ ...minimal, name, destinationSlug })),
        'rename',
      );
      expect(result.routes.map((route) => route.name)).to.deep.equal([name, `${'😀'.repeat(125)} (2)`]);
    });

    it('overwrite replaces the existing route: it keeps its id, what the file leaves out goes back to its default', async () => {
      const result = await importRoutes([incoming], 'overwrite');
      expect(result).to.deep.include({ imported: 0, skipped: 0, overwritten: 1, errors: [], warnings: [] });
      expect(result.routes).to.deep.equal([{ id: stored.id, name: 'Everything', status: 'overwritten' }]);
      expect((await exported()).routes).to.deep.equal([
        { ...plain, name: 'Everything', destinationSlug: 'erp', destinationSlugs: ['erp'] },
      ]);
      expect((await routeOf(result)).createdAt).to.equal(stored.createdAt);
    });

    it('overwrite refuses to move a route to another source, which cannot be changed', async () => {
      const result = await importRoutes([{ ...incoming, sourceSlug: 'billing' }], 'overwrite');
      expect(result).to.deep.include({ overwritten: 0, routes: [] });
      expect(result.errors[0]).to.match(/^routes\[0\] "Everything": the route of this name belongs to another source/);
      expect(await organization.api.get(`/api/routes/${stored.id}`)).to.deep.equal(stored);
    });

    it('overwrite finds the route of the same source among several of one name, or says that there are more', async () => {
      const shop = String(ids.shop);
      await makeRoute(organization, String(ids.billing), [String(ids.crm)], { name: 'Everything' });
      expect((await importRoutes([incoming], 'overwrite')).routes[0]?.id).to.equal(stored.id);
      await makeRoute(organization, shop, [String(ids.backup)], { name: 'Everything' });
      expect((await importRoutes([incoming], 'overwrite')).errors[0]).to.match(/more than one route of this name/);
    });

    it('treats routes of one file that have the same name like any others', async () => {
      const twins = ['crm', 'backup'].map((destinationSlug) => ({ ...minimal, name: 'Twin', destinationSlug }));
      const refused = await importRoutes(twins, 'overwrite');
      expect(refused.errors).to.deep.equal(['routes[1] "Twin": routes[0] "Twin" has the same name']);
      const skipped = await importRoutes(twins);
      expect(skipped).to.deep.include({ imported: 1, skipped: 1 });
      expect(skipped.warnings[0]).to.match(/^routes\[1\] "Twin": was skipped/);
    });
  });

  describe('duplicates: the same source and destinations', () => {
    beforeEach(() => importRoutes([{ ...minimal, destinationSlugs: ['crm', 'erp'] }]));
    const same = { ...minimal, name: 'Other', destinationSlug: 'erp', destinationSlugs: ['erp', 'crm'] };

    it('are refused, as the create endpoint refuses them', async () => {
      for (const strategy of ['skip', 'overwrite']) {
        const result = await importRoutes([{ ...minimal, name: 'Fine', sourceSlug: 'billing' }, same], strategy);
        expect(result).to.deep.include({ imported: 0, routes: [] });
        expect(result.errors[0]).to.match(/^routes\[1\] "Other": has the source and destinations of Plain \(rte_/);
      }
      const inFile = [
        { ...same, sourceSlug: 'billing' },
        { ...same, sourceSlug: 'billing', name: 'Third' },
      ];
      expect((await importRoutes(inFile)).errors).to.deep.equal([
        'routes[1] "Third": has the source and destinations of routes[0] "Other", so every event would be delivered twice',
      ]);
      expect((await exported()).routes).to.have.length(1);
    });

    it('are made by a renamed import, which is a copy, with a warning; such copies can be overwritten and moved', async () => {
      const file = await exported();
      const copy = await importRoutes(file.routes, 'rename');
      expect(copy).to.deep.include({ imported: 1, errors: [] });
      expect(copy.routes[0]?.name).to.equal('Plain (2)');
      expect(copy.warnings[0]).to.match(/delivered twice/);
      const both = await exported();
      expect(await importRoutes(both.routes, 'overwrite')).to.deep.include({
        overwritten: 2,
        errors: [],
        warnings: [],
      });
      const other = await furnished();
      expect((await importRoutes(both.routes, 'rename', {}, other.organization)).imported).to.equal(2);
      expect((await exported('', other.organization)).routes).to.deep.equal(both.routes);
    });

    it('do not come from two routes that exchange their destinations', async () => {
      await importRoutes([{ ...minimal, name: 'Second', destinationSlug: 'backup' }]);
      const swapped = [
        { ...minimal, destinationSlug: 'backup' },
        { ...same, name: 'Second' },
      ];
      expect(await importRoutes(swapped, 'overwrite')).to.deep.include({ overwritten: 2, errors: [] });
    });
  });

  it('reports every missing reference and imports nothing', async () => {
    const result = await importRoutes([
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
        ['routes[2] "B"', 'destination', 'lost'],
        ['routes[2] "B"', 'destination', 'gone'],
        ['routes[2] "B"', 'schema', 'no-schema'],
      ].map(([label, kind, slug]) => `${label}: there is no ${kind} with the slug "${slug}" in this organization`),
      warnings: [],
      routes: [],
    });
    expect((await exported()).routes).to.deep.equal([]);
  });

  it("never finds another organization's records", async () => {
    const empty = await createOrganization();
    expect((await importRoutes([everything], 'skip', {}, empty)).errors).to.have.length(7);
    await importRoutes([everything]);
    const other = await furnished();
    expect(await importRoutes([everything], 'overwrite', {}, other.organization)).to.deep.include({
      imported: 1,
      overwritten: 0,
    });
  });

  describe('validation', () => {
    const wrong: [string, unknown, RegExp][] = [
      ['no source', { ...minimal, sourceSlug: undefined }, /"Plain": sourceSlug is required/],
      ['a source that is null', { ...minimal, sourceSlug: null }, /"Plain": sourceSlug must be a string/],
      ['no name', { ...minimal, name: undefined }, /^routes\[1\]: name is required/],
      ['no object', 7, /^routes\[1\]: must be an object/],
      ['a wrong priority', { ...minimal, priority: 1.5 }, /priority must be a whole number/],
      [
        'an unknown operator',
        { ...minimal, filterConditions: [{ field: 'a', operator: 'like' }] },
        /filterConditions.0.operator/,
      ],
      [
        'two filters',
        { ...minimal, filterSlug: 'paid', filterConditions: conditions },
        /filterSlug must not be given together/,
      ],
      ['a wrong mail address', { ...minimal, notifyEmails: 'nobody' }, /notifyEmails must be/],
      [
        'four failovers',
        { ...minimal, failoverDestinationSlugs: ['a', 'b', 'c', 'd'] },
        /failoverDestinationSlugs must be at most 3/,
      ],
      [
        'a failover that is primary',
        { ...minimal, failoverDestinationSlugs: ['crm'] },
        /failoverDestinationSlugs must not name crm/,
      ],
      ['a destination twice', { ...minimal, destinationSlugs: ['crm', 'crm'] }, /must not name a destination twice/],
      ['two first destinations', { ...minimal, destinationSlugs: ['erp', 'crm'] }, /destinationSlug must be the first/],
      ['an unknown lane', { ...minimal, lane: 'fast' }, /lane must be/],
    ];
    for (const [what, item, message] of wrong) {
      it(`refuses ${what}, and imports nothing`, async () => {
        const result = await importRoutes([{ ...minimal, name: 'Good', sourceSlug: 'billing' }, item]);
        expect(result).to.deep.include({ imported: 0, routes: [] });
        expect(result.errors[0]).to.match(message);
        expect((await exported()).routes).to.deep.equal([]);
      });
    }

    it('answers 400 to a request of the wrong form', async () => {
      expectInvalid(await request({ conflictStrategy: 'skip' }), 'routes');
      expectInvalid(await request({ routes: [] }), 'conflictStrategy');
      expectInvalid(await request({ routes: [], conflictStrategy: 'skip', version: '2.0' }), 'version');
      const many = Array.from({ length: 1001 }, () => minimal);
      expectInvalid(await request({ routes: many, conflictStrategy: 'skip' }), 'routes');
    });
  });

  it('validateOnly reports the same and changes nothing', async () => {
    await importRoutes([everything]);
    const items = [
      { ...everything, priority: 5 },
      { ...minimal, name: 'New', destinationSlug: 'backup' },
    ];
    for (const strategy of ['skip', 'rename', 'overwrite']) {
      const before_ = (await exported()).routes;
      const tried = await importRoutes(items, strategy, { validateOnly: true });
      expect((await exported()).routes).to.deep.equal(before_);
      const done = await importRoutes(items, strategy);
      const expected = done.routes.map((route) => (route.status === 'created' ? { ...route, id: null } : route));
      expect(tried).to.deep.equal({ ...done, routes: expected });
      const bad = [...items, { ...minimal, name: 'Bad', sourceSlug: 'nowhere' }];
      const refused = await importRoutes(bad, strategy, { validateOnly: true });
      expect(refused).to.deep.equal(await importRoutes(bad, strategy));
    }
  });

  it('imports at once, and creates beside them, leave one of each', async () => {
    const pairs = ['crm', 'erp', 'backup', 'archive'].flatMap((destinationSlug) =>
      ['shop', 'billing'].map((sourceSlug) => ({ sourceSlug, destinationSlug })),
    );
    const items = pairs.map((pair) => ({ ...minimal, ...pair, name: `${pair.sourceSlug} to ${pair.destinationSlug}` }));
    const results = await Promise.all([
      importRoutes(items),
      importRoutes(items.toReversed(), 'overwrite'),
      importRoutes(items),
    ]);
    expect(results.flatMap(({ errors }) => errors)).to.deep.equal([]);
    expect(results.reduce((sum, { imported }) => sum + imported, 0)).to.equal(8);
    expect((await exported()).routes).to.have.length(8);
    const other = await furnished();
    const creates = items.map(({ name, sourceSlug, destinationSlug }) =>
      other.organization.api.request('POST', '/api/routes', {
        name,
        sourceId: other.ids[sourceSlug],
        destinationIds: [other.ids[destinationSlug]],
      }),
    );
    const [imported, ...answers] = await Promise.all([importRoutes(items, 'skip', {}, other.organization), ...creates]);
    const created = answers.filter(({ status }) => status === 201).length;
    expect(answers.every(({ status }) => status === 201 || status === 409)).to.equal(true);
    expect((await exported('', other.organization)).routes).to.have.length(8);
    expect(imported.imported + created).to.equal(8);
  });

  it('goes on while destinations and routes that it names are deleted', async () => {
    const items = ['crm', 'erp', 'backup', 'archive'].map((destinationSlug) => ({
      ...minimal,
      name: `To ${destinationSlug}`,
      destinationSlug,
    }));
    const { routes } = await importRoutes(items);
    const [result] = await Promise.all([
      importRoutes(items, 'overwrite'),
      organization.api.request('DELETE', '/api/destinations/bulk', { ids: [ids.archive, ids.crm] }),
      organization.api.request('POST', '/api/routes/bulk-delete', { routeIds: [routes[1]?.id, routes[2]?.id] }),
      importRoutes(items.toReversed(), 'overwrite'),
    ]);
    expect(
      result.errors.every((error) => /there is no destination/.test(error)),
      result.errors.join(),
    ).to.equal(true);
    const left = (await exported()).routes.flatMap(({ destinationSlugs }) => destinationSlugs as string[]);
    expect(left).to.not.include('crm').and.not.include('archive');
  });

  it('takes 1,000 items, new and overwritten', async function () {
    this.timeout(60_000);
    const destinations = Array.from({ length: 1000 }, (_, index) => ({ name: 'D', slug: `d-${index}`, url }));
    await organization.api.post('/api/destinations/import', { destinations, conflictStrategy: 'skip' });
    const items = destinations.map(({ slug }, index) => ({
      ...everything,
      name: `Route ${index}`,
      destinationSlug: slug,
      destinationSlugs: [slug, 'crm'],
    }));
    expect(await importRoutes(items)).to.deep.include({ imported: 1000, errors: [] });
    const changed = items.map((item) => ({ ...item, priority: 3, isActive: true }));
    expect(await importRoutes(changed, 'overwrite')).to.deep.include({ overwritten: 1000, errors: [] });
    expect((await exported()).routes).to.deep.equal(changed);
  });

  it('a round trip between two organizations reproduces every member', async function () {
    this.timeout(120_000);
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
        expect((await importRoutes(items, 'skip', {}, from.organization)).errors).to.deep.equal([]);
        const first = await exported('', from.organization);
        expect(first.routes).to.deep.equal(items);
        const result = await importRoutes(first.routes, 'overwrite', {}, to.organization);
        expect(result).to.deep.include({ imported: items.length, errors: [], warnings: [] });
        expect((await exported('', to.organization)).routes).to.deep.equal(items);
      }),
      { numRuns: 10 },
    );
  });
});
