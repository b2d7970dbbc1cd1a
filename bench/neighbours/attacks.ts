// What an organization can do to the service: one entry each. Refusals of the service are what an attack is there for.
import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { Agent, fetch } from 'undici';
import { createPipe, createRoute, createDestination, type Organization, SECRET } from '../support/service.ts';
import { delay } from '../support/wait.ts';
import type { Targets } from './targets.ts';

export interface Attacker {
  service: Organization;
  targets: Targets;
  stopped: AbortSignal;
  /** Notes how a request of the attack was answered: an attack that is refused for a mistake of its own shows nothing. */
  answered: (answer: string) => void;
}

export interface Attack {
  name: string;
  /** Makes the records it needs. @returns the attack itself, which goes on until it is stopped */
  prepare: (attacker: Attacker) => Promise<() => Promise<void>>;
}

export const ATTACKS: Attack[] = [
  {
    name: '200 dead destinations',
    prepare: async (attacker) => {
      const send = await webhooks(attacker, await fanOut(attacker, attacker.targets.dead, 200));
      return () => repeat(attacker, 5, send);
    },
  },
  {
    name: '500 slow destinations',
    prepare: async (attacker) => {
      const send = await webhooks(attacker, await fanOut(attacker, attacker.targets.slow, 500));
      return () => repeat(attacker, 2, send);
    },
  },
  {
    name: 'retries of slow destinations',
    prepare: async (attacker) => {
      const destination = { timeoutMs: 1000, retryPolicy: { maxRetries: 20, initialDelay: 100, maxDelay: 1000 } };
      const path = await fanOut(attacker, attacker.targets.slow, 50, {
        destination,
        route: { circuitFailureThreshold: 10_000 },
      });
      const send = await webhooks(attacker, path);
      return () => repeat(attacker, 2, send);
    },
  },
  {
    name: '60 transforms of 180 ms',
    prepare: async (attacker) => {
      const transform = (await attacker.service.call('POST', '/api/transforms', {
        name: 'busy',
        type: 'javascript',
        code: 'export default ({ payload }) => { let sum = 0; for (let n = 0; n < 4000000; n += 1) sum += n % 7; return { ...payload, sum }; }',
      })) as { id: string };
      const path = await fanOut(attacker, attacker.targets.quick, 1, { route: { transformId: transform.id } });
      const send = await webhooks(attacker, path);
      return () => repeat(attacker, 60, send);
    },
  },
  {
    name: 'heavy filters',
    prepare: async (attacker) => {
      // As many regular expressions as a route may have, on each of five routes.
      const filterConditions = Array.from({ length: 10 }, (_, n) => ({
        field: `payload.items[*].${'abcde'[n % 5]}`,
        operator: 'matches',
        value: `^(x+)+${n}$`,
      }));
      const path = await fanOut(attacker, attacker.targets.quick, 5 * MOST_OF_A_ROUTE, {
        route: { filterConditions },
      });
      const items = Array.from({ length: 10_000 }, () => ({ a: 'xxxxxxxxxxxx', b: 'xxxxxxxx' }));
      const send = await webhooks(attacker, path, JSON.stringify({ items }));
      return () => repeat(attacker, 2, send);
    },
  },
  {
    name: 'slow bodies',
    prepare: async (attacker) => {
      const route = () => fanOut(attacker, attacker.targets.quick, 1);
      const paths = [await route(), await route(), await route()];
      return async () => {
        await Promise.all(Array.from({ length: 121 }, (_, n) => slowBody(attacker, paths[n % paths.length] ?? '')));
      };
    },
  },
  {
    name: 'heavy schemas',
    prepare: async (attacker) => {
      // Each is another one, so that none is compiled already.
      let count = 0;
      const schema = () => largeSchema(`s${count++}`);
      const created = await attacker.service.call('POST', '/api/schemas', { name: 'Large', schema: schema() });
      const { id } = created as { id: string };
      return () =>
        together(attacker, 4, () => attacker.service.call('PATCH', `/api/schemas/${id}`, { schema: schema() }));
    },
  },
  {
    name: 'heavy field mappings',
    prepare: async (attacker) => {
      const created = await attacker.service.call(
        'POST',
        '/api/destinations',
        warehouse(new URL(attacker.targets.dead).origin),
      );
      const { id } = created as { id: string };
      const payload = { texts: [`${manyStates(100 * 1024)}c`] };
      return () =>
        together(attacker, 4, () => attacker.service.call('POST', `/api/destinations/${id}/test`, { payload }));
    },
  },
  {
    name: 'searches of payloads',
    prepare: async (attacker) => {
      const path = await fanOut(attacker, attacker.targets.quick, 1);
      const send = await webhooks(attacker, path, JSON.stringify({ text: 'y'.repeat(100_000) }));
      for (let sent = 0; sent < 200 && !attacker.stopped.aborted; sent += 1) await send();
      const { organizationId } = attacker.service;
      const events = `/api/organizations/${organizationId}/events`;
      return () => together(attacker, 16, () => attacker.service.call('GET', `${events}?search=nothing-has-this`));
    },
  },
  {
    name: 'imports',
    prepare: async (attacker) => {
      const destinations = Array.from({ length: 1000 }, (_, n) => ({
        name: `D ${n}`,
        slug: `d-${n}`,
        url: attacker.targets.quick,
      }));
      const body = { destinations, conflictStrategy: 'overwrite' };
      return () => together(attacker, 16, () => attacker.service.call('POST', '/api/destinations/import', body));
    },
  },
  {
    name: '100 changes of one route at a time',
    prepare: async (attacker) => {
      const { routeId } = await createPipe(attacker.service, attacker.targets.quick);
      return () =>
        together(attacker, 100, () =>
          attacker.service.call('PATCH', `/api/routes/${routeId}`, { description: `${Math.random()}` }),
        );
    },
  },
];

