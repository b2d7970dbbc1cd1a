// Files of routes, as tests export and import them.
import type { Json } from '../../support/api-client.ts';
import { makeSource } from '../../support/api-records.ts';
import { createOrganization, type TestOrganization } from '../../support/service.ts';

export interface Envelope {
  version: string;
  exportedAt: string;
  organizationSlug: string;
  routes: Json[];
}
export interface ImportResult {
  imported: number;
  skipped: number;
  overwritten: number;
  errors: string[];
  warnings: string[];
  routes: { id: string | null; name: string; status: string }[];
}

const url = 'https://receiver.example/hooks';
export const conditions = [
  { field: 'payload.kind', operator: 'equals', value: 'paid' },
  { field: 'a', operator: 'in', value: ['x', 1] },
];

/** An item with every member. */
export const everything = {
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
  ordering: { key: 'payload.order.id', missingKey: 'together', onExhausted: 'continue', holdSeconds: 3600 },
  allowOwnAddress: true,
};
/** What an item without settings is exported as. */
export const plain = {
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
  ordering: null,
  notifyOnRecovery: false,
  notifyEmails: null,
  failureThreshold: 5,
  failoverDestinationSlugs: [],
  failoverAfterAttempts: 3,
  circuitCooldownSeconds: 300,
  circuitFailureThreshold: 5,
  circuitProbeSuccessThreshold: 2,
  expectedResponse: null,
  allowOwnAddress: false,
};
export const minimal = { name: 'Plain', sourceSlug: 'shop', destinationSlug: 'crm' };

/** A new organization that has everything that these items name, and the ids of that by slug. */
export async function furnished(): Promise<{ organization: TestOrganization; ids: Record<string, string> }> {
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
  const transform = await made.api.create('/api/transforms', { name: 'S', slug: 'shape', type: 'jsonata', code: '$' });
  const named = [...sources.map(({ slug, id }) => [slug, id]), ...data.map(({ name, id }) => [name, id])];
  return {
    organization: made,
    ids: { ...Object.fromEntries(named), paid: filter.id, order: schema.id, shape: transform.id },
  };
}

export const exported = (of: TestOrganization, query = ''): Promise<Envelope> =>
  of.api.get(`/api/routes/export${query}`);

export const importRoutes = (
  to: TestOrganization,
  routes: unknown[],
  conflictStrategy = 'skip',
  options: object = {},
): Promise<ImportResult> => to.api.post('/api/routes/import', { routes, conflictStrategy, ...options });

/** A route that an import names in its result, whole. */
export const routeOf = (of: TestOrganization, result: ImportResult, index = 0): Promise<Json> =>
  of.api.get(`/api/routes/${result.routes[index]?.id}`);
