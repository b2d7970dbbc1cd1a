// Stores events as ingest stores them, for a warehouse that is left alone; then it is let go.
import { createHash } from 'node:crypto';
import { newId, shardOf } from '../../core/text/ids.ts';
import { type NewEvent, storeEvents } from '../../db/hot-path/store-events.ts';
import { LEASE_SECONDS } from '../../db/warehouse/flushes.ts';
import { until } from '../../test/support/until.ts';
import { type Line, untilWritten, type Written } from './line.ts';

const GROUP = 500;
const CLAIM_DEADLINE_MS = 30_000;

/** Claims the destination for longer than the bench takes, so that no worker starts its workflow. */
export async function leaveAlone({ service: { pool, organizationId }, destinationId }: Line): Promise<void> {
  await pool.query(
    `insert into warehouse_flushes (destination_id, organization_id, due_at, seen_version)
     select id, $2, now() + interval '1 hour', version from destinations where id = $1`,
    [destinationId, organizationId],
  );
}

/** @returns the ids of the events */
export async function fill(line: Line, events: number, body: Buffer): Promise<string[]> {
  const { pool, organizationId } = line.service;
  const { rows } = await pool.query<{ sourceId: string; configVersion: number }>(
    `select r.source_id as "sourceId", o.config_version as "configVersion"
     from routes r join organizations o on o.id = r.organization_id where r.id = $1`,
    [line.routeId],
  );
  const known = rows[0];
  if (!known) throw new Error(`Route ${line.routeId} does not exist`);
  const { routeId, destinationId } = line;
  const payloadHash = `sha256:${createHash('sha256').update(body).digest('hex')}`;
  const ids: string[] = [];
  while (ids.length < events) {
    const group = Array.from({ length: Math.min(GROUP, events - ids.length) }, () =>
      newEvent({ routeId, destinationId, ...known, organizationId, body, payloadHash }),
    );
    const { stored } = await storeEvents(pool, group);
    ids.push(...stored);
  }
  await pool.query('vacuum analyze outbox');
  return ids;
}

function newEvent(line: {
  organizationId: string;
  configVersion: number;
  sourceId: string;
  routeId: string;
  destinationId: string;
  body: Buffer;
  payloadHash: string;
}): NewEvent {
  const { organizationId, configVersion, sourceId, routeId, destinationId, body, payloadHash } = line;
  const receivedAt = new Date();
  const id = newId('dlv');
  return {
    id: newId('evt', receivedAt.getTime()),
    organizationId,
    configVersion,
    sourceId,
    method: 'POST',
    path: '',
    query: '',
    headers: { 'content-type': 'application/json', 'user-agent': 'bench', 'x-github-event': 'issues' },
    clientAddress: '192.0.2.1',
    body,
    isText: true,
    payloadHash,
    receivedAt,
    validatedAt: receivedAt,
    deliveries: [
      {
        id,
        routeId,
        routeVersion: 1,
        transformVersion: null,
        destinationId,
        priority: 0,
        shard: shardOf(id),
        status: 'pending',
        error: null,
      },
    ],
    routed: [routeId],
    filtered: [],
    idempotency: null,
  };
}

/** Lets the destination go. @returns also when a worker claimed it, ms since 1970 */
export async function drain(line: Line, events: number): Promise<Written & { claimedAt: number }> {
  const { pool } = line.service;
  await pool.query('update warehouse_flushes set due_at = now() where destination_id = $1', [line.destinationId]);
  const [claimedAt, written] = await Promise.all([claimOf(line), untilWritten(line, events)]);
  return { ...written, claimedAt };
}

/** A claim moves the time at which the row is due ahead by the lease. */
function claimOf({ service: { pool }, destinationId }: Line): Promise<number> {
  const claim = async () => {
    const { rows } = await pool.query<{ at: Date }>(
      'select due_at - make_interval(secs => $2) as at from warehouse_flushes where destination_id = $1 and due_at > now()',
      [destinationId, LEASE_SECONDS],
    );
    return rows[0]?.at.getTime();
  };
  return until('a worker that claims the warehouse', claim, CLAIM_DEADLINE_MS);
}
