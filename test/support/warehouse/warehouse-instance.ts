// Warehouse destinations of a Hookyard under test: made, sent to, and read back.
import { expect } from 'chai';
import type { Hookyard } from '../hookyard.ts';
import { Records, type SourceView } from '../records.ts';
import { until } from '../until.ts';
import { COLD_START_MS, type StoreServer } from './object-stores.ts';
import { allRowsOf, readObjects, type Row, type WrittenObject } from './warehouse-objects.ts';
import { type ProviderCase, providerCases } from './warehouse-targets.ts';

export interface BatchView {
  id: string;
  status: string;
  partition: string;
  key: string | null;
  fileFormat: string | null;
  compression: string | null;
  count: number;
  bytes: number;
  convertedCount: number | null;
  conversions: { target: string; count: number; eventId: string }[] | null;
  sha256: string | null;
  firstReceivedAt: string | null;
  lastReceivedAt: string | null;
  attempts: number;
  lastError: string | null;
  createdAt: string;
  frozenAt: string | null;
  writtenAt: string | null;
  finishedAt: string | null;
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

/** A source with a route to a warehouse destination, with a folder of its own in the store. */
export class WarehousePipe {
  readonly #testInstance: Hookyard;
  readonly store: Store;
  readonly records: Records;
  readonly prefix: string;
  readonly source: SourceView;
  readonly destinationId: string;
  readonly routeId: string;
  private constructor(
    testInstance: Hookyard,
    store: Store,
    made: { prefix: string; source: SourceView; destinationId: string; routeId: string },
  ) {
    this.#testInstance = testInstance;
    this.store = store;
    this.records = new Records(testInstance);
    this.prefix = made.prefix;
    this.source = made.source;
    this.destinationId = made.destinationId;
    this.routeId = made.routeId;
  }

  /** @param fields of the destination's config, of the destination and of the route */
  static async make(
    testInstance: Hookyard,
    store: Store,
    fields: {
      config?: Record<string, unknown>;
      destination?: Record<string, unknown>;
      route?: Record<string, unknown>;
    } = {},
  ): Promise<WarehousePipe> {
    made += 1;
    const records = new Records(testInstance);
    const prefix = `test-${process.pid}-${Date.now()}-${made}`;
    const { type } = store.provider;
    const config = { ...store.provider.config(store.url), prefix, batchWindowSeconds: 2, ...fields.config };
    const destination = await testInstance.client.create('/api/destinations', {
      name: `Lake ${made}`,
      type,
      config,
      ...fields.destination,
    });
    const source = await records.source();
    const { id: routeId } = await records.route(source.id, [destination.id], fields.route);
    return new WarehousePipe(testInstance, store, { prefix, source, destinationId: destination.id, routeId });
  }

  /** Sends webhooks; @returns the ids of the events, in the order in which they were sent */
  async send(bodies: (string | Buffer)[], source: SourceView = this.source): Promise<string[]> {
    const ids: string[] = [];
    for (let from = 0; from < bodies.length; from += 50) {
      ids.push(
        ...(await Promise.all(bodies.slice(from, from + 50).map((body) => this.records.accepted(source, body)))),
      );
    }
    return ids;
  }

  async batches(status?: string): Promise<BatchView[]> {
    const query = status === undefined ? '' : `&status=${status}`;
    const path = `/api/destinations/${this.destinationId}/batches?pageSize=100${query}`;
    return (await this.#testInstance.client.list<BatchView>(path)).data;
  }

  /** Changes the destination. */
  patch(fields: Record<string, unknown>): Promise<unknown> {
    return this.#testInstance.client.patch(`/api/destinations/${this.destinationId}`, fields);
  }

  objects(): Promise<WrittenObject[]> {
    return readObjects(this.store.provider, this.store.url, `${this.prefix}/`);
  }

  /** Waits until so many deliveries have a status; the whole of an organization may be too much to page through. */
  async settled(count: number, status = 'delivered', deadlineMs = 60_000): Promise<void> {
    await until(
      `${count} deliveries to be ${status}`,
      async () => {
        const { rows } = await this.#testInstance.pool.query<{ status: string; count: number }>(
          'select status, count(*)::int as count from deliveries where destination_id = $1 group by status',
          [this.destinationId],
        );
        const found = rows.find((row) => row.status === status)?.count ?? 0;
        if (found < count) throw new Error(`there are ${JSON.stringify(rows)}`);
        return true;
      },
      deadlineMs,
    );
  }

  /** Waits for the end of so many deliveries, and reads all rows. @returns rows in the order of the objects' keys */
  async rows(count: number, deadlineMs?: number): Promise<Row[]> {
    await this.settled(count, 'delivered', deadlineMs);
    return (await Promise.all((await this.objects()).map(allRowsOf))).flat();
  }
}

/** Each of these events, once. */
export function expectEachOnce(rows: Row[], eventIds: string[]): void {
  expect(rows.map((row) => row.event_id).toSorted()).to.deep.equal(eventIds.toSorted());
}
