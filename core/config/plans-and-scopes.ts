// What an organization may use, and what an API key may do.
export const PLANS = ['free', 'pro', 'business'] as const;
export type Plan = (typeof PLANS)[number];

/** The groups: each stands for many scopes, and for those of kinds of records that are added later. */
const GROUPS = ['read', 'write'] as const;
type Group = (typeof GROUPS)[number];

const SINGLE_SCOPES = [
  'sources:read',
  'sources:write',
  'destinations:read',
  'destinations:write',
  'routes:read',
  'routes:write',
  'filters:read',
  'filters:write',
  'transforms:read',
  'transforms:write',
  'schemas:read',
  'schemas:write',
  'events:read',
  'events:write',
  'payloads:read',
  'deliveries:read',
  'deliveries:write',
  'issues:read',
  'issues:write',
  'alerts:read',
  'alerts:write',
  'keys:read',
  'keys:write',
  'organization:read',
  'audit:read',
  'secrets:read',
] as const;
export type SingleScope = (typeof SINGLE_SCOPES)[number];

export const SCOPES = [...GROUPS, ...SINGLE_SCOPES] as const;
export type Scope = (typeof SCOPES)[number];

export type Resource = SingleScope extends `${infer Name}:${string}` ? Name : never;

export function isSingleScope(text: string): text is SingleScope {
  return (SINGLE_SCOPES as readonly string[]).includes(text);
}

/**
 * The group that holds a scope. Secrets in clear are with `write`: who may replace a secret may see it, a reader may
 * not.
 */
export function groupOf(scope: SingleScope): Group {
  return scope.endsWith(':read') && scope !== 'secrets:read' ? 'read' : 'write';
}

export function allows(held: readonly string[], needed: SingleScope): boolean {
  return held.includes(needed) || held.includes(groupOf(needed));
}

/**
 * The first of these scopes that a key with others lacks; undefined when it has them all. A group is more than all
 * scopes that it holds today, so only the group itself has it.
 */
export function lacking(held: readonly string[], wanted: readonly string[]): string | undefined {
  return wanted.find((scope) => !(isSingleScope(scope) ? allows(held, scope) : held.includes(scope)));
}
