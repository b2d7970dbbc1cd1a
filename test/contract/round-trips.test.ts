// Export and import over generated records: what comes out of an organization goes into another one, and is the same.
import { expect } from 'chai';
import fc from 'fast-check';
import type { Json } from '../support/api-client.ts';
import { makeRoute } from '../support/api-records.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';

const SEED = 20_261_121;

type Item = Json & { id: string };

describe('Export and import', () => {
  const secret = fc.stringMatching(/^[A-Za-z0-9]{8,20}$/);
  const auth = fc.oneof(
    fc.constant({ authType: 'none', authConfig: {} }),
    fc.record({ authType: fc.constant('basic'), authConfig: fc.record({ username: secret, password: secret }) }),
    fc.record({ authType: fc.constant('bearer'), authConfig: fc.record({ token: secret }) }),
    fc.record({
      authType: fc.constant('api_key'),
      authConfig: fc.record({ headerName: fc.constant('X-Key'), key: secret }),
    }),
  );
  const name = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
    .filter((text) => text.trim() !== '' && text.isWellFormed() && !text.includes('\0'));
  const destination = fc
    .tuple(
      auth,
      fc.record({
        name,
        url: fc.webUrl({ validSchemes: ['http', 'https'] }).filter((url) => URL.canParse(url)),
        method: fc.constantFrom('POST', 'PUT', 'PATCH'),
        headers: fc.dictionary(fc.stringMatching(/^X-[A-Za-z]{1,8}$/), fc.stringMatching(/^[!-~]{1,20}$/), {
          maxKeys: 3,
        }),
        timeoutMs: fc.integer({ min: 1, max: 60_000 }),
        rateLimitPerMinute: fc.option(fc.integer({ min: 1, max: 1000 })),
        maxConcurrency: fc.option(fc.integer({ min: 1, max: 1000 })),
        enabled: fc.boolean(),
        retryPolicy: fc.record({
          maxRetries: fc.nat(50),
          initialDelay: fc.nat(1000),
          maxDelay: fc.nat(90_000),
          backoffMultiplier: fc.integer({ min: 1, max: 10 }),
        }),
      }),
    )
    .map(([credentials, rest]) => ({ ...rest, ...credentials }));
  const route = fc.record({
    name,
    priority: fc.integer({ min: -1000, max: 1000 }),
    enabled: fc.boolean(),
    filterConditions: fc.option(
      fc.constantFrom(
        [{ field: 'payload.kind', operator: 'equals', value: 'paid' }],
        [{ field: 'method', operator: 'exists' }],
      ),
    ),
    filterLogic: fc.constantFrom('AND', 'OR'),
    failoverAfterAttempts: fc.integer({ min: 1, max: 51 }),
    circuitCooldownSeconds: fc.integer({ min: 1, max: 86_400 }),
    circuitFailureThreshold: fc.integer({ min: 1, max: 10_000 }),
    circuitProbeSuccessThreshold: fc.integer({ min: 1, max: 1000 }),
    notifyOnFailure: fc.boolean(),
    notifyOnSuccess: fc.boolean(),
    notifyOnRecovery: fc.boolean(),
    notifyEmails: fc.option(fc.constantFrom('a@ops.example', 'a@ops.example, b@ops.example')),
    expectedResponse: fc.option(fc.constantFrom({ statusCodes: [200, 204] }, { bodyContains: 'ok' })),
  });

  const file = (organization: TestOrganization, path: string) => organization.api.get<Json>(path);

  it('gives the same destinations in another organization, whatever is in them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(destination, { minLength: 1, maxLength: 6 }), async (destinations) => {
        const [from, to] = [await createOrganization(), await createOrganization()];
        for (const body of destinations) await from.api.create('/api/destinations', body);
        const exported = await file(from, '/api/destinations/export?includeSensitive=true');
        const result = await to.api.post<Json>('/api/destinations/import', { ...exported, conflictStrategy: 'skip' });
        expect(result).to.include({ success: true });
        const again = await file(to, '/api/destinations/export?includeSensitive=true');
        expect(again.destinations).to.deep.equal(exported.destinations);
        // Once more: nothing new, whatever the strategy leaves as it is.
        for (const conflictStrategy of ['skip', 'overwrite']) {
          await to.api.post('/api/destinations/import', { ...exported, conflictStrategy });
          expect((await file(to, '/api/destinations/export?includeSensitive=true')).destinations).to.deep.equal(
            exported.destinations,
          );
        }
      }),
      { seed: SEED, numRuns: 12 },
    );
  });

  it('gives the same routes in an organization that has what they name', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(route, { minLength: 1, maxLength: 5, selector: (made) => made.name }),
        async (routes) => {
          const [from, to] = [await createOrganization(), await createOrganization()];
          for (const { api, base } of [from, to]) {
            await api.create(`${base}/sources`, { name: 'S', slug: 'source' });
            for (let n = 0; n < routes.length + 1; n += 1) {
              await api.create('/api/destinations', { name: 'D', slug: `end-${n}`, url: 'https://d.example' });
            }
          }
          const { data } = await from.api.list<Item>('/api/destinations');
          const sourceId = (await from.api.list<Item>(`${from.base}/sources`)).data[0]?.id ?? '';
          for (const [index, body] of routes.entries()) {
            const [primary, failover] = [data[index]?.id ?? '', data.at(-1)?.id ?? ''];
            await makeRoute(from, sourceId, [primary], { ...body, failoverDestinationIds: [failover] });
          }
          const exported = await file(from, '/api/routes/export');
          const result = await to.api.post<Json>('/api/routes/import', { ...exported, conflictStrategy: 'skip' });
          expect(result).to.deep.include({ imported: routes.length, errors: [] });
          expect((await file(to, '/api/routes/export')).routes).to.deep.equal(exported.routes);
          await to.api.post('/api/routes/import', { ...exported, conflictStrategy: 'overwrite' });
          expect((await file(to, '/api/routes/export')).routes).to.deep.equal(exported.routes);
        },
      ),
      { seed: SEED, numRuns: 8 },
    );
  });
});
