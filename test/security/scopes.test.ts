// A key can do what its scopes say and nothing else: every operation of the description, with a key that has every
// scope but the one that it needs, and with a key that has only this one.
import { expect } from 'chai';
import { apiDocument } from '../../api/openapi/document.ts';
import { SCOPES } from '../../core/config/plans-and-scopes.ts';
import { type ApiClient, expectError } from '../support/api-client.ts';
import { clientWith, deliveryOf, ingest, makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const SINGLE = SCOPES.filter((scope) => scope.includes(':'));
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

interface Operation {
  method: string;
  path: string;
  scopes: string[];
}

const described = apiDocument() as unknown as { paths: Record<string, Record<string, { 'x-scopes'?: string[] }>> };

/** Every operation that needs a key. */
const operations: Operation[] = Object.entries(described.paths).flatMap(([path, item]) =>
  METHODS.flatMap((method) => {
    const scopes = item[method]?.['x-scopes'];
    return scopes ? [{ method: method.toUpperCase(), path, scopes }] : [];
  }),
);

// Found here by the path and not as the API does, so that a wrong tag is seen.
const RECORDS: Record<string, string> = {
  'api-keys': 'keys',
  'alert-channels': 'alerts',
  'notification-recipients': 'routes',
  providers: 'sources',
  metrics: 'deliveries',
};
const OTHERS: Record<string, string[]> = {
  'GET /api/auth/me': [],
  'GET /api/organizations/{orgId}/events/{id}/payload': ['payloads:read'],
  'POST /api/routes/{id}/preview': ['payloads:read'],
  'GET /api/organizations/{orgId}/sources/{id}/refusals': ['events:read'],
};

function expectedScopes({ method, path }: Operation): string[] {
  const word = path.replace('/api/organizations/{orgId}', '/api').split('/')[2] ?? '';
  return OTHERS[`${method} ${path}`] ?? [`${RECORDS[word] ?? word}:${method === 'GET' ? 'read' : 'write'}`];
}

describe('Scopes', () => {
  const organization = useOrganization();

  const made = new Map<string, Promise<ApiClient>>();
  const withScopes = (...scopes: string[]) => {
    const key = scopes.join(' ');
    const client = made.get(key) ?? clientWith(organization, ...scopes);
    made.set(key, client);
    return client;
  };
  const pathOf = (path: string) => path.replace('{orgId}', organization.id).replace('{id}', `xyz_${'0'.repeat(26)}`);
  const send = (client: ApiClient, { method, path }: Operation) =>
    client.request(method, pathOf(path), method === 'GET' || method === 'DELETE' ? undefined : {});

  for (const operation of operations) {
    const { method, path, scopes } = operation;
    it(`${method} ${path} needs ${scopes.join() || 'only a key'}`, async () => {
      expect(scopes).to.deep.equal(expectedScopes(operation));
      const [scope] = scopes;
      if (scope === undefined) {
        expect((await send(await withScopes('filters:write'), operation)).status).to.not.equal(403);
        return;
      }
      const without = await withScopes(...SINGLE.filter((other) => other !== scope));
      expectError(await send(without, operation), 403, 'FORBIDDEN', new RegExp(`"${scope}"`));
      expect((await send(await withScopes(scope), operation)).status).to.not.equal(403);
      const group = scope.endsWith(':read') ? 'read' : 'write';
      expect((await send(await withScopes(group), operation)).status).to.not.equal(403);
      const otherGroup = await send(await withScopes(group === 'read' ? 'write' : 'read'), operation);
      expectError(otherGroup, 403, 'FORBIDDEN', new RegExp(`"${group}"`));
    });
  }

  it('that are in the description are all there are', () => {
    const used = new Set(operations.flatMap(({ scopes }) => scopes));
    // Secrets are read with a parameter of an export.
    expect(SINGLE.filter((scope) => !used.has(scope))).to.deep.equal(['secrets:read']);
  });

  it('for events do not show what is in them: payloads have a scope of their own', async () => {
    const source = await makeSource(organization);
    const event = await ingest(organization, source, '{"secret":"of the payload"}');
    const events = await withScopes('events:read', 'events:write');
    const base = `${organization.base}/events`;
    for (const asked of [`/${event}/payload`, `/${event}?includePayload=true`, '?search=of%20the%20payload']) {
      const path = base + asked;
      expectError(await events.request('GET', path), 403, 'FORBIDDEN', /"payloads:read"/);
      const both = await withScopes('events:read', 'payloads:read');
      expect((await both.request('GET', path)).status, path).to.equal(200);
    }
    // Counting would tell what is in them, one letter after the other.
    const counted = { search: 'of the p', dryRun: true };
    expectError(await events.request('POST', `${base}/replay`, counted), 403, 'FORBIDDEN', /"payloads:read"/);
    await events.get(`${base}/${event}`);
    await events.get(base);
  });

  it('for events do not show deliveries', async () => {
    const source = await makeSource(organization);
    const destination = await makeDestination(organization, {});
    await makeRoute(organization, source.id, [destination.id]);
    const event = await ingest(organization, source, '{}');
    const { id } = await deliveryOf(organization, event);
    const events = await withScopes('events:read');
    const path = `${organization.base}/events/${event}?includeDeliveries=true`;
    expectError(await events.request('GET', path), 403, 'FORBIDDEN', /"deliveries:read"/);
    expectError(await events.request('GET', `/api/deliveries/${id}`), 403, 'FORBIDDEN', /"deliveries:read"/);
    await (await withScopes('events:read', 'deliveries:read')).get(path);
  });

  it('for destinations do not show credentials', async () => {
    const destinations = await withScopes('destinations:read', 'destinations:write');
    const path = '/api/destinations/export?includeSensitive=true';
    expectError(await destinations.request('GET', path), 403, 'FORBIDDEN', /"secrets:read"/);
    await (await withScopes('destinations:read', 'secrets:read')).get(path);
    expectError(await (await withScopes('read')).request('GET', path), 403, 'FORBIDDEN', /"secrets:read"/);
  });
});
