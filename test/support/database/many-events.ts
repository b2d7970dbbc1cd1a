// Thousands of events at once, by sets: what would take ingest minutes. Ids are made as everywhere, so that lists,
// partitions and outbox take them for ordinary ones.
import { newId, shardOf } from '../../../core/text/ids.ts';
import type { Pool } from '../../../db/connections/pool.ts';

export interface ManyEvents {
  organizationId: string;
  sourceId: string;
  routeId: string;
  destinationId: string;
  count: number;
  /** Of each delivery; a pending one waits in the outbox. */
  status: 'delivered' | 'pending';
}

const INSERT = `
with input as (
  select i.*, i.event_id || '-key' as key from unnest($1::text[], $2::text[], $3::int[]) as i(event_id, delivery_id, shard)
), stored as (
  insert into events (id, organization_id, source_id, status, routed, method, query, client_address, headers, payload_size, payload_hash,
                      deliveries_count, deliveries_succeeded, received_at, validated_at, queued_at)
  select event_id, $4, $5, $8, true, 'POST', '', '127.0.0.1', '{"content-type":"application/json"}', 2, 'sha256:' || encode(sha256('{}'), 'hex'), 1, ($8 = 'delivered')::int, now(), now(), now()
  from input
), payloads as (
  insert into event_payloads (event_id, is_text, body) select event_id, true, '{}' from input
), keys as (
  insert into idempotency_keys (source_id, key_hash, event_id, expires_at)
  select $5, sha256(key::bytea), event_id, now() + interval '1 day' from input
), made as (
  insert into deliveries (id, organization_id, event_id, source_id, route_id, route_version, destination_id, priority, status, counted, attempt_count, status_code, finished_at)
  select delivery_id, $4, event_id, $5, $6, 1, $7, 0, $8, true, ($8 = 'delivered')::int, case when $8 = 'delivered' then 200 end,
         case when $8 = 'delivered' then now() end
  from input
), queued as (
  insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority, shard)
  select delivery_id, $7, $4, event_id, $5, $6, 0, shard from input where $8 = 'pending'
)
insert into attempts (delivery_id, attempt_number, status, status_code, latency, started_at, completed_at, request_headers)
select delivery_id, 1, 'success', 200, 5, now(), now(), '{}' from input where $8 = 'delivered'`;

const STEP = 5000;

/** @returns the ids of the events, the oldest first */
export async function storeMany(pool: Pool, many: ManyEvents): Promise<string[]> {
  const { organizationId, sourceId, routeId, destinationId, status } = many;
  const eventIds: string[] = [];
  while (eventIds.length < many.count) {
    const step = Array.from({ length: Math.min(STEP, many.count - eventIds.length) }, () => newId('evt'));
    const deliveryIds = step.map(() => newId('dlv'));
    const shards = deliveryIds.map(shardOf);
    await pool.query(INSERT, [step, deliveryIds, shards, organizationId, sourceId, routeId, destinationId, status]);
    eventIds.push(...step);
  }
  return eventIds;
}