/** 800 members, each of which is work to compile. @param seed makes it another schema */
const largeSchema = (seed: string) => ({
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: 800 }, (_, n) => [
      `${seed}-${n}`,
      { type: ['string', 'null'], pattern: `^${seed}-\\d+$`, maxLength: 100 + n },
    ]),
  ),
});

/** Whose field mapping searches long: nearly every letter of the text makes another state of its patterns. */
const warehouse = (endpoint: string) => ({
  name: 'busy',
  type: 's3',
  config: { bucket: 'bench', region: 'eu-central-1', endpoint, accessKeyId: 'bench', secretAccessKey: 'bench' },
  fieldMapping: Array.from({ length: 8 }, (_, n) => ({
    source: `$.payload.texts[?search(@, "[ab]*a[ab]{${400 + n}}[cd][cd]")]`,
    target: `found_${n}`,
    type: 'json',
  })),
});

/** So many letters a and b, always the same, in no order that repeats itself soon. */
function manyStates(length: number): string {
  let seed = 12_345;
  return Array.from({ length }, () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (seed >> 16) % 2 === 0 ? 'a' : 'b';
  }).join('');
}

// Not the one of the organization that is measured: a limit per client address must not meet both.
const ATTACKER_ADDRESS = '127.0.0.9';
const ofAttacker = new Agent({ connect: { localAddress: ATTACKER_ADDRESS } });

let slugs = 0;
const nextSlug = () => `attacked-${slugs++}`;

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

/** Sends one webhook, whatever the answer. */
async function webhooks(
  { service, answered }: Attacker,
  path: string,
  body = '{"a":1}',
): Promise<() => Promise<unknown>> {
  const headers = {
    'content-type': 'application/json',
    'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
  };
  return async () => {
    const answer = await fetch(service.url + path, { method: 'POST', headers, body, dispatcher: ofAttacker });
    answered(String(answer.status));
    await answer.arrayBuffer();
  };
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
async function together({ stopped, answered }: Attacker, count: number, work: () => Promise<unknown>): Promise<void> {
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
async function slowBody({ service, stopped, answered }: Attacker, path: string): Promise<void> {
  const { hostname, port } = new URL(service.url);
  while (!stopped.aborted) {
    const socket = connect({ port: Number(port), host: hostname, localAddress: ATTACKER_ADDRESS });
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
