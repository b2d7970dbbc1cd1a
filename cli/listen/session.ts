// The records of hookyard listen while it runs: a destination, a route, and a new source if there was none. They have leases, so
// that the service removes the records of a killed session.
import { hostname } from 'node:os';
import type { Client, FilterConditionInput, Source } from '../../client/index.ts';
import { CliError, EXIT } from '../errors.ts';
import { findSource } from '../input.ts';
import { PATH_START } from './receiver.ts';

/** How long the service keeps a session without a renewal. */
const LEASE_SECONDS = 900;
/** How often a session is to be renewed. */
export const RENEW_MS = 300_000;

export interface Session {
  source: Source;
  /** As they are now: a renewal may make others. */
  readonly destinationId: string;
  readonly routeId: string;
  /** When the first route was made: what arrived before was not sent to it. */
  since: string;
  /** Whether it takes only some webhooks. */
  isFiltered: boolean;
  /**
   * Renews the session, and recreates its destination and its route when one of them is gone: the machine slept, or somebody
   * deleted it. The source is made only when it is gone; it may hold events and routes of others by now.
   * @returns whether something was recreated
   */
  renew(): Promise<boolean>;
  /** Removes the created records, except a source that other routes use. */
  remove(): Promise<Removed>;
}

export interface Removed {
  /** Errors of records that could not be removed. */
  left: string[];
  /** The outcome for the source; null when the session did not create it. */
  source: 'removed' | 'kept' | null;
}

interface Options {
  slug: string;
  /** The address under which the service reaches this machine. */
  base: string;
  /** Of the receiver there. */
  path: string;
  /** Tells this session from others of this machine. */
  port: number;
  /** Which of its webhooks the session gets. @throws CliError */
  conditions: (source: Source) => FilterConditionInput[];
  /** Of a source that the session makes. */
  allowPaths: boolean;
}

/** A destination or a route that was made, and how it is removed. */
interface MadeRecord {
  id: string;
  what: string;
  remove: () => Promise<void>;
}

/** The current records of the session in the service. */
interface Made {
  /** The source, when the session has made it. */
  sourceId: string | null;
  records: MadeRecord[];
  destinationId: string;
  routeId: string;
}

/** What `make` found and made. */
interface MadeSession {
  source: Source;
  since: string;
  isFiltered: boolean;
}

/** The webhook that tests whether the service reaches the receiver; it is not shown as a delivery. */
export function probe(path: string): { listening: string } {
  return { listening: path };
}

/** @throws CliError when the service does not reach the receiver; everything is removed again then */
export async function openSession(client: Client, options: Options): Promise<Session> {
  const made: Made = { sourceId: null, records: [], destinationId: '', routeId: '' };
  const first = await makeOr(() => removeAll(client, made), client, options, made);
  // Serialized: a Ctrl-C must not leave records of a session that is being recreated.
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  }
  return {
    ...first,
    get destinationId() {
      return made.destinationId;
    },
    get routeId() {
      return made.routeId;
    },
    renew: () =>
      inTurn(async () => {
        if (await holdAll(client, made)) return false;
        await removeRecords(made);
        await makeOr(() => removeRecords(made), client, options, made);
        return true;
      }),
    remove: () => inTurn(() => removeAll(client, made)),
  };
}

async function makeOr(
  undo: () => Promise<unknown>,
  client: Client,
  options: Options,
  made: Made,
): Promise<MadeSession> {
  try {
    return await make(client, options, made);
  } catch (error) {
    await undo();
    throw error;
  }
}

