// What an organization can do to the service: one entry each. An attack sets itself up, and then goes on until it is stopped;
// refusals of the service are what it is there for.
import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { createPipe, createRoute, createDestination, type Organization, SECRET } from '../support/service.ts';
import { delay } from '../support/wait.ts';
import type { Targets } from './targets.ts';

export interface Attacker {
  service: Organization;
  targets: Targets;
  stopped: AbortSignal;
}

export interface Attack {
  name: string;
  run: (attacker: Attacker) => Promise<void>;
}

export const ATTACKS: Attack[] = [
  {
    name: '200 dead destinations',
    run: async (attacker) =>
      repeat(attacker, 5, await webhooks(attacker, await fanOut(attacker, attacker.targets.dead, 200))),
  },
  {
    name: '500 slow destinations',
    run: async (attacker) =>
      repeat(attacker, 2, await webhooks(attacker, await fanOut(attacker, attacker.targets.slow, 500))),
  },
  {
    name: 'retries of slow destinations',
    run: async (attacker) => {
      const destination = { timeoutMs: 1000, retryPolicy: { maxRetries: 20, initialDelay: 100, maxDelay: 1000 } };
      const path = await fanOut(attacker, attacker.targets.slow, 50, {
        destination,
        route: { circuitFailureThreshold: 10_000 },
      });
      await repeat(attacker, 2, await webhooks(attacker, path));
    },
  },
  {
    name: '60 transforms of 180 ms',
    run: async (attacker) => {
      const transform = (await attacker.service.call('POST', '/api/transforms', {
        name: 'busy',
        type: 'javascript',
        code: 'export default ({ payload }) => { let sum = 0; for (let n = 0; n < 4000000; n += 1) sum += n % 7; return { ...payload, sum }; }',
      })) as { id: string };
      const path = await fanOut(attacker, attacker.targets.quick, 1, { route: { transformId: transform.id } });
      await repeat(attacker, 60, await webhooks(attacker, path));
    },
  },
  {
    name: 'heavy filters',
    run: async (attacker) => {
      const filterConditions = Array.from({ length: 50 }, (_, n) => ({
        field: `payload.items[*].${'abcde'[n % 5]}`,
        operator: 'matches',
        value: `^(x+)+${n}$`,
      }));
      const path = await fanOut(attacker, attacker.targets.quick, 1, { route: { filterConditions } });
      const items = Array.from({ length: 10_000 }, () => ({ a: 'xxxxxxxxxxxx', b: 'xxxxxxxx' }));
      await repeat(attacker, 2, await webhooks(attacker, path, JSON.stringify({ items })));
    },
  },
  {
    name: 'slow bodies',
    run: async (attacker) => {
      const path = await fanOut(attacker, attacker.targets.quick, 1);
      const bodies = Array.from({ length: 121 }, () => slowBody(attacker, path));
      await Promise.all(bodies);
    },
  },
  {
    name: 'searches of payloads',
    run: async (attacker) => {
      const path = await fanOut(attacker, attacker.targets.quick, 1);
      const send = await webhooks(attacker, path, JSON.stringify({ text: 'y'.repeat(100_000) }));
      for (let sent = 0; sent < 200 && !attacker.stopped.aborted; sent += 1) await send();
      const { organizationId } = attacker.service;
      const events = `/api/organizations/${organizationId}/events`;
      await together(attacker, 16, () => attacker.service.call('GET', `${events}?search=nothing-has-this`));
    },
  },
  {
    name: 'imports',
    run: async (attacker) => {
      const destinations = Array.from({ length: 1000 }, (_, n) => ({
        name: `D ${n}`,
        slug: `d-${n}`,
        url: attacker.targets.quick,
      }));
      const body = { destinations, conflictStrategy: 'overwrite' };
      await together(attacker, 16, () => attacker.service.call('POST', '/api/destinations/import', body));
    },
  },
  {
    name: '100 changes of one route at a time',
    run: async (attacker) => {
      const { routeId } = await createPipe(attacker.service, attacker.targets.quick);
      await together(attacker, 100, () =>
        attacker.service.call('PATCH', `/api/routes/${routeId}`, { description: `${Math.random()}` }),
      );
    },
  },
];

const DESTINATIONS_AT_ONCE = 20;
const MOST_OF_A_ROUTE = 50;

/** A route to so many destinations at one address. @returns the path of its webhooks */
async function fanOut(
  { service }: Attacker,
  url: string,
  count: number,
  options: { destination?: object; route?: object } = {},
): Promise<string> {
  const ids: string[] = [];
  for (let from = 0; from < count; from += DESTINATIONS_AT_ONCE) {
    const made = Array.from({ length: Math.min(DESTINATIONS_AT_ONCE, count - from) }, (_, n) =>
      createDestination(service, url, { slug: `d-${from + n}`, ...options.destination }),
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

/** Sends one webhook, whatever the answer. */
async function webhooks({ service }: Attacker, path: string, body = '{"a":1}'): Promise<() => Promise<unknown>> {
  const headers = {
    'content-type': 'application/json',
    'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
  };
  return () => fetch(service.url + path, { method: 'POST', headers, body }).then((answer) => answer.arrayBuffer());
}

/** So many a second, however quickly they are answered. */
async function repeat({ stopped }: Attacker, perSecond: number, send: () => Promise<unknown>): Promise<void> {
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
async function together({ stopped }: Attacker, count: number, work: () => Promise<unknown>): Promise<void> {
  const loop = async () => {
    while (!stopped.aborted) await work().catch(() => delay(10));
  };
  await Promise.all(Array.from({ length: count }, loop));
}

/** A webhook whose body comes byte by byte, and another one when the service has had enough of it. */
async function slowBody({ service, stopped }: Attacker, path: string): Promise<void> {
  const { hostname, port } = new URL(service.url);
  while (!stopped.aborted) {
    const socket = connect(Number(port), hostname);
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
