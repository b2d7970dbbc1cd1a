// Export and import of destinations (interface.md, "Destinations, flat family", rules 5 to 7).
import { expect } from 'chai';
import fc from 'fast-check';
import { newId } from '../../core/ids.ts';
import { hashToken, newToken } from '../../db/prepare.ts';
import { type Answer, createClient, expectError, expectInvalid, type Json } from '../support/api-client.ts';
import { makeDestination } from '../support/api-records.ts';
import { createOrganization, type TestOrganization, testPool } from '../support/service.ts';

const url = 'https://receiver.example/hooks';
const REDACTED = '***REDACTED***';
const signingSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

interface Envelope {
  version: string;
  exportedAt: string;
  organizationSlug: string;
  destinations: Json[];
}
interface ImportResult {
  success: boolean;
  summary: { imported: number; skipped: number; overwritten: number; failed: number };
  details: { imported: string[]; skipped: string[]; overwritten: string[]; failed: string[] };
  errors: string[];
  warnings: string[];
  destinations: { id: string | null; name: string; slug: string | null; status: string }[];
}

const everything = {
  name: 'Everything',
  slug: 'all-of-it',
  description: 'Has every member',
  type: 'http',
  url: 'http://other.example:8080/x?y=1',
  method: 'PUT',
  headers: { 'X-Team': 'a', Accept: 'text/plain' },
  authType: 'basic',
  authConfig: { username: 'u', password: 'a long password' },
  signingSecret,
  timeoutMs: 1234,
  rateLimitPerMinute: 120,
  retryPolicy: { maxRetries: 3, initialDelay: 7, maxDelay: 70, backoffMultiplier: 1.5 },
  isActive: false,
};

