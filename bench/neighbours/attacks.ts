// What an organization can do to the service: one entry each. Refusals of the service are what an attack is there for.
import { createPipe } from '../support/service.ts';
import { FLOODS } from './floods.ts';
import { type Attack, fanOut, MOST_OF_A_ROUTE, repeat, slowBody, together, webhooks } from './means.ts';

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
    name: 'payload searches',
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
  {
    name: 'a filter with a list of 1,000 objects',
    prepare: async (attacker) => {
      const objects = (count: number, seed: string) =>
        Array.from({ length: count }, (_, n) => ({ id: `${seed}${n}`, tags: [n, seed] }));
      const filterConditions = [{ field: 'payload.items[*]', operator: 'in', value: objects(1000, 'x') }];
      const path = await fanOut(attacker, attacker.targets.quick, 1, { route: { filterConditions } });
      const send = await webhooks(attacker, path, JSON.stringify({ items: objects(90_000, 'y') }));
      return () => repeat(attacker, 2, send);
    },
  },
  {
    name: '50 conditions on each element of 10 MB',
    prepare: async (attacker) => {
      const filterConditions = Array.from({ length: 50 }, (_, n) => ({
        field: 'payload[*]',
        operator: 'equals',
        value: `x${n}`,
      }));
      const path = await fanOut(attacker, attacker.targets.quick, 1, { route: { filterConditions } });
      const send = await webhooks(attacker, path, `[${'0,'.repeat(5_000_000)}0]`);
      return () => repeat(attacker, 1, send);
    },
  },
  ...FLOODS,
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
