// The records of hookyard listen while it runs: a destination, a route, and a new source if there was none.
import { hostname } from 'node:os';
import type { Client, FilterConditionInput, Source } from '../../client/index.ts';
import { CliError, EXIT } from '../errors.ts';
import { findSource } from '../operations.ts';
import { probe } from './receiver.ts';
import type { SessionRecords } from './leftovers.ts';

export interface Session {
  source: Source;
  destinationId: string;
  routeId: string;
  /** When the route was made: what arrived before was not sent to it. */
  since: string;
  isFiltered: boolean;
  remove(): Promise<Removed>;
}

export interface Removed {
  ids: string[];
  /** Errors of records that could not be removed. */
  left: string[];
  /** The outcome for the source; null when the session did not create it. */
  source: 'removed' | 'kept' | null;
}

interface Options {
  slug: string;
  base: string;
  path: string;
  port: number;
  /** Which of its webhooks the session gets. @throws CliError */
  conditions: (source: Source) => FilterConditionInput[];
  allowPaths: boolean;
  /** A source that an ended session has made, and that is this one's now. */
  ownSourceId: string | null;
  onChange: (made: SessionRecords) => void;
}

/** @throws CliError when the service does not reach the receiver; everything is removed again then */
export async function openSession(client: Client, options: Options): Promise<Session> {
  const made: SessionRecords = { sourceId: options.ownSourceId, destinationId: null, routeId: null };
  const remove = async () => {
    const removed = await removeRecords(client, made);
    options.onChange(made);
    return removed;
  };
  try {
    return { ...(await make(client, options, made)), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** @param made gets each record as soon as it is there */
async function make(client: Client, options: Options, made: SessionRecords): Promise<Omit<Session, 'remove'>> {
  const { base, path, port } = options;
  const keep = (records: Partial<SessionRecords>) => options.onChange(Object.assign(made, records));
  const address = base + path;
  const name = `listen ${hostname()}:${port}`;
  const { source, created } = await findOrCreate(client, options);
  keep(created ? { sourceId: source.id } : {});
  const filterConditions = options.conditions(source);
  const { id: destinationId } = await client.createDestination({
    body: { name, url: address, forwardPath: true, forwardQuery: true },
  });
  keep({ destinationId });
  await requireReachable(client, destinationId, address, probe(path));
  const route = await client.createRoute({
    body: {
      name,
      sourceId: source.id,
      destinationIds: [destinationId],
      ...(filterConditions.length > 0 && { filterConditions }),
    },
  });
  keep({ routeId: route.id });
  return {
    source,
    destinationId,
    routeId: route.id,
    since: route.createdAt,
    isFiltered: filterConditions.length > 0,
  };
}

/**
 * Removes the records of a session, except a source that other routes use.
 * @param made has null for each that is gone afterwards, or not the session's any more
 */
export async function removeRecords(client: Client, made: SessionRecords): Promise<Removed> {
  const removed: Removed = { ids: [], left: [], source: null };
  const { routeId } = made;
  async function remove(kind: 'route' | 'destination' | 'source', work: (id: string) => Promise<unknown>) {
    const id = made[`${kind}Id`];
    if (id === null) return;
    try {
      if ((await work(id)) !== 'kept') removed.ids.push(id);
    } catch (error) {
      const { message, status } = error as { message: string; status?: number };
      if (status !== 404) return void removed.left.push(`${kind} ${id} (${message})`);
    }
    made[`${kind}Id`] = null;
  }
  await remove('route', (id) => client.deleteRoute({ id }));
  await remove('destination', (id) => client.deleteDestination({ id }));
  await remove('source', async (id) => {
    removed.source = (await hasOtherRoutes(client, id, routeId)) ? 'kept' : 'removed';
    if (removed.source === 'removed') await client.deleteSource({ id });
    return removed.source;
  });
  return removed;
}

async function hasOtherRoutes(client: Client, sourceId: string, own: string | null): Promise<boolean> {
  for await (const { id } of client.each('listRoutes', { sourceId })) {
    if (id !== own) return true;
  }
  return false;
}

async function findOrCreate(
  client: Client,
  { slug, allowPaths }: Options,
): Promise<{ source: Source; created: boolean }> {
  try {
    return { source: await findSource(client, slug), created: false };
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.notFound) throw error;
    return { source: await client.createSource({ body: { name: slug, slug, allowPaths } }), created: true };
  }
}

async function requireReachable(client: Client, id: string, address: string, payload: object): Promise<void> {
  const result = await client.testDestination({ id, body: { payload: { ...payload } } });
  if (result.success) return;
  const host = new URL(address).hostname;
  const advice = /HOOKYARD_DELIVERY_ALLOW/.test(result.error)
    ? `start the service with HOOKYARD_DELIVERY_ALLOW=${host}, or, if it runs on another machine, pass --address with a URL ` +
      'at which it can reach this machine (for example a tunnel URL)'
    : 'if the service runs on another machine, pass --address with a URL at which it can reach this machine (for example a tunnel URL)';
  throw new CliError(EXIT.unavailable, `The service cannot deliver to ${address}: ${result.error}; ${advice}`);
}
