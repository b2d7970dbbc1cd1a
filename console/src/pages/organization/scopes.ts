// What a key may hold: the groups, and the single scopes by the kind of records.
import type { ApiKey } from 'hookyard/client';

export type Scope = ApiKey['scopes'][number];

const KINDS: [records: string, scopes: Scope[]][] = [
  ['Sources', ['sources:read', 'sources:write']],
  ['Destinations', ['destinations:read', 'destinations:write']],
  ['Routes', ['routes:read', 'routes:write']],
  ['Filters', ['filters:read', 'filters:write']],
  ['Transforms', ['transforms:read', 'transforms:write']],
  ['Schemas', ['schemas:read', 'schemas:write']],
  ['Events', ['events:read', 'events:write', 'payloads:read']],
  ['Deliveries', ['deliveries:read', 'deliveries:write']],
  ['Issues', ['issues:read', 'issues:write']],
  ['Alerts', ['alerts:read', 'alerts:write']],
  ['Keys', ['keys:read', 'keys:write']],
  ['Organization', ['organization:read', 'audit:read', 'secrets:read']],
];

/** For a field of choices. */
export const SCOPE_CHOICES = KINDS.map(([group, items]) => ({
  group,
  items: items.map((value) => ({ value, label: value })),
}));