describe('Export and import of destinations', () => {
  let organization: TestOrganization;
  beforeEach(async () => {
    organization = await createOrganization();
  });
  const exported = (of: TestOrganization, query = ''): Promise<Envelope> =>
    of.api.get(`/api/destinations/export${query}`);
  const request = (body: unknown, to = organization): Promise<Answer> =>
    to.api.request('POST', '/api/destinations/import', body);
  const importInto = (
    to: TestOrganization,
    destinations: unknown[],
    conflictStrategy = 'skip',
    options: object = {},
  ): Promise<ImportResult> => to.api.post('/api/destinations/import', { destinations, conflictStrategy, ...options });
  const bySlug = async (slug: string, of = organization): Promise<Json & { id: string }> => {
    const { data } = await of.api.list<{ id: string }>('/api/destinations?pageSize=100');
    const all = await Promise.all(data.map(({ id }) => of.api.get<Json & { id: string }>(`/api/destinations/${id}`)));
    const found = all.find((destination) => destination.slug === slug);
    if (!found) throw new Error(`there is no destination ${slug}`);
    return found;
  };

  describe('export', () => {
    it('answers the envelope with every destination, oldest first, credentials redacted', async () => {
      await makeDestination(organization, { name: 'Plain' });
      const auth = { authType: 'bearer', authConfig: { token: 'very-secret-token' } };
      await makeDestination(organization, { name: 'Bearer', ...auth, signingSecret, enabled: false });
      const startedAt = Date.now();
      const file = await exported(organization);
      expect(file).to.deep.include({ version: '1.0', organizationSlug: organization.slug });
      expect(new Date(file.exportedAt).toISOString()).to.equal(file.exportedAt);
      expect(Date.parse(file.exportedAt)).to.be.within(startedAt - 1000, Date.now() + 1000);
      const common = {
        description: null,
        type: 'http',
        url,
        method: 'POST',
        headers: {},
        authConfig: REDACTED,
        timeoutMs: 30_000,
        rateLimitPerMinute: null,
        retryPolicy: { maxRetries: 5, initialDelay: 1000, maxDelay: 60_000, backoffMultiplier: 2 },
      };
      expect(file.destinations).to.deep.equal([
        { ...common, name: 'Plain', slug: 'plain', authType: 'none', signingSecret: null, isActive: true },
        { ...common, name: 'Bearer', slug: 'bearer', authType: 'bearer', signingSecret: REDACTED, isActive: false },
      ]);
      expect(JSON.stringify(file)).to.not.match(/secret-token|whsec_/);
    });

    it('writes credentials in clear on request, for keys that may write', async () => {
      await importInto(organization, [everything, { name: 'Plain', url }]);
      const file = await exported(organization, '?includeSensitive=true');
      expect(file.destinations[0]).to.deep.equal(everything);
      expect(file.destinations[1]).to.deep.include({ authType: 'none', authConfig: {}, signingSecret: null });
      const token = newToken();
      await testPool().query(
        `insert into api_keys (id, organization_id, name, token_hash, token_hint, scopes) values ($1, $2, 'r', $3, 'x', '{read}')`,
        [newId('key'), organization.id, hashToken(token)],
      );
      const reader = createClient(organization.api.url, token);
      expectError(
        await reader.request('GET', '/api/destinations/export?includeSensitive=true'),
        403,
        'FORBIDDEN',
        /includeSensitive/,
      );
      expect((await reader.request('GET', '/api/destinations/export?includeSensitive=false')).status).to.equal(200);
    });

    it('takes ids, and passes over those it does not know', async () => {
      const other = await createOrganization();
      const foreign = await makeDestination(other);
      const made = [await makeDestination(organization), await makeDestination(organization, { name: 'Chosen' })];
      const ids = [made[1]?.id, foreign.id, 'dst_unknown', newId('dst')].join(',');
      expect((await exported(organization, `?ids=${ids}`)).destinations.map(({ name }) => name)).to.deep.equal([
        'Chosen',
      ]);
      expect((await exported(organization, `?ids=${foreign.id}`)).destinations).to.deep.equal([]);
      expect((await exported(organization, '?ids=')).destinations).to.have.length(2);
    });

    it('answers 400 to wrong parameters', async () => {
      const get = (query: string) => organization.api.request('GET', `/api/destinations/export?${query}`);
      expectInvalid(await get('includeSensitive=yes'), 'includeSensitive');
      expectInvalid(await get('ids=a&ids=b'), 'ids');
      expectInvalid(await get(`ids=${'a,'.repeat(1001)}`), 'ids');
    });
  });

  describe('conflicts', () => {
    beforeEach(() =>
      importInto(organization, [{ ...everything, authConfig: { username: 'u', password: 'the old password' } }]),
    );
    const incoming = { name: 'Newcomer', slug: 'all-of-it', url: 'https://new.example/', headers: { 'X-New': '1' } };

    it('skip leaves the existing one', async () => {
      const before_ = await bySlug('all-of-it');
      const result = await importInto(organization, [incoming, { name: 'Other', slug: 'other', url }]);
      expect(result).to.deep.equal({
        success: true,
        summary: { imported: 1, skipped: 1, overwritten: 0, failed: 0 },
        details: { imported: ['Other'], skipped: ['Newcomer'], overwritten: [], failed: [] },
        errors: [],
        warnings: [],
        destinations: [
          { id: before_.id, name: 'Newcomer', slug: 'all-of-it', status: 'skipped' },
          { id: (await bySlug('other')).id, name: 'Other', slug: 'other', status: 'created' },
        ],
      });
      expect(await bySlug('all-of-it')).to.deep.equal(before_);
    });

    it('rename gives the imported one a new slug with a numeric suffix', async () => {
      const before_ = await bySlug('all-of-it');
      await importInto(organization, [{ name: 'In the way', slug: 'all-of-it-3', url }]);
      const result = await importInto(organization, [incoming, incoming], 'rename');
      expect(result.details.imported).to.deep.equal(['Newcomer', 'Newcomer']);
      expect(result.destinations.map(({ slug }) => slug)).to.deep.equal(['all-of-it-2', 'all-of-it-4']);
      expect(await bySlug('all-of-it-2')).to.deep.include({ name: 'Newcomer', url: 'https://new.example/' });
      expect(await bySlug('all-of-it')).to.deep.equal(before_);
    });

    it('rename keeps slugs within their length', async () => {
      const slug = 'a'.repeat(63);
      const result = await importInto(
        organization,
        [
          { name: 'A', slug, url },
          { name: 'B', slug, url },
        ],
        'rename',
      );
      expect(result.destinations.map((destination) => destination.slug)).to.deep.equal([slug, `${'a'.repeat(61)}-2`]);
    });

    it('overwrite updates the existing one and keeps what the file does not say', async () => {
      const before_ = await bySlug('all-of-it');
      const result = await importInto(organization, [incoming], 'overwrite');
      expect(result.summary).to.deep.equal({ imported: 0, skipped: 0, overwritten: 1, failed: 0 });
      expect(result.destinations).to.deep.equal([
        { id: before_.id, name: 'Newcomer', slug: 'all-of-it', status: 'overwritten' },
      ]);
      const { updatedAt: _then, ...kept } = before_;
      expect(await bySlug('all-of-it')).to.deep.include({
        ...kept,
        name: 'Newcomer',
        url: 'https://new.example/',
        headers: { 'X-New': '1' },
      });
      expect((await exported(organization, '?includeSensitive=true')).destinations[0]?.authConfig).to.deep.equal({
        username: 'u',
        password: 'the old password',
      });
    });

    it('makes the slug of the name where the file has none, so that a second import meets the first', async () => {
      const item = { name: 'Acme CRM', url };
      expect((await importInto(organization, [item])).destinations[0]?.slug).to.equal('acme-crm');
      expect((await importInto(organization, [item])).summary.skipped).to.equal(1);
      expect((await importInto(organization, [item], 'rename')).destinations[0]?.slug).to.equal('acme-crm-2');
    });

    it('tells of items of one file that have the same slug', async () => {
      const twins = [
        { ...incoming, name: 'One', slug: 'twin' },
        { ...incoming, name: 'Two', slug: 'twin' },
      ];
      const skipped = await importInto(organization, twins, 'skip', { validateOnly: true });
      expect(skipped.summary).to.deep.include({ imported: 1, skipped: 1 });
      expect(skipped.warnings).to.deep.equal([
        'destinations[1] "Two": was skipped, because its slug is also that of destinations[0] "One"',
      ]);
      const overwritten = await importInto(organization, twins, 'overwrite');
      expect(overwritten.details).to.deep.include({ imported: ['One'], failed: ['Two'] });
      expect(overwritten.errors[0]).to.match(
        /^destinations\[1\] "Two": slug must not be that of destinations\[0\] "One"/,
      );
    });
  });

  describe('credentials that the file does not hold', () => {
    const redacted = { ...everything, authConfig: REDACTED, signingSecret: REDACTED, isActive: true };

    it('keeps the stored ones on overwrite', async () => {
      await importInto(organization, [everything]);
      const result = await importInto(organization, [{ ...redacted, name: 'Again' }], 'overwrite');
      expect(result).to.deep.include({ success: true, warnings: [] });
      expect((await exported(organization, '?includeSensitive=true')).destinations).to.deep.equal([
        { ...everything, name: 'Again', isActive: true },
      ]);
    });

    it('imports a new destination without them, disabled, with a warning; setting them completes it', async () => {
      const result = await importInto(organization, [
        redacted,
        { ...redacted, name: 'Free', slug: 'free', authType: 'none', signingSecret: null },
      ]);
      expect(result.summary).to.deep.include({ imported: 2, failed: 0 });
      expect(result.warnings).to.have.length(1);
      expect(result.warnings[0]).to.match(/^destinations\[0\] "Everything": was imported disabled/);
      expect(await bySlug('free')).to.deep.include({ enabled: true, authType: 'none' });
      const stored = await bySlug('all-of-it');
      expect(stored).to.deep.include({ enabled: false, authType: 'basic', authConfig: {}, signingSecret: null });
      // Exported again it still says that they are missing, even where credentials are asked for.
      const file = await exported(organization, '?includeSensitive=true');
      expect(file.destinations[0]).to.deep.include({ authConfig: REDACTED, isActive: false });
      const repeated = await importInto(organization, [redacted], 'overwrite');
      expect(repeated.summary.overwritten).to.equal(1);
      expect(repeated.warnings).to.have.length(2);
      expect((await bySlug('all-of-it')).enabled).to.equal(false);
      const { authConfig } = everything;
      expect(
        await organization.api.patch(`/api/destinations/${stored.id}`, { authConfig, enabled: true }),
      ).to.deep.include({
        enabled: true,
        authConfig: { username: 'u', password: '••••word' },
      });
    });

    it('does not turn credentials of one type into another', async () => {
      await importInto(organization, [everything]);
      const result = await importInto(organization, [{ ...redacted, authType: 'bearer' }], 'overwrite');
      expect(result.details.failed).to.deep.equal(['Everything']);
      expect(result.errors[0]).to.match(/^destinations\[0\] "Everything": authConfig must be sent whole/);
      expect((await exported(organization, '?includeSensitive=true')).destinations).to.deep.equal([everything]);
    });

    it('takes the masked values of ordinary answers as what is stored', async () => {
      await importInto(organization, [everything]);
      const masked = {
        ...everything,
        authConfig: { username: 'new', password: '••••word' },
        signingSecret: '••••LaSw',
      };
      await importInto(organization, [masked], 'overwrite');
      expect((await exported(organization, '?includeSensitive=true')).destinations[0]).to.deep.include({
        authConfig: { username: 'new', password: 'a long password' },
        signingSecret,
      });
      const result = await importInto(organization, [{ ...masked, slug: 'new' }]);
      expect(result.errors[0]).to.match(/authConfig.password must be the whole secret/);
    });
  });

  describe('validation', () => {
    const wrong: [string, unknown, RegExp][] = [
      ['a wrong url', { name: 'Bad', url: 'ftp://x' }, /^destinations\[1\] "Bad": url must be an absolute/],
      ['no url', { name: 'Bad' }, /"Bad": url is required/],
      ['a wrong slug', { name: 'Bad', url, slug: 'Not A Slug' }, /"Bad": slug must be lowercase/],
      ['an empty name', { name: ' ', url }, /^destinations\[1\] " ": name must not be empty/],
      ['no name', { url }, /^destinations\[1\]: name is required/],
      ['no object', 'Bad', /^destinations\[1\]: must be an object/],
      ['null', null, /^destinations\[1\]: must be an object/],
      ['a hop-by-hop header', { name: 'Bad', url, headers: { Host: 'x' } }, /headers.Host/],
      [
        'bearer without a token',
        { name: 'Bad', url, authType: 'bearer', authConfig: {} },
        /authConfig.token is required/,
      ],
      ['a time-out out of range', { name: 'Bad', url, timeoutMs: 60_001 }, /timeoutMs must be at most 60000/],
      ['text that cannot be stored', { name: 'Bad', url, description: 'a\0b' }, /description must not contain NUL/],
      ['isActive that is no boolean', { name: 'Bad', url, isActive: 'yes' }, /isActive must be true or false/],
      ['an unknown type', { name: 'Bad', url, type: 'ftp' }, /type must be http, s3/],
      [
        'a warehouse',
        { name: 'Bad', url: '', type: 's3', config: {} },
        /"Bad": Destinations of type s3 are not available yet/,
      ],
    ];
    for (const [what, item, message] of wrong) {
      it(`fails ${what} as the create endpoint does, and imports the others`, async () => {
        const items = [{ name: 'Good', url }, item, { name: 'Also good', url }];
        const result = await importInto(organization, items);
        expect(result.success).to.equal(false);
        expect(result.summary).to.deep.equal({ imported: 2, skipped: 0, overwritten: 0, failed: 1 });
        expect(result.errors[0]).to.match(message);
        expect((await exported(organization)).destinations.map(({ name }) => name)).to.deep.equal([
          'Good',
          'Also good',
        ]);
      });
    }

    it('refuses warehouses on the plan free as the create endpoint does', async () => {
      const free = await createOrganization({ plan: 'free' });
      const result = await importInto(free, [{ name: 'W', type: 'gcs', url: '' }]);
      expect(result.errors).to.deep.equal([
        'destinations[0] "W": Destinations of type gcs need a Pro or Business plan',
      ]);
    });

    it('a failed overwrite changes nothing of what is stored', async () => {
      await importInto(organization, [everything]);
      const result = await importInto(
        organization,
        [{ ...everything, name: 'Changed', authType: 'bearer', authConfig: { token: '' } }],
        'overwrite',
      );
      expect(result.details.failed).to.deep.equal(['Changed']);
      expect((await exported(organization, '?includeSensitive=true')).destinations).to.deep.equal([everything]);
    });

    it('answers 400 to a request of the wrong form', async () => {
      const body = { destinations: [], conflictStrategy: 'skip' };
      expect((await request(body)).body).to.deep.include({ success: true });
      expectInvalid(await request({ conflictStrategy: 'skip' }), 'destinations');
      expectInvalid(await request({ ...body, destinations: {} }), 'destinations');
      expectInvalid(await request({ destinations: [] }), 'conflictStrategy');
      expectInvalid(await request({ ...body, conflictStrategy: 'merge' }), 'conflictStrategy');
      expectInvalid(await request({ ...body, validateOnly: 'true' }), 'validateOnly');
      expectError(await request([]), 400, 'VALIDATION_ERROR');
      const many = Array.from({ length: 1001 }, (_, index) => ({ name: `D${index}`, url }));
      expectInvalid(await request({ ...body, destinations: many }), 'destinations');
      expect((await exported(organization)).destinations).to.deep.equal([]);
    });

    it('takes the envelope of any 1.x file and refuses a newer major version', async () => {
      const file = await exported(organization);
      for (const version of ['1.0', '1.7', '0.9', undefined]) {
        expect((await request({ ...file, version, conflictStrategy: 'skip' })).status).to.equal(200);
      }
      expectInvalid(await request({ ...file, version: '2.0', conflictStrategy: 'skip' }), 'version');
      expectInvalid(await request({ ...file, version: '10', conflictStrategy: 'skip' }), 'version');
    });
  });

  it('validateOnly reports the same and changes nothing', async () => {
    await importInto(organization, [everything, { name: 'Stays', slug: 'stays', url }]);
    const items = [
      { ...everything, name: 'Over', isActive: true },
      { name: 'New', slug: 'new', url, authType: 'bearer', authConfig: REDACTED },
      { name: 'Bad', url: 'x' },
    ];
    for (const strategy of ['skip', 'rename', 'overwrite']) {
      const before_ = await exported(organization, '?includeSensitive=true');
      const tried = await importInto(organization, items, strategy, { validateOnly: true });
      const after_ = await exported(organization, '?includeSensitive=true');
      expect({ ...after_, exportedAt: '' }).to.deep.equal({ ...before_, exportedAt: '' });
      const done = await importInto(organization, items, strategy);
      const ids = (result: ImportResult) =>
        result.destinations.map(({ id, status }) => (status === 'created' ? null : id));
      expect(ids(tried)).to.deep.equal(ids(done));
      expect(
        tried.destinations.every(({ id, status }) => (status === 'created' || status === 'failed') === (id === null)),
      ).to.equal(true);
      const withoutIds = ({ destinations, ...rest }: ImportResult) => ({
        ...rest,
        destinations: destinations.map(({ id: _id, ...destination }) => destination),
      });
      expect(withoutIds(tried)).to.deep.equal(withoutIds(done));
    }
  });

  it('imports at once leave one of each, whatever the strategy', async () => {
    const items = Array.from({ length: 40 }, (_, index) => ({ name: `D${index}`, slug: `d-${index}`, url }));
    const results = await Promise.all([
      importInto(organization, items),
      importInto(organization, items.toReversed()),
      importInto(organization, items, 'overwrite'),
    ]);
    const sum = (of: keyof ImportResult['summary']) => results.reduce((total, { summary }) => total + summary[of], 0);
    expect(sum('imported')).to.equal(40);
    expect(sum('skipped') + sum('overwritten')).to.equal(80);
    expect((await exported(organization)).destinations).to.have.length(40);
    await Promise.all([importInto(organization, items, 'rename'), importInto(organization, items, 'rename')]);
    const slugs = (await exported(organization)).destinations.map(({ slug }) => String(slug));
    expect(slugs.toSorted()).to.deep.equal(items.flatMap(({ slug }) => [slug, `${slug}-2`, `${slug}-3`]).toSorted());
  });

  it('goes on beside creates that take its slugs', async () => {
    const items = Array.from({ length: 30 }, (_, index) => ({ name: `R${index}`, slug: `r-${index}`, url }));
    const creates = items.toReversed().map((item) => organization.api.request('POST', '/api/destinations', item));
    const result = await importInto(organization, items);
    const created = (await Promise.all(creates)).filter(({ status }) => status === 201).length;
    expect(result.summary.imported + created).to.equal(30);
    expect(result.summary.skipped).to.equal(created);
    expect((await exported(organization)).destinations).to.have.length(30);
  });

  it('takes 1,000 items, new and overwritten', async function () {
    this.timeout(60_000);
    const items = Array.from({ length: 1000 }, (_, index) => ({
      ...everything,
      name: `Destination ${index}`,
      slug: `destination-${index}`,
    }));
    expect((await importInto(organization, items)).summary.imported).to.equal(1000);
    const changed = items.map((item) => ({ ...item, url, isActive: true }));
    expect((await importInto(organization, changed, 'overwrite')).summary.overwritten).to.equal(1000);
    expect((await exported(organization, '?includeSensitive=true')).destinations).to.deep.equal(changed);
  });

  it('never meets records of another organization', async () => {
    const other = await createOrganization();
    await importInto(other, [everything]);
    const result = await importInto(organization, [{ ...everything, name: 'Mine' }], 'overwrite');
    expect(result.summary).to.deep.include({ imported: 1, overwritten: 0 });
    expect((await exported(other, '?includeSensitive=true')).destinations).to.deep.equal([everything]);
  });

  it('a round trip between two organizations reproduces every member', async function () {
    this.timeout(120_000);
    const text = (unit: string, minLength = 1) =>
      fc.string({ unit: fc.constantFrom(...unit), minLength, maxLength: 12 });
    const secret = text('abcdefXYZ0123456789-_.~+/', 8);
    const delay = fc.integer({ min: 0, max: 86_400_000 });
    const auth = fc.oneof(
      fc.constant({ authType: 'none', authConfig: {} }),
      fc.record({ authType: fc.constant('basic'), authConfig: fc.record({ username: secret, password: secret }) }),
      fc.record({ authType: fc.constant('bearer'), authConfig: fc.record({ token: secret }) }),
      fc.record({
        authType: fc.constant('api_key'),
        authConfig: fc.record({ headerName: fc.constantFrom('X-Key', 'api-key'), key: secret }),
      }),
      fc.record({
        authType: fc.constant('custom_header'),
        authConfig: fc.record({ headerName: fc.constantFrom('X-One', 'x-two'), headerValue: secret }),
      }),
    );
    const item = fc
      .record({
        name: fc
          .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
          .filter((name) => name.trim() !== '' && name.length <= 255 && !name.includes('\0')),
        description: fc.option(fc.string({ unit: 'grapheme', maxLength: 60 }).filter((line) => !line.includes('\0'))),
        url: text('abcdef').map((path) => `https://receiver.example/${path}?q=%20#x`),
        method: fc.constantFrom('POST', 'PUT', 'PATCH'),
        headers: fc.dictionary(
          text('abcdef').map((name) => `X-${name}`),
          text('abc äöü"<>'.trim()),
          { maxKeys: 4 },
        ),
        auth,
        signingSecret: fc.option(
          fc.uint8Array({ minLength: 24, maxLength: 64 }).map((key) => `whsec_${Buffer.from(key).toString('base64')}`),
        ),
        timeoutMs: fc.integer({ min: 1, max: 60_000 }),
        rateLimitPerMinute: fc.option(fc.integer({ min: 1, max: 1_000_000 })),
        retryPolicy: fc.record({
          maxRetries: fc.integer({ min: 0, max: 50 }),
          initialDelay: delay,
          maxDelay: delay,
          backoffMultiplier: fc.double({ min: 1, max: 10, noNaN: true }),
        }),
        isActive: fc.boolean(),
      })
      .map(({ auth: how, ...rest }) => ({ ...rest, ...how, type: 'http' }));
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 12 }), async (items) => {
        const file = items.map((one, index) => ({ ...one, slug: `d-${index}` }));
        const [from, to] = [await createOrganization(), await createOrganization()];
        expect((await importInto(from, file)).errors).to.deep.equal([]);
        const first = await exported(from, '?includeSensitive=true');
        expect(first.destinations).to.deep.equal(file);
        expect(await importInto(to, first.destinations)).to.deep.include({ success: true, warnings: [] });
        expect((await exported(to, '?includeSensitive=true')).destinations).to.deep.equal(file);
      }),
      { numRuns: 20 },
    );
  });
});
