// What hookyard listen makes in the service for as long as it runs: a destination, a route, and the source if there was none. They
// have leases, so that the service removes what a killed session leaves.
import { hostname } from 'node:os';
import type { Client, Source } from 'hookyard/client';
import { CliError, EXIT } from '../errors.ts';
import { findSource } from '../input.ts';
import { PATH_START } from './receiver.ts';

/** How long the service keeps a session of which it hears nothing. */
const LEASE_SECONDS = 900;
/** How often a session is to be renewed. */
export const RENEW_MS = 300_000;

export interface Session {
  source: Source;
  sourceCreated: boolean;
  /**
   * Lets the session live on, and makes it anew when the service has removed it: of a machine that slept.
   * @returns whether it was made anew
   */
  renew(): Promise<boolean>;
  /** Removes what was made. @returns what could not be removed, and why */
  remove(): Promise<string[]>;
}

interface Options {
  slug: string;
  /** The address under which the service reaches this machine. */
  base: string;
  /** Of the receiver there. */
  path: string;
  /** Tells this session from others of this machine. */
  port: number;
}

/** A record that was made, and how it is removed. */
interface Made {
  id: string;
  what: string;
  remove: () => Promise<void>;
}

/** The webhook by which a session tries out whether the service reaches the receiver; it is no delivery to show. */
export function probe(path: string): { listening: string } {
  return { listening: path };
}

/** @throws CliError when the service does not reach the receiver; everything is removed again then */
export async function openSession(client: Client, options: Options): Promise<Session> {
  const made: Made[] = [];
  const first = await makeOrRemove(client, options, made);
  // One after the other: a session that is being made anew must not be left behind by a Ctrl-C.
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  }
  return {
    ...first,
    renew: () =>
      inTurn(async () => {
        if ((await hold(client, made)) === made.length && made.length > 0) return false;
        await removeAll(made);
        await makeOrRemove(client, options, made);
        return true;
      }),
    remove: () => inTurn(() => removeAll(made)),
  };
}

async function makeOrRemove(client: Client, options: Options, made: Made[]) {
  try {
    return await make(client, options, made);
  } catch (error) {
    await removeAll(made);
    throw error;
  }
}

/** @param made gets each record as soon as it is there */
async function make(client: Client, { slug, base, path, port }: Options, made: Made[]) {
  async function keep(record: Made): Promise<void> {
    made.push(record);
    await hold(client, [record]);
  }
  const address = base + path;
  const name = `listen ${hostname()}:${port}`;
  await removeLeftovers(client, name, base);
  const { source, created: sourceCreated } = await findOrCreate(client, slug);
  if (sourceCreated) {
    const { id } = source;
    await keep({ id, what: `source ${id}`, remove: () => client.deleteSource({ id }) });
  }
  const { id } = await client.createDestination({ body: { name, url: address } });
  await keep({ id, what: `destination ${id}`, remove: () => client.deleteDestination({ id }) });
  await requireReachable(client, id, address, probe(path));
  const route = await client.createRoute({ body: { name, sourceId: source.id, destinationIds: [id] } });
  await keep({ id: route.id, what: `route ${route.id}`, remove: () => client.deleteRoute({ id: route.id }) });
  return { source, sourceCreated };
}

/** @returns how many of the records are still there */
async function hold(client: Client, records: Made[]): Promise<number> {
  if (records.length === 0) return 0;
  const ids = records.map(({ id }) => id);
  return (await client.renewLeases({ body: { ids, seconds: LEASE_SECONDS } })).ids.length;
}

async function removeAll(made: Made[]): Promise<string[]> {
  const left: string[] = [];
  for (const { what, remove } of made.splice(0).toReversed()) {
    try {
      await remove();
    } catch (error) {
      const { message, status } = error as { message: string; status?: number };
      if (status !== 404) left.push(`${what}: ${message}`);
    }
  }
  return left;
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
