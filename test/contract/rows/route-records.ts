// Routes and what surrounds them, for the rows about them.
import type { Json } from '../../support/api-client.ts';
import type { World } from '../world.ts';

export const PATH = '/api/routes';
export const created = (w: World) => w.once('route', () => w.route());
export const conditions = [{ field: 'payload.order.kind', operator: 'equals', value: 'paid' }];
export const circuit = (w: World, id: string) => w.api.get<Json>(`${PATH}/${id}/circuit-status`);

/** A body that a route can be made of, each time with a destination of its own, so that it is no duplicate. */
export async function bodyOf(w: World, fields: Json = {}): Promise<Json> {
  const [source, destination] = await Promise.all([w.source(), w.destination()]);
  return { name: 'Orders to CRM', sourceId: source.id, destinationIds: [destination.id], ...fields };
}

/** An export file of one route in another organization, with what the route names. */
export async function exported(w: World, fields: Json = {}) {
  const organization = await w.organization();
  const { api, base } = organization;
  const source = await api.create(`${base}/sources`, { name: 'Orders', slug: 'orders' });
  const destination = await api.create('/api/destinations', { name: 'CRM', slug: 'crm', url: 'https://crm.example' });
  const route = await api.create<Json>(PATH, {
    name: 'R',
    sourceId: source.id,
    destinationIds: [destination.id],
    ...fields,
  });
  const file = await api.get<Json & { routes: Json[] }>(`${PATH}/export`);
  const run = (strategy: string, body: Json = {}) =>
    api.post<Json>(`${PATH}/import`, { ...file, conflictStrategy: strategy, ...body });
  const names = async () => (await api.list(PATH)).data.map(({ name }) => name);
  return { ...organization, source, destination, route, file, run, names, item: file.routes[0] ?? {} };
}
