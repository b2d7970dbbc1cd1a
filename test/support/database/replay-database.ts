// A database with one route from one source, whose events are replayed by calls: no worker and no Temporal.
import { newId } from '../../../core/text/ids.ts';
import { makePage } from '../../../db/replay/event-replay-pages.ts';
import {
  countMatching,
  createEventReplay,
  type EventReplayKey,
  selectEvents,
} from '../../../db/replay/event-replays.ts';
import type { EventFilter } from '../../../db/history/events.ts';
import type { Pool } from '../../../db/connections/pool.ts';
import { insertDestination, insertRoute } from '../../db/fixtures.ts';
import { addOwner } from './new-events.ts';
import { ownDatabase } from './own-database.ts';
import { execute, selectColumn } from './sql.ts';

/** How many replays an organization of these tests may have running. */
const MAX_REPLAYS = 3;

export interface StoredEvent {
  status?: string;
  routed?: boolean;
  body?: string | null;
  payloadSize?: number;
  /** Relative to now, ms. */
  receivedAgo?: number;
}

export const many = (count: number, event: StoredEvent = {}): StoredEvent[] =>
  Array.from({ length: count }, () => event);

export class ReplayDatabase {
  readonly pool: Pool;
  readonly databaseUrl: string;
  readonly close: () => Promise<void>;
  organizationId = '';
  sourceId = '';
  destinationId = '';
  routeId = '';

  private constructor({ pool, databaseUrl, close }: Pick<ReplayDatabase, 'pool' | 'databaseUrl' | 'close'>) {
    this.pool = pool;
    this.databaseUrl = databaseUrl;
    this.close = close;
  }

  static async make(): Promise<ReplayDatabase> {
    return new ReplayDatabase(await ownDatabase('replays', { connections: 8 }));
  }

  /** From now on all is about a new organization, with a source, a destination and a route between them. */
  async renew(): Promise<void> {
    const owner = await addOwner(this.pool);
    const destinationId = await insertDestination(this.pool, owner.organizationId);
    const routeId = await insertRoute(this.pool, owner, [destinationId]);
    Object.assign(this, { ...owner, destinationId, routeId });
  }

  /** Stores events without deliveries, in the order of time; @returns their ids */
  async storeEvents(...events: StoredEvent[]): Promise<string[]> {
    const rows = events.map(
      ({ status = 'delivered', routed = true, body = '{}', payloadSize = 2, receivedAgo = 1000 }) => ({
        id: newId('evt', Date.now() - receivedAgo),
        status,
        routed,
        body,
        payload_size: payloadSize,
      }),
    );
    await execute(this.pool)`with input as (
        select *
        from json_to_recordset(${JSON.stringify(rows)}::json) as i(id text, status text, routed boolean, body text,
        payload_size int)
      ), stored as (
        insert into events (id, organization_id, source_id, status, routed, method, query, client_address, headers,
                            payload_size, payload_hash, deliveries_count, received_at, validated_at, queued_at)
        select id, ${this.organizationId}, ${this.sourceId}, status, routed, 'POST', '', '127.0.0.1', '{}',
        payload_size, '', 0, now(), now(), clock_timestamp() from input
      )
      insert into event_payloads (event_id, is_text, body)
      select id, true, convert_to(body, 'UTF8') from input where body is not null`;
    return rows.map(({ id }) => id);
  }

  async startReplay(
    filter: EventFilter = {},
    ratePerSecond = 3,
    destinationIds: string[] | null = null,
  ): Promise<EventReplayKey> {
    const { pool, organizationId } = this;
    const selection = await selectEvents(pool, organizationId, filter);
    const eventsTotal = await countMatching(pool, selection);
    const replay = { selection, search: null, destinationIds, ratePerSecond, eventsTotal };
    const replayId = await createEventReplay(pool, replay, MAX_REPLAYS);
    return { organizationId, replayId };
  }

  /** Makes pages until the replay has ended; @returns its progress after each */
  async run(key: EventReplayKey, from = 0) {
    const seen = [];
    for (let page = from + 1; ; ) {
      const { progress } = await makePage(this.pool, key, page);
      seen.push(progress);
      if (progress.status !== 'running') return seen;
      page = progress.pages + 1;
    }
  }

  /** The event of every delivery, in the order in which they were made. */
  replayedEvents(): Promise<string[]> {
    return selectColumn<string>(this.pool)`select event_id from deliveries
      where organization_id = ${this.organizationId} order by id`;
  }

  /** Backends of this database that wait for a lock. */
  waitingBackends(): Promise<number[]> {
    return selectColumn<number>(this.pool)`select pid from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock'`;
  }

  async waitingBackend(): Promise<number | undefined> {
    return (await this.waitingBackends())[0];
  }
}
