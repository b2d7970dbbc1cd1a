// Attacks by number: of webhooks, requests, connections and what they lead to. One entry each, as in attacks.ts.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createDestination } from '../support/service.ts';
import { ask, askQuick, type Attack, type Attacker, connection, fanOut, flood, together, webhooks } from './means.ts';

const AT_ONCE = 50;
const CONNECTIONS = 600;
const REPLAYED_EVENTS = 500;

async function waitingOf({ service }: Attacker): Promise<number> {
  const { limits } = (await service.call('GET', '/api/organization/usage')) as {
    limits: { waitingDeliveries: { used: number } };
  };
  return limits.waitingDeliveries.used;
}

export const FLOODS: Attack[] = [
  {
    // As much work beside the service as a flood of webhooks makes outside it.
    name: 'no attack, one busy core',
    isControl: true,
    prepare: async (attacker) => {
      const send = () => askQuick(attacker);
      return () => flood(attacker, AT_ONCE, send);
    },
  },
  {
    name: 'webhook flood',
    prepare: async (attacker) => {
      const send = await webhooks(attacker, await fanOut(attacker, attacker.targets.quick, 1));
      return () => flood(attacker, AT_ONCE, send);
    },
  },
  {
    name: 'refused webhook flood',
    prepare: async (attacker) => {
      const path = await fanOut(attacker, attacker.targets.quick, 1);
      const send = await webhooks(attacker, path, JSON.stringify({ text: 'x'.repeat(10_000) }), 'another secret');
      return () => flood(attacker, AT_ONCE, send);
    },
  },
  {
    name: 'management request flood',
    prepare: async (attacker) => {
      await fanOut(attacker, attacker.targets.quick, 200);
      return () =>
        together(attacker, AT_ONCE, () => attacker.service.call('GET', '/api/destinations?pageSize=100&search=e'));
    },
  },
  {
    name: 'invalid keys',
    prepare: async (attacker) => {
      let count = 0;
      const send = () => {
        count += 1;
        const headers = { authorization: `Bearer whr_wrong_wrong_wrong_${count}` };
        return ask(attacker, 'GET', '/api/auth/me', headers);
      };
      return () => flood(attacker, AT_ONCE, send);
    },
  },
  {
    name: 'replays of events',
    prepare: async (attacker) => {
      const path = await fanOut(attacker, attacker.targets.quick, 20);
      const send = await webhooks(attacker, path);
      for (let sent = 0; sent < REPLAYED_EVENTS && !attacker.stopped.aborted; sent += 1) await send();
      // Their first deliveries are no replays.
      while (!attacker.stopped.aborted && (await waitingOf(attacker)) > 0) await delay(200);
      const events = `/api/organizations/${attacker.service.organizationId}/events`;
      const replay = () => attacker.service.call('POST', `${events}/replay`, { all: true, ratePerSecond: 1000 });
      return () => together(attacker, 4, replay);
    },
  },
  {
    name: 'loops',
    prepare: async (attacker) => {
      const { service } = attacker;
      // Two ways back, so that one webhook becomes 62 deliveries. They are signed by nobody.
      const slug = `loop-${service.organizationSlug}`;
      const sources = `/api/organizations/${service.organizationId}/sources`;
      const { id: sourceId } = (await service.call('POST', sources, { name: slug, slug })) as { id: string };
      const path = `/ingest/${service.organizationSlug}/${slug}`;
      const ways = [1, 2].map((n) =>
        createDestination(service, `${service.url}${path}?way=${n}`, { slug: `way-${n}` }),
      );
      const destinationIds = await Promise.all(ways);
      const route = { name: 'round', sourceId, destinationIds, allowOwnAddress: true, circuitFailureThreshold: 10_000 };
      await service.call('POST', '/api/routes', route);
      const send = await webhooks(attacker, path);
      return () => flood(attacker, 2, send);
    },
  },
  {
    name: 'connection flood',
    prepare: async (attacker) => () => {
      const hold = async () => {
        while (!attacker.stopped.aborted) {
          const socket = connection(attacker);
          socket.on('error', () => {});
          socket.once('data', (line: Buffer) => attacker.answered(line.toString('latin1', 9, 12)));
          const end = () => socket.destroy();
          attacker.stopped.addEventListener('abort', end, { once: true });
          await once(socket, 'close').catch(() => undefined);
          attacker.stopped.removeEventListener('abort', end);
          await delay(20);
        }
      };
      return Promise.all(Array.from({ length: CONNECTIONS }, hold)).then(() => undefined);
    },
  },
];
