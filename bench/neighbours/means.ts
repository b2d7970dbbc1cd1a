// What attacks are made of: fan-outs, webhooks, and work that continues until the attack is stopped.
import { createHmac } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { createDestination, createRoute, type Organization, SECRET } from '../support/service.ts';

/** Where the attacker's webhooks go. */
export interface Targets {
  /** Answers at once. */
  quick: string;
  /** Answers after 10 s. */
  slow: string;
  /** Refuses connections. */
  dead: string;
}

export interface Attacker {
  service: Organization;
  targets: Targets;
  stopped: AbortSignal;
  /**
   * Notes how a request of the attack was answered: an attack that is refused for a mistake of its own shows nothing.
   */
  answered: (answer: string) => void;
}

export interface Attack {
  name: string;
  /** Makes the records it needs. @returns the attack itself, which continues until it is stopped */
  prepare: (attacker: Attacker) => Promise<() => Promise<void>>;
  /** It leaves the service alone: it shows what a busy machine costs, and has no bars. */
  isControl?: true;
}

// Not the one of the organization that is measured: a limit per client address must not meet both.
const ATTACKER_ADDRESS = '127.0.0.9';
const ofAttacker = new Agent({ connect: { localAddress: ATTACKER_ADDRESS } });

let slugs = 0;
const nextSlug = () => `attacked-${slugs++}`;

const DESTINATIONS_AT_ONCE = 20;
export const MOST_OF_A_ROUTE = 50;

/** A route to so many destinations at one address. @returns the path of its webhooks */
export async function fanOut(
  { service }: Attacker,
  url: string,
  count: number,
  options: { destination?: object; route?: object } = {},
): Promise<string> {
  const ids: string[] = [];
  for (let from = 0; from < count; from += DESTINATIONS_AT_ONCE) {
    const made = Array.from({ length: Math.min(DESTINATIONS_AT_ONCE, count - from) }, () =>
      createDestination(service, url, { slug: nextSlug(), ...options.destination }),
    );
    ids.push(...(await Promise.all(made)));
  }
  const { path, sourceId } = await createRoute(service, ids.slice(0, MOST_OF_A_ROUTE), options.route);
  for (let from = MOST_OF_A_ROUTE; from < count; from += MOST_OF_A_ROUTE) {
    const destinationIds = ids.slice(from, from + MOST_OF_A_ROUTE);
    await service.call('POST', '/api/routes', { name: `more ${from}`, sourceId, destinationIds, ...options.route });
  }
  return path;
}

/** Sends one webhook, whatever the answer. @param secret that it is signed with */
export async function webhooks(
  attacker: Attacker,
  path: string,
  body = '{"a":1}',
  secret = SECRET,
): Promise<() => Promise<unknown>> {
  const headers = {
    'content-type': 'application/json',
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  };
  return () => ask(attacker, 'POST', path, headers, body);
}

/** Sends one request from the attacker's address, whatever the answer. */
export async function ask(
  { service, answered }: Attacker,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string | null = null,
): Promise<void> {
  const answer = await fetch(service.url + path, { method, headers, body, dispatcher: ofAttacker });
  answered(String(answer.status));
  await answer.arrayBuffer();
}

/** Sends one request to the attacker's own destination. */
export async function askQuick({ targets, answered }: Attacker): Promise<void> {
  const answer = await fetch(targets.quick, { method: 'POST', body: '{"a":1}', dispatcher: ofAttacker });
  answered(String(answer.status));
  await answer.arrayBuffer();
}

/** So many at a time, each again when it is answered, whatever the answer. */
export async function flood({ stopped }: Attacker, count: number, send: () => Promise<unknown>): Promise<void> {
  const loop = async () => {
    // A connection that the service has closed takes a moment, so that refusals are not a loop without a rest.
    while (!stopped.aborted) await send().catch(() => delay(10));
  };
  await Promise.all(Array.from({ length: count }, loop));
}

/** A connection from the attacker's address. */
export function connection({ service }: Attacker): Socket {
  const { hostname, port } = new URL(service.url);
  return connect({ port: Number(port), host: hostname, localAddress: ATTACKER_ADDRESS });
}

/** So many a second, however quickly they are answered. */
export async function repeat({ stopped }: Attacker, perSecond: number, send: () => Promise<unknown>): Promise<void> {
  const underWay = new Set<Promise<unknown>>();
  while (!stopped.aborted) {
    const sent = send()
      .catch(() => undefined)
      .finally(() => underWay.delete(sent));
    underWay.add(sent);
    await delay(1000 / perSecond);
  }
  await Promise.all(underWay);
}

/** So many at a time, each again when it is answered. */
export async function together(
  { stopped, answered }: Attacker,
  count: number,
  work: () => Promise<unknown>,
): Promise<void> {
  const loop = async () => {
    while (!stopped.aborted) {
      try {
        await work();
        answered('done');
      } catch (error) {
        // The code of the answer is in the message.
        answered(/"code":"(\w+)"/.exec(String(error))?.[1] ?? String(error));
        await delay(10);
      }
    }
  };
  await Promise.all(Array.from({ length: count }, loop));
}

/** A webhook whose body comes byte by byte, and another one when the service has had enough of it. */
export async function slowBody(attacker: Attacker, path: string): Promise<void> {
  const { stopped, answered } = attacker;
  while (!stopped.aborted) {
    const socket = connection(attacker);
    socket.once('data', (line: Buffer) => answered(line.toString('latin1', 9, 12)));
    const closed = new Promise<void>((resolve) => {
      socket.on('error', () => {}).on('close', () => resolve());
    });
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n`,
    );
    const drip = setInterval(() => socket.write(' '), 500);
    const end = () => socket.destroy();
    stopped.addEventListener('abort', end, { once: true });
    await closed;
    stopped.removeEventListener('abort', end);
    clearInterval(drip);
    await delay(50);
  }
}
