// What tests of work budgets attack: one organization's routes, beside a neighbour that must not notice.
import { makeDestination, makeRoute, makeSource, type SourceRecord } from './api-records.ts';
import { send } from './http-client.ts';
import { LOOP_WATCH, longTurns } from './loop-watch.ts';
import { makeNeighbour, type Neighbour } from './neighbour.ts';
import { createOrganization, type Service, startService, type TestOrganization } from './service.ts';

export interface Attacked {
  service: Service;
  organization: TestOrganization;
  neighbour: Neighbour;
}

/** An API of its own. What the neighbour sees as longest is the longest turn of its event loop, in processor time. */
export async function startAttacked(): Promise<Attacked> {
  const service = await startService('api', LOOP_WATCH);
  const organization = await createOrganization({ service });
  const neighbour = await makeNeighbour(service);
  return {
    service,
    organization,
    neighbour: {
      ...neighbour,
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

/** A source with a route for each of these members, each to a destination of its own: others would be refused as duplicates. */
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
