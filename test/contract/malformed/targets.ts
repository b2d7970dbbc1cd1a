// What malformed requests are aimed at: every endpoint, with a body that would be right.
import { managementOperations } from '../../../api/request/operations.ts';
import { managementEndpoints } from '../../support/requests/endpoints.ts';

export interface Target {
  method: string;
  /** With `:orgId` and `:id` to be filled in. */
  path: string;
  /** A body of the right form; null for endpoints that read none. */
  body: Record<string, unknown> | null;
}

const id = (prefix: string) => `${prefix}_${'0'.repeat(26)}`;
const conditions = [{ field: 'payload.kind', operator: 'equals', value: 'paid' }];
const retryPolicy = { maxRetries: 1, initialDelay: 1, maxDelay: 1, backoffMultiplier: 1 };
const destination = {
  ...{ name: 'D', url: 'https://d.example', type: 'http', method: 'POST', headers: { 'X-A': '1' }, timeoutMs: 1000 },
  forwardHeaders: ['X-B'],
  ...{ forwardQuery: true, forwardPath: false },
  ...{
    authType: 'bearer',
    authConfig: { token: 'token' },
    rateLimitPerMinute: 5,
    retryPolicy,
    enabled: true,
    slug: 'd',
  },
};
const organizationDestination = {
  name: 'D',
  url: 'https://d.example',
  description: 'd',
  headers: {},
  retryPolicy,
  enabled: true,
};
const source = {
  ...{ name: 'S', slug: 's', description: 'd', enabled: true, allowPaths: false },
  ...{
    verificationConfig: { type: 'github', secret: 'shared with github' },
    idempotencyKey: { header: 'X-Id', windowSeconds: 60 },
  },
};
const route = {
  ...{
    name: 'R',
    sourceId: id('src'),
    destinationIds: [id('dst')],
    description: 'd',
    priority: 1,
    filterConditions: conditions,
  },
  ...{ filterLogic: 'AND', failoverDestinationIds: [id('dst')], failoverAfterAttempts: 1, circuitCooldownSeconds: 1 },
  ...{
    circuitFailureThreshold: 1,
    circuitProbeSuccessThreshold: 1,
    notifyOnFailure: true,
    notifyEmails: 'a@b.example',
  },
  ...{ expectedResponse: { statusCodes: [200], bodyContains: 'ok' }, enabled: true, allowOwnAddress: false },
};
const { sourceId: _source, ...routePatch } = route;
const filter = { name: 'F', slug: 'f', conditions, logic: 'AND' };
const schema = { name: 'S', slug: 's', schema: { type: 'object' } };
const transform = { name: 'T', slug: 't', type: 'jsonata', code: '$', outputContentType: 'application/json' };
const sample = { payload: {}, headers: { a: 'b' }, query: 'a=b', method: 'POST' };
const alertChannel = {
  ...{ name: 'A', type: 'webhook', enabled: true, kinds: ['circuit_open'], afterCount: 1, digestMinutes: 1 },
  config: { url: 'https://a.example', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  ...{ sourceIds: [id('src')], routeIds: [id('rte')], destinationIds: [id('dst')], throttleMinutes: 1 },
  ...{ onAcknowledged: true, onResolved: true, quietHours: { from: '22:00', to: '07:00', timeZone: 'UTC' } },
};
// The slug or name of the path.
const declared = (body: object) => ({ ...body, slug: 'declared' });
const importOf = (member: string, item: object) => ({ [member]: [item], conflictStrategy: 'skip', validateOnly: true });
const { enabled: _enabled, ...destinationItem } = destination;
const routeItem = { name: 'R', sourceSlug: 's', destinationSlug: 'd', priority: 1, isActive: true };

/** Where the example with most members, of the operation, would not do. */
const bodies: Record<string, Record<string, unknown>> = {
  'POST /api/api-keys': { name: 'K', scopes: ['read'], expiresAt: '2999-01-01T00:00:00Z' },
  'POST /api/organizations/:orgId/sources': source,
  'PATCH /api/organizations/:orgId/sources/:id': source,
  'PUT /api/organizations/:orgId/sources/by-slug/:slug': declared(source),
  'PUT /api/destinations/by-slug/:slug': declared(destination),
  'PUT /api/routes/by-name/:name': { ...route, name: 'declared' },
  'PUT /api/filters/by-slug/:slug': declared(filter),
  'PUT /api/schemas/by-slug/:slug': declared(schema),
  'PUT /api/transforms/by-slug/:slug': declared(transform),
  'POST /api/notification-recipients/resend': { address: 'ops@example.com' },
  'POST /api/alert-channels': alertChannel,
  'PATCH /api/alert-channels/:id': alertChannel,
  'POST /api/destinations/import': importOf('destinations', destinationItem),
  'POST /api/routes/import': importOf('routes', routeItem),
  'POST /api/destinations': destination,
  'PATCH /api/destinations/:id': destination,
  'POST /api/organizations/:orgId/destinations': organizationDestination,
  'PATCH /api/organizations/:orgId/destinations/:id': organizationDestination,
  'POST /api/routes': route,
  'PATCH /api/routes/:id': routePatch,
  'POST /api/filters': filter,
  'PATCH /api/filters/:id': filter,
  'POST /api/filters/test': { ...sample, conditions, logic: 'AND' },
  'POST /api/filters/:id/test': sample,
  'POST /api/schemas': schema,
  'PATCH /api/schemas/:id': schema,
  'POST /api/schemas/test': { schema: { type: 'object' }, payload: {} },
  'POST /api/schemas/:id/validate': { payload: {} },
  'POST /api/transforms': transform,
  'PATCH /api/transforms/:id': transform,
  'POST /api/transforms/test': { type: 'jsonata', code: '$', ...sample },
  'POST /api/transforms/:id/test': sample,
  'POST /api/deliveries/bulk': { action: 'cancel', status: ['retrying'], limit: 10 },
  'PATCH /api/issues/:id': { state: 'acknowledged' },
  'POST /api/issues/:id/retry': { before: id('dlv'), dryRun: true },
  'POST /api/organizations/:orgId/events/:id/replay': { destinationIds: [id('dst')] },
  'POST /api/organizations/:orgId/events/replay': {
    ...{ sourceId: id('src'), status: 'failed', from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', search: 'a' },
    ...{ destinationIds: [id('dst')], ratePerSecond: 5, dryRun: true },
  },
};

function exampleOf(method: string, path: string): Record<string, unknown> | null {
  const operation = managementOperations.find(
    (each) => each.method === method.toLowerCase() && each.path.replaceAll(/\{(\w+)\}/g, ':$1') === path,
  );
  const examples = Object.values(operation?.body?.examples ?? {}) as Record<string, unknown>[];
  const [largest = null] = examples.toSorted((one, other) => Object.keys(other).length - Object.keys(one).length);
  return largest;
}

/** Members in which hardly anything is a mistake. */
export const ANYTHING = ['payload', 'query', 'schema'];

/** It makes a key and takes none, so it is not among those behind one. The code is right in form only. */
const signIn: Target = { method: 'POST', path: '/api/auth/sign-in', body: { code: 'A'.repeat(43) } };

export const targets: Target[] = [
  ...managementEndpoints().map(({ method, path }) => ({
    ...{ method, path },
    body: bodies[`${method} ${path}`] ?? exampleOf(method, path),
  })),
  signIn,
];

/** Endpoints that read a body. */
export const writing = targets.filter(
  (target): target is Target & { body: Record<string, unknown> } => target.body !== null,
);
