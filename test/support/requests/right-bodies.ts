// Every operation of the management API with a body that it takes: its largest example.
import { managementOperations } from '../../../api/request/operations.ts';
import { managementEndpoints } from './endpoints.ts';

export interface Target {
  method: string;
  /** With `:orgId` and `:id` to be filled in. */
  path: string;
  /** Null for endpoints that read none. */
  body: Record<string, unknown> | null;
}

function exampleOf(method: string, path: string): Record<string, unknown> | null {
  const operation = managementOperations.find(
    (each) => each.method === method.toLowerCase() && each.path.replaceAll(/\{(\w+)\}/g, ':$1') === path,
  );
  const examples = Object.values(operation?.body?.examples ?? {}) as Record<string, unknown>[];
  const [largest = null] = examples.toSorted((one, other) => Object.keys(other).length - Object.keys(one).length);
  return largest;
}

/** It makes a key and takes none, so it is not among those behind one. The code is right in form only. */
const signIn: Target = { method: 'POST', path: '/api/auth/sign-in', body: { code: 'A'.repeat(43) } };

export const targets: Target[] = [
  ...managementEndpoints().map(({ method, path }) => ({ ...{ method, path }, body: exampleOf(method, path) })),
  signIn,
];
