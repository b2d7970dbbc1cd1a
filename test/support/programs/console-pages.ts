// Every page of the console with an address that leads to something, by the console's own table of pages.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { consoleWorld } from './console.ts';
import { Issues } from '../messages/issues.ts';
import type { Records } from '../records.ts';

export interface ConsolePage {
  path: string;
  title: string;
  scope?: string;
}

const TABLE = join(import.meta.dirname, '..', '..', '..', 'console', 'src', 'pages', 'index.ts');
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** The rows of the table. The pages themselves are not loaded, and the type check of the tests does not go there. */
export async function consolePages(): Promise<ConsolePage[]> {
  const { pages } = (await import(pathToFileURL(TABLE).href)) as { pages: ConsolePage[] };
  return pages;
}

/** Ids of records by the path of their list: `sources`. */
export type Ids = Record<string, string>;

interface OneOfEach {
  ids: Ids;
  made: Awaited<ReturnType<Records['deliver']>>;
}

/** Makes one record of every kind that has a page; the delivery has failed, and there is an issue about it. */
export async function oneOfEach(): Promise<OneOfEach> {
  const { hookyard, records, receiver } = await consoleWorld();
  const { client, base } = hookyard;
  const create = (path: string, body: object) => client.create<{ id: string }>(path, body);
  const [filter, transform, schema, channel] = await Promise.all([
    create('/api/filters', { name: 'Paid', conditions: [{ field: 'payload.order.id', operator: 'exists' }] }),
    create('/api/transforms', { name: 'Short', type: 'jsonata', code: '{ "id": payload.order.id }' }),
    create('/api/schemas', { name: 'Order', schema: { type: 'object', required: ['order'] } }),
    create('/api/alert-channels', {
      ...{ name: 'Desk', type: 'webhook', config: { url: receiver.endpoint(200).url, secret: SECRET } },
      // It is looked at; what it would tell is of no interest.
      enabled: false,
    }),
  ]);
  const made = await records.deliver(
    receiver.endpoint({ status: 500, body: 'no room' }).url,
    '{"order":{"id":42}}',
    'failed',
    { route: { filterId: filter.id, transformId: transform.id, schemaId: schema.id } },
  );
  const issue = await new Issues(client).untilOpen({ routeId: made.route.id });
  const replay = await client.request('POST', `${base}/events/replay`, { sourceId: made.source.id });
  return {
    made,
    ids: {
      sources: made.source.id,
      destinations: made.destination.id,
      routes: made.route.id,
      events: made.eventId,
      deliveries: made.delivery.id,
      filters: filter.id,
      transforms: transform.id,
      schemas: schema.id,
      'alert-channels': channel.id,
      issues: issue.id,
      replays: String(replay.body.id),
    },
  };
}

/** The address of a page: of the record of its kind, if it is about one. */
export function addressOf({ path }: ConsolePage, ids: Ids): string {
  if (!path.includes('$id')) return path;
  const id = ids[path.split('/')[1] ?? ''];
  if (id === undefined) throw new Error(`no record for ${path}`);
  return path.replace('$id', id);
}
