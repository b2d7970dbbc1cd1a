// What tests of work budgets attack, and with what: one organization's routes, beside a neighbour that must not notice.
import { makeDestination, makeRoute, makeSource, type SourceRecord } from '../api-records.ts';
import { send } from '../requests/http-client.ts';
import { LOOP_WATCH, longTurns } from './loop-watch.ts';
import { makeNeighbour, type Neighbour } from './neighbour.ts';
import type { Service, TestOrganization } from '../service.ts';
import { useMade, useOrganization, useService } from '../use-hookyard.ts';

/** An API of its own. What the neighbour sees as longest is the longest turn of its event loop, in processor time. */
export function useAttacked(): {
  service: Service;
  organization: TestOrganization;
  neighbour: Pick<Neighbour, 'during'>;
} {
  const service = useService('api', LOOP_WATCH);
  const organization = useOrganization(() => ({ service }));
  const neighbour = useMade('a neighbour', () => makeNeighbour(service));
  return {
    service,
    organization,
    neighbour: {
      async during(work) {
        const since = service.output().length;
        const { result, seen } = await neighbour.during(work);
        // A few turns more, in which a long one is told.
        for (let turns = 0; turns < 3; turns += 1) await send('GET', `${service.url}/healthz`);
        return { result, seen: { ...seen, longestMs: Math.max(0, ...longTurns(service, since)) } };
      },
    },
  };
}

/**
 * A source with a route for each of these members, each to a destination of its own: others would be refused as
 * duplicates.
 */
export async function sourceWithRoutes(
  organization: TestOrganization,
  routes: Record<string, unknown>[],
): Promise<SourceRecord> {
  const source = await makeSource(organization);
  for (const members of routes) {
    await makeRoute(organization, source.id, [(await makeDestination(organization)).id], members);
  }
  return source;
}

/**
 * Linear in the text, but with a factor of hundreds: nearly every letter makes a state that was not there before.
 * @param repeats another number makes it another pattern
 */
export const slowPattern = (repeats: number) => `[ab]*a[ab]{${repeats}}[cd][cd]`;

/** A text in which no such pattern is found, and in which no part of it is missing. */
export function letters(count: number, seed = 12_345): string {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 16) % 2 === 0 ? 'a' : 'b';
  };
  return `${Array.from({ length: count }, next).join('')}c`;
}

/** Rules of a field mapping that search the `texts` of a payload for such patterns. */
export const slowRules = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    source: `$.payload.texts[?search(@, "${slowPattern(400 + n)}")]`,
    target: `found_${n}`,
    type: 'json',
  }));

const PROPERTIES = 800;

/** A schema with many members, each of which takes code of its own. @param seed makes it another schema */
export const largeSchema = (seed: string) => ({
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: PROPERTIES }, (_, n) => [
      `${seed}${n}`,
      { type: ['string', 'null'], pattern: `^${seed}-\\d+$`, maxLength: 100 + n },
    ]),
  ),
});
