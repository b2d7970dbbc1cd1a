// Destinations under HOOKYARD_PUBLIC_URL: what is delivered there comes in again as a webhook, so a route must say that it is meant.
// An address may come to lead here later, by another HOOKYARD_PUBLIC_URL or by an import: attempts check it again.
// Channels of alerts are never there: what goes wrong with an alert as a webhook would be the next alert.
// Rules: ROUTE-53, ALR-26.
import { addressesUnder } from '../../../core/http/own-address.ts';
import { Destination, Route } from '../../../db/entities.ts';
import type { EntityManager } from '../../../db/orm.ts';
import type { ApiDeps } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';

type Deps = Pick<ApiDeps, 'baseUrl'>;
type Named = Pick<Route, 'destinationIds' | 'failoverDestinationIds' | 'allowOwnAddress'>;
type Addressed = Pick<Destination, 'id' | 'url'>;

/** Refuses a route to an own address that does not allow it. @param destinations those that it names @throws ApiError 400 */
export function refuseOwnAddress(deps: Deps, route: Named, destinations: readonly Addressed[]): void {
  const [own] = ownAmong(deps, route, destinations);
  if (own === undefined) return;
  const member = route.destinationIds.includes(own.id) ? 'destinationIds' : 'failoverDestinationIds';
  throw invalid(member, `must not name ${own.id}, ${whyNot(deps)}`);
}

/** What is wrong with the routes of a file: one message for each own address that is not allowed. */
export async function ownAddressProblems(
  em: EntityManager,
  deps: Deps,
  routes: readonly (Named & { label: string })[],
): Promise<string[]> {
  const wanted = routes.flatMap((route) => [...route.destinationIds, ...route.failoverDestinationIds]);
  const destinations = await em.find(
    Destination,
    { id: { $in: [...new Set(wanted)] } },
    { fields: ['id', 'url', 'slug'], disableIdentityMap: true },
  );
  return routes.flatMap((route) =>
    ownAmong(deps, route, destinations).map(({ slug }) => `${route.label}: must not name ${slug}, ${whyNot(deps)}`),
  );
}

/** Refuses an own address for a destination that is named by routes that do not allow it. @throws ApiError 400 INVALID_URL */
export async function refuseOwnUrl(em: EntityManager, deps: Deps, { id, url }: Addressed): Promise<void> {
  if (!addressesUnder(deps.baseUrl())(url)) return;
  const named = { $or: [{ destinationIds: { $contains: [id] } }, { failoverDestinationIds: { $contains: [id] } }] };
  const route = await em.findOne(Route, { ...named, allowOwnAddress: false }, { fields: ['id'] });
  if (route === null) return;
  throw invalid(
    'url',
    `must not be under ${deps.baseUrl()}, where deliveries come in as webhooks, because the route ${route.id} has no allowOwnAddress`,
    'INVALID_URL',
  );
}

/** @param config of a channel of alerts, as it was sent @throws ApiError 400 INVALID_URL */
export function refuseOwnChannel(deps: Deps, { url }: Readonly<Record<string, unknown>>): void {
  if (typeof url !== 'string' || !addressesUnder(deps.baseUrl())(url)) return;
  throw invalid('config.url', `must not be under ${deps.baseUrl()}, where alerts come in as webhooks`, 'INVALID_URL');
}

function ownAmong<One extends Addressed>(deps: Deps, route: Named, destinations: readonly One[]): One[] {
  if (route.allowOwnAddress) return [];
  const isOwn = addressesUnder(deps.baseUrl());
  const named = [...route.destinationIds, ...route.failoverDestinationIds];
  return destinations.filter(({ id, url }) => named.includes(id) && isOwn(url));
}

function whyNot(deps: Deps): string {
  return `whose url is under ${deps.baseUrl()}, so that deliveries would come back as webhooks; if that is wanted, set allowOwnAddress`;
}
