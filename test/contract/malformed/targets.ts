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

/** The example of the operation that has most members. */
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
    body: exampleOf(method, path),
  })),
  signIn,
];

/** Endpoints that read a body. */
export const writing = targets.filter(
  (target): target is Target & { body: Record<string, unknown> } => target.body !== null,
);
