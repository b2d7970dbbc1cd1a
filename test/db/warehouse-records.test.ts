import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { openError, ownWords } from '../../core/text/error-summary.ts';
import { endDeliveries } from '../../db/delivery/delivery-commands.ts';
import { recordResults } from '../../db/hot-path/record-results.ts';
import { recordWritten } from '../../db/warehouse/members.ts';
import { freeze } from './fixtures.ts';
import {
  attemptResult,
  type HistoryOwner,
  makeOwner,
  type StoredEvent,
  storeEvent,
  firstRoute,
} from '../support/database/history.ts';
import { useHistoryDatabase, usePool } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

const DAY_MS = 86_400_000;

describe('the deliveries of a file in PostgreSQL', () => {
  const { database, pool } = useHistoryDatabase(1);
  const hotPool = usePool(database, { hotPath: true });

  interface World {
    owner: HistoryOwner;
    events: StoredEvent[];
    batchId: string;
    /** In the file: the first delivery of each event. */
    members: { deliveryId: string; eventId: string }[];
  }

  /**
   * Two events with one delivery and one with two, of a route that tells of successes; the first deliveries are in a
   * file.
   */
  async function world(receivedAt: Date): Promise<World> {
    const owner = await makeOwner(pool, 1, 2);
    const route = firstRoute(owner);
    await execute(pool)`update routes set notify_emails = 'ops@example.com', notify_on_success = true
      where id = ${route.id}`;
    const events: StoredEvent[] = [];
    for (const count of [1, 1, 2]) {
      const statuses = Array<'pending'>(count).fill('pending');
      events.push(await storeEvent(pool, owner, route, { receivedAt, statuses }));
    }
    const members = events.map(({ id, deliveries }) => ({ eventId: id, deliveryId: deliveries[0]?.id ?? '' }));
    const batchId = newId('bat');
    await freeze(pool, {
      ...{ organizationId: owner.organizationId, destinationId: route.destinationIds[0] ?? '', id: batchId },
      members: members.map(({ deliveryId }) => ({ deliveryId, priority: 0 })),
    });
    return { owner, events, batchId, members };
  }

  const at = new Date();
  const attempt = { statusCode: 200, latency: 20, latencyClass: 20, startedAt: at, completedAt: at };
  const recorded = ({ batchId, members }: World) => recordWritten(hotPool, { batchId, members, attempt });

  /** What PostgreSQL holds, without ids. */
  async function held({ owner: { organizationId, routes }, events }: World): Promise<Record<string, unknown[]>> {
    const [route] = routes;
    const eventIds = events.map(({ id }) => id);
    const rows = async (table: string, where: string, values: unknown[]) => {
      const found = await pool.query<{ row: Record<string, unknown> }>(
        `select to_jsonb(t) - '{id,organization_id,event_id,source_id,route_id,destination_id,delivery_id,batch_id,payload_hash,
           validated_at,queued_at,facts,due_at,since,created_at}'::text[] as row from ${table} t where ${where} order by t::text`,
        values,
      );
      return found.rows.map(({ row }) => row).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    };
    return {
      events: await rows('events', 'id = any($1)', [eventIds]),
      deliveries: await rows('deliveries', 'event_id = any($1)', [eventIds]),
      attempts: await rows('attempts', 'delivery_id in (select id from deliveries where event_id = any($1))', [
        eventIds,
      ]),
      entries: await rows('ledger_entries', 'organization_id = $1', [organizationId]),
      notifications: await rows('messages', 'route_id = $1', [route?.id]),
    };
  }

  for (const [name, receivedAt] of [
    ['of today', at],
    ['of yesterday, whose partition is not named', new Date(at.getTime() - DAY_MS)],
  ] as const) {
    it(`are recorded like the attempts of others, ${name}`, async () => {
      const [file, single] = [await world(receivedAt), await world(receivedAt)];
      const changed = await recorded(file);
      expect(changed).to.have.members(file.members.map(({ deliveryId }) => deliveryId));
      const results = single.events.map((event, index) => ({
        ...attemptResult(
          event,
          { id: single.members[index]?.deliveryId ?? '', destinationId: '' },
          { status: 'delivered', completedAt: at },
        ),
        ...{ responseHeaders: null, responseBody: null },
      }));
      await recordResults(hotPool, results);
      const found = await held(file);
      expect(found).to.deep.equal(await held(single));
      expect(found.attempts).to.have.lengthOf(3);
      expect(found.notifications).to.have.lengthOf(1);
      const statuses = found.events?.map((event) => (event as { status: string }).status);
      expect(statuses).to.have.members(['delivered', 'delivered', 'pending']);
    });
  }

  it('are recorded once, and not when they have ended, or are in another file', async () => {
    const file = await world(at);
    const [ended, ...others] = file.members.map(({ deliveryId }) => deliveryId);
    const { organizationId } = file.owner;
    await endDeliveries(pool, 'cancelled', {
      organizationId,
      deliveryIds: [ended ?? ''],
      reason: openError(ownWords`a test`),
    });
    expect(await recorded({ ...file, batchId: newId('bat') })).to.deep.equal([]);
    expect(await recorded(file)).to.have.members(others);
    const before = await held(file);
    expect(await recorded(file)).to.deep.equal([]);
    expect(await held(file)).to.deep.equal(before);
    expect(before.attempts).to.have.lengthOf(2);
  });
});
