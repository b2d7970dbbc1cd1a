import type { Caller } from '@hookyard/client';
import type { SingleScope } from '../api/caller.tsx';

type Scope = Caller['key']['scopes'][number];

/** Whether scopes allow what needs one; `read` and `write` stand for all of theirs (docs/operate/security.md). */
export function mayWith(scopes: readonly Scope[], needed: SingleScope): boolean {
  const group: Scope = needed.endsWith(':read') && needed !== 'secrets:read' ? 'read' : 'write';
  return scopes.includes(needed) || scopes.includes(group);
}
