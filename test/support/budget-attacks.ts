// What tests of work budgets attack: one organization's routes, beside a neighbour that must not notice.
import { makeDestination, makeRoute, makeSource, type SourceRecord } from './api-records.ts';
import { makeNeighbour, type Neighbour } from './neighbour.ts';
import { createOrganization, type Service, startService, type TestOrganization } from './service.ts';

/** Other test files use the processors too. Without budgets the attacks hold the loop from five seconds to minutes. */
export const BAR_MS = 2000;

export interface Attacked {
  service: Service;
  organization: TestOrganization;
  neighbour: Neighbour;
}

/** An API of its own. */
export async function startAttacked(): Promise<Attacked> {
  const service = await startService('api');
  const organization = await createOrganization({ service });
  return { service, organization, neighbour: await makeNeighbour(service) };
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
