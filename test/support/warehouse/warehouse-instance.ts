// Warehouse destinations of a Hookyard under test: made, sent to, and read back.
import { expect } from 'chai';
import type { Hookyard } from '../hookyard.ts';
import { Records, type SourceView } from '../records.ts';
import { selectRows } from '../database/sql.ts';
import { until } from '../until.ts';
import { COLD_START_MS, type StoreServer } from './object-stores.ts';
import { allRowsOf, readObjects, type Row } from './warehouse-objects.ts';
import { type ProviderCase, providerCases } from './warehouse-targets.ts';

export interface BatchView {
  id: string;
  key: string | null;
  count: number;
  convertedCount: number | null;
  conversions: { target: string; count: number; eventId: string }[] | null;
  sha256: string | null;
  attempts: number;
  lastError: string | null;
  createdAt: string;
  frozenAt: string | null;
  writtenAt: string | null;
}

export interface Store {
  provider: ProviderCase;
  /** Of the server. */
  url: string;
}

/** The server of a provider, by default of S3, during the tests of this `describe`. */
export function useStore(provider = providerCases.find(({ type }) => type === 's3') ?? expect.fail('no S3')): Store {
  const store = { provider, url: '' };
  let server: StoreServer | undefined;
  before('a store is started', async function () {
    this.timeout(COLD_START_MS);
    server = await provider.start();
    await provider.prepare(server.url);
    store.url = server.url;
  });
  after(() => server?.stop());
  return store;
}

let made = 0;

export type WarehousePipe = Awaited<ReturnType<typeof makePipe>>;

/**
 * A source with a route to a warehouse destination, with a folder of its own in the store.
 * @param fields of the destination's config, of the destination and of the route
 */
export async function makePipe(
  testInstance: Hookyard,
  store: Store,
  fields: Partial<Record<'config' | 'destination' | 'route', Record<string, unknown>>> = {},
) {
  made += 1;
  const records = new Records(testInstance);
  const { client } = testInstance;
  const prefix = `test-${process.pid}-${Date.now()}-${made}`;
  const { type } = store.provider;
  const config = { ...store.provider.config(store.url), prefix, batchWindowSeconds: 2, ...fields.config };
  const lake = { name: `Lake ${made}`, type, config, ...fields.destination };
  const { id: destinationId } = await client.create('/api/destinations', lake);
  const source = await records.source();
  const { id: routeId } = await records.route(source.id, [destinationId], fields.route);

  const objects = () => readObjects(store.provider, store.url, `${prefix}/`);

  /** Waits until so many deliveries have a status; the whole of an organization may be too much to page through. */
  const settled = (count: number, status = 'delivered', deadlineMs = 60_000) =>
    until(
      `${count} deliveries to be ${status}`,
      async () => {
        const rows = await selectRows<{ status: string; count: number }>(testInstance.pool)`select status,
          count(*)::int as count from deliveries where destination_id = ${destinationId} group by status`;
        const found = rows.find((row) => row.status === status)?.count ?? 0;
        if (found < count) throw new Error(`there are ${JSON.stringify(rows)}`);
        return true;
      },
      deadlineMs,
    );

  return {
    ...{ records, prefix, source, destinationId, routeId, objects, settled },
    /** Sends webhooks; @returns the ids of the events, in the order in which they were sent */
    async send(bodies: (string | Buffer)[], to: SourceView = source): Promise<string[]> {
      const ids: string[] = [];
      for (let from = 0; from < bodies.length; from += 50)
        ids.push(...(await Promise.all(bodies.slice(from, from + 50).map((body) => records.accepted(to, body)))));
      return ids;
    },
    async batches(status?: string): Promise<BatchView[]> {
      const query = status === undefined ? '' : `&status=${status}`;
      return (await client.list<BatchView>(`/api/destinations/${destinationId}/batches?pageSize=100${query}`)).data;
    },
    /** Changes the destination. */
    patch: (fields: Record<string, unknown>) => client.patch(`/api/destinations/${destinationId}`, fields),
    /** Waits for the end of so many deliveries, and reads all rows. @returns rows in the order of the objects' keys */
    async rows(count: number, deadlineMs?: number): Promise<Row[]> {
      await settled(count, 'delivered', deadlineMs);
      return (await Promise.all((await objects()).map(allRowsOf))).flat();
    },
  };
}

/** Each of these events, once. */
export function expectEachOnce(rows: Row[], eventIds: string[]): void {
  expect(rows.map((row) => row.event_id).toSorted()).to.deep.equal(eventIds.toSorted());
}
