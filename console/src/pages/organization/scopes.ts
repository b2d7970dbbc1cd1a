// The single scopes that a key may hold.
import type { ApiKey } from '@hookyard/client';
import type { SingleScope } from '../../api/caller.tsx';

export type Scope = ApiKey['scopes'][number];

const RECORDS = [
  ...(['sources', 'destinations', 'routes', 'filters', 'transforms', 'schemas'] as const),
  ...(['events', 'deliveries', 'issues', 'alerts', 'keys'] as const),
];
export const SCOPES: SingleScope[] = [
  ...RECORDS.flatMap((name) => [`${name}:read`, `${name}:write`] as const),
  ...(['payloads:read', 'organization:read', 'audit:read', 'secrets:read'] as const),
];