/** @param made gets each record as soon as it is there */
async function make(client: Client, options: Options, made: Made): Promise<MadeSession> {
  const { base, path, port } = options;
  async function keep(record: MadeRecord): Promise<void> {
    made.records.push(record);
    await hold(client, [record.id]);
  }
  const address = base + path;
  const name = `listen ${hostname()}:${port}`;
  await removeLeftovers(client, name, base);
  const { source, created } = await findOrCreate(client, options);
  // One that somebody else has made since under the same slug is not the session's.
  if (created) made.sourceId = source.id;
  else if (made.sourceId !== source.id) made.sourceId = null;
  if (made.sourceId !== null) await hold(client, [made.sourceId]);
  const filterConditions = options.conditions(source);
  const { id } = await client.createDestination({
    body: { name, url: address, forwardPath: true, forwardQuery: true },
  });
  await keep({ id, what: `destination ${id}`, remove: () => client.deleteDestination({ id }) });
  await requireReachable(client, id, address, probe(path));
  const route = await client.createRoute({
    body: { name, sourceId: source.id, destinationIds: [id], ...(filterConditions.length > 0 && { filterConditions }) },
  });
  await keep({ id: route.id, what: `route ${route.id}`, remove: () => client.deleteRoute({ id: route.id }) });
  Object.assign(made, { destinationId: id, routeId: route.id });
  return { source, since: route.createdAt, isFiltered: filterConditions.length > 0 };
}

/** @returns whether all of the session is still there */
async function holdAll(client: Client, { sourceId, records }: Made): Promise<boolean> {
  // When recreating it last failed.
  if (records.length === 0) return false;
  const ids = records.map(({ id }) => id);
  if (sourceId !== null) ids.push(sourceId);
  return (await hold(client, ids)) === ids.length;
}

/** @returns how many of the records are still there */
async function hold(client: Client, ids: string[]): Promise<number> {
  return (await client.renewLeases({ body: { ids, seconds: LEASE_SECONDS } })).ids.length;
}

async function removeAll(client: Client, made: Made): Promise<Removed> {
  const own = made.records.map(({ id }) => id);
  const left = await removeRecords(made);
  const id = made.sourceId;
  made.sourceId = null;
  if (id === null) return { left, source: null };
  let kept = false;
  left.push(
    ...(await tried(`source ${id}`, async () => {
      kept = await hasOtherRoutes(client, id, own);
      // Its lease must not remove a source that others use now.
      if (kept) await client.renewLeases({ body: { ids: [id], seconds: null } });
      else await client.deleteSource({ id });
    })),
  );
  return { left, source: kept ? 'kept' : 'removed' };
}

/** Removes destination and route. @returns what could not be removed, and why */
async function removeRecords(made: Made): Promise<string[]> {
  const left: string[] = [];
  for (const { what, remove } of made.records.splice(0).toReversed()) left.push(...(await tried(what, remove)));
  return left;
}

/** @returns what could not be removed, and why: nothing or one sentence */
async function tried(what: string, remove: () => Promise<unknown>): Promise<string[]> {
  try {
    await remove();
    return [];
  } catch (error) {
    const { message, status } = error as { message: string; status?: number };
    return status === 404 ? [] : [`${what}: ${message}`];
  }
}

async function hasOtherRoutes(client: Client, sourceId: string, own: string[]): Promise<boolean> {
  for await (const { id } of client.each('listRoutes', { sourceId })) {
    if (!own.includes(id)) return true;
  }
  return false;
}

/** Records of a killed session: nobody else can listen at this address now, even if another machine has the same name. */
async function removeLeftovers(client: Client, name: string, base: string): Promise<void> {
  for await (const destination of client.each('listDestinations', { search: name })) {
    if (destination.name !== name || !destination.url.startsWith(`${base}${PATH_START}`)) continue;
    for await (const route of client.each('listRoutes', { destinationId: destination.id })) {
      if (route.name === name) await client.deleteRoute({ id: route.id });
    }
    await client.deleteDestination({ id: destination.id });
  }
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
    ? `start the service with HOOKYARD_DELIVERY_ALLOW=${host}, or, when it runs on another machine, give --address with a URL ` +
      'at which it reaches this one (a tunnel, for example)'
    : 'does the service run on another machine? Give --address with a URL at which it reaches this one (a tunnel, for example)';
  throw new CliError(EXIT.unavailable, `The service cannot deliver to ${address}: ${result.error}; ${advice}`);
}
