// Every endpoint of the API, read from the routers themselves, so that none is forgotten.
import { managementRouter } from '../../../api/service/app.ts';
import type { ApiDeps } from '../../../api/request/context.ts';
import { shortPath } from '../../../api/request/operation.ts';
import { TUNING } from '../../../core/config/tuning.ts';

export interface Endpoint {
  method: string;
  /** With parameters as `:id`. */
  path: string;
}

/** The endpoints behind an API key, each once; HEAD, which comes with every GET, is left out. */
export function managementEndpoints(): Endpoint[] {
  // Mounting needs no server; the handlers are never called on this router.
  const router = managementRouter({ settings: {}, tuning: TUNING } as ApiDeps);
  const endpoints = router.stack.flatMap(({ methods, path }) =>
    methods.filter((method) => method !== 'HEAD').map((method) => ({ method, path: String(path) })),
  );
  const short = new Set(endpoints.map(({ path }) => shortPath(path)));
  return endpoints.filter(({ path }) => !short.has(path));
}

/** A path with its parameters filled in; one that is not named gets an id of nothing. */
export function pathOf(endpoint: Endpoint, params: Record<string, string>): string {
  return endpoint.path.replace(/:(\w+)/g, (_all, name: string) => params[name] ?? 'dst_00000000000000000000000000');
}
