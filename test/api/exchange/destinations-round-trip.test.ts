// Files of destinations from one organization to another, small and large.
import { expect } from 'chai';
import fc from 'fast-check';
import { createOrganization, type TestOrganization } from '../../support/service.ts';
import { everything, exported, importInto, url } from './destination-files.ts';

describe('Files of destinations', () => {
  let organization: TestOrganization;
  beforeEach(async () => {
    organization = await createOrganization();
  });

  it('takes 1,000 items, new and overwritten', async () => {
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

  it('a round trip between two organizations reproduces every member', async () => {
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
        forwardHeaders: fc.option(
          fc.oneof(fc.constantFrom('all', 'none'), fc.array(fc.constantFrom('X-A', 'x-real-ip'))),
        ),
        forwardQuery: fc.boolean(),
        forwardPath: fc.boolean(),
        rateLimitPerMinute: fc.option(fc.integer({ min: 1, max: 1_000_000 })),
        maxConcurrency: fc.option(fc.integer({ min: 1, max: 1000 })),
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
        // A second import changes nothing.
        for (const strategy of ['skip', 'overwrite']) {
          expect(await importInto(to, first.destinations, strategy)).to.deep.include({ success: true, warnings: [] });
          expect((await exported(to, '?includeSensitive=true')).destinations).to.deep.equal(file);
        }
      }),
      { numRuns: 20 },
    );
  });
});
