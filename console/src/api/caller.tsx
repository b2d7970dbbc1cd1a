// Whose key it is, and what it may do. What a key may not do has no button.
import type { Caller } from '@hookyard/client';
import { createContext, type ReactNode, useContext } from 'react';

const Context = createContext<Caller | null>(null);

export function CallerProvider({ caller, children }: { caller: Caller; children: ReactNode }) {
  return <Context value={caller}>{children}</Context>;
}

export function useCaller(): Caller {
  const caller = useContext(Context);
  if (!caller) throw new Error('useCaller needs a CallerProvider');
  return caller;
}

type Scope = Caller['key']['scopes'][number];
/** What an operation asks for. */
export type SingleScope = Exclude<Scope, 'read' | 'write'>;

/** Whether the key may do what needs this scope; all may do what needs none. */
export function useMay(scope: SingleScope | undefined): boolean {
  const caller = useContext(Context);
  return scope === undefined || (caller !== null && mayWith(caller.key.scopes, scope));
}

/** Whether scopes allow what needs one; `read` and `write` stand for all of theirs (docs/operate/security.md). */
export function mayWith(scopes: readonly Scope[], needed: SingleScope): boolean {
  const group: Scope = needed.endsWith(':read') && needed !== 'secrets:read' ? 'read' : 'write';
  return scopes.includes(needed) || scopes.includes(group);
}
