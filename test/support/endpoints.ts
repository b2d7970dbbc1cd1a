// Every endpoint of the API, read from the routers themselves, so that none is forgotten.
import { managementRouter } from '../../api/app.ts';
import type { ApiDeps } from '../../api/context.ts';

export interface Endpoint {
  method: string;
  /** With parameters as `:id`. */
  path: string;
}

/** The endpoints behind an API key; HEAD, which comes with every GET, is left out. */
export function managementEndpoints(): Endpoint[] {
  // Mounting needs no server; the handlers are never called on this router.
  const router = managementRouter({ settings: {} } as ApiDeps);
  return router.stack.flatMap((layer) =>
    layer.methods
      .filter((method) => method !== 'HEAD')
      .map((method) => ({ method, path: typeof layer.path === 'string' ? layer.path : String(layer.path) })),
  );
}

/** A path with its parameters filled in; one that is not named gets an id of nothing. */
export function pathOf(endpoint: Endpoint, params: Record<string, string>): string {
  return endpoint.path.replace(/:(\w+)/g, (_all, name: string) => params[name] ?? 'dst_00000000000000000000000000');
}
