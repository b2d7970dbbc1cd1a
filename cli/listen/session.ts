// What hookyard listen makes in the service for as long as it runs: a destination, a route, and the source if there was none.
import { hostname } from 'node:os';
import type { Client, Source } from 'hookyard/client';
import { CliError, EXIT } from '../errors.ts';
import { findSource } from '../input.ts';
import { PATH_START } from './receiver.ts';

export interface Session {
  source: Source;
  sourceCreated: boolean;
  /** Removes what was made. @returns what could not be removed, and why */
  remove(): Promise<string[]>;
}

/** The webhook by which a session tries out whether the service reaches the receiver; it is no delivery to show. */
export function probe(path: string): { listening: string } {
  return { listening: path };
}

/**
 * @param options.base the address under which the service reaches this machine
 * @param options.path of the receiver there
 * @param options.port tells this session from others of this machine
 * @throws CliError when the service does not reach the receiver; everything is removed again then
 */
export async function openSession(
  client: Client,
  options: { slug: string; base: string; path: string; port: number },
): Promise<Session> {
  const made: { what: string; remove: () => Promise<void> }[] = [];
  async function remove(): Promise<string[]> {
    const left: string[] = [];
    for (const { what, remove: removeOne } of made.splice(0).toReversed()) {
      try {
        await removeOne();
      } catch (error) {
        const { message, status } = error as { message: string; status?: number };
        if (status !== 404) left.push(`${what}: ${message}`);
      }
    }
    return left;
  }
  const address = options.base + options.path;
  const name = `listen ${hostname()}:${options.port}`;
  try {
    await removeLeftovers(client, name, options.base);
    const { source, created: sourceCreated } = await findOrCreate(client, options.slug);
    if (sourceCreated) made.push({ what: `source ${source.id}`, remove: () => client.deleteSource({ id: source.id }) });
    const { id } = await client.createDestination({ body: { name, url: address } });
    made.push({ what: `destination ${id}`, remove: () => client.deleteDestination({ id }) });
    await requireReachable(client, id, address, probe(options.path));
    const route = await client.createRoute({ body: { name, sourceId: source.id, destinationIds: [id] } });
    made.push({ what: `route ${route.id}`, remove: () => client.deleteRoute({ id: route.id }) });
    return { source, sourceCreated, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** What a killed session left: at this very address nobody else can listen now, whatever another machine is called. */
async function removeLeftovers(client: Client, name: string, base: string): Promise<void> {
  for await (const destination of client.each('listDestinations', { search: name })) {
    if (destination.name !== name || !destination.url.startsWith(`${base}${PATH_START}`)) continue;
    for await (const route of client.each('listRoutes', { destinationId: destination.id })) {
      if (route.name === name) await client.deleteRoute({ id: route.id });
    }
    await client.deleteDestination({ id: destination.id });
  }
}

async function findOrCreate(client: Client, slug: string): Promise<{ source: Source; created: boolean }> {
  try {
    return { source: await findSource(client, slug), created: false };
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.notFound) throw error;
    return { source: await client.createSource({ body: { name: slug, slug } }), created: true };
  }
}

async function requireReachable(client: Client, id: string, address: string, payload: object): Promise<void> {
  const result = await client.testDestination({ id, body: { payload: { ...payload } } });
  if (result.success) return;
  const host = new URL(address).hostname;
  const advice = /HOOKYARD_DELIVERY_ALLOW/.test(result.error)
    ? `start the service with HOOKYARD_DELIVERY_ALLOW=${host}, or, when it runs on another machine, give --address with a URL ` +
      'at which it reaches this one (a tunnel, for example)'
    : 'does the service run on another machine? Give --address with a URL at which it reaches this one (a tunnel, for example)';
  throw new CliError(EXIT.unavailable, `The service cannot deliver to ${address}: ${result.error}; ${advice}`);
}
