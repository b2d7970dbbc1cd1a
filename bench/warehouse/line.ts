// A source with a route to a warehouse destination of its own, and what became of the events that went there.
import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '../../core/text/ids.ts';
import type { StoreServer } from '../../test/support/warehouse/object-stores.ts';
import type { ProviderCase } from '../../test/support/warehouse/warehouse-targets.ts';
import { allRowsOf, readObjects } from '../../test/support/warehouse/warehouse-objects.ts';
import { createRoute, type Service } from '../support/service.ts';

const DEADLINE_MS = 300_000;
const LOOK_EVERY_MS = 100;

export interface Store {
  provider: ProviderCase;
  server: StoreServer;
}

export interface Line {
  service: Service;
  store: Store;
  prefix: string;
  destinationId: string;
  routeId: string;
  webhookUrl: string;
}

/** @param form members of the destination's config */
export async function createLine(service: Service, store: Store, form: object): Promise<Line> {
  const { provider, server } = store;
  const prefix = `bench-${newId('bat').slice(-10)}`;
  const config = { ...provider.config(server.url), prefix, ...form };
  const destination = { name: prefix, type: provider.type, config };
  const { id: destinationId } = (await service.call('POST', '/api/destinations', destination)) as { id: string };
  const { routeId, path } = await createRoute(service, [destinationId]);
  return { service, store, prefix, destinationId, routeId, webhookUrl: service.url + path };
}

/** By the clock of the database, ms since 1970. */
export interface Written {
  lastObjectAt: number;
  lastRecordedAt: number;
  /** The most memory of the worker meanwhile, MiB. */
  peak: number;
}

/** Waits until so many events are in objects and recorded as delivered. */
export async function untilWritten({ service, destinationId }: Line, events: number): Promise<Written> {
  const giveUpAt = performance.now() + DEADLINE_MS;
  let peak = 0;
  for (;;) {
    const { rows } = await service.pool.query<{ events: number; uploaded: Date; finished: Date }>(
      `select coalesce(sum(events), 0)::int as events, max(uploaded_at) as uploaded, max(finished_at) as finished
       from warehouse_batches where destination_id = $1 and status = 'written'`,
      [destinationId],
    );
    peak = Math.max(peak, service.memoryMiB().worker);
    const [found] = rows;
    if (found && found.events >= events)
      return { lastObjectAt: found.uploaded.getTime(), lastRecordedAt: found.finished.getTime(), peak };
    if (performance.now() > giveUpAt)
      throw new Error(`${found?.events} of ${events} rows written in ${DEADLINE_MS / 1000} s`);
    await delay(LOOK_EVERY_MS);
  }
}

/** The ids of the events in the objects, one for each row, and how many objects there are. */
export async function readBack({ store: { provider, server }, prefix }: Line) {
  const objects = await readObjects(provider, server.url, `${prefix}/`);
  const eventIds = (await Promise.all(objects.map(allRowsOf))).flat().map((row) => String(row.event_id));
  return { eventIds, files: objects.length };
}
