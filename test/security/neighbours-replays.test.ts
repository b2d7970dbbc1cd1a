// Replays count in the backlog, so they are refused like webhooks: one organization cannot close ingest for others with
// them.
import { expect } from 'chai';
import { type LimitChanges, setLimits } from '../../db/organizations/organizations.ts';
import { newId } from '../../core/text/ids.ts';
import {
  addNeighbour,
  emptyBacklogFirst,
  expectAccepted,
  fanOut,
  type Neighbour,
} from '../support/attacks/neighbours.ts';
import { expectLimited } from '../support/attacks/quotas.ts';
import { onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard, useMade } from '../support/use-hookyard.ts';

const LIMIT = 800;
const FAN_OUT = 20;
const OTHERS = 10;
const RETRIES_WAIT = {
  destination: { retryPolicy: onceMore(5, 3_600_000) },
  route: { circuitFailureThreshold: 10_000 },
};

describe('an organization that replays', () => {
  const { testInstance, receiver } = useHookyard({ settings: { HOOKYARD_MAX_BACKLOG: String(LIMIT) } });
  const other = useMade('a neighbour', () => addNeighbour(testInstance));
  const others = useMade('its pipe', () => other.records.pipe(receiver.endpoint(200).url));
  emptyBacklogFirst(testInstance);

  const expectOthersAccepted = () => expectAccepted(other, others.source, OTHERS);

  const limit = ({ organizationId }: Neighbour, changes: LimitChanges) =>
    setLimits(testInstance.pool, organizationId, changes);

  async function waitingOf({ organizationId }: Neighbour): Promise<number> {
    const { rows } = await testInstance.pool.query<{ waiting: number }>(
      `select ((select count(*) from outbox where organization_id = $1) +
               (select count(*) from retrying_deliveries where organization_id = $1))::int as waiting`,
      [organizationId],
    );
    return rows[0]?.waiting ?? 0;
  }

  /** Events that were stored before their source had a route to so many destinations: at ingest they led to nothing. */
  async function eventsThatFanOut(of: Neighbour, { to, events = 1 }: { to: number; events?: number }) {
    const source = await of.records.source();
    const ids: string[] = [];
    for (let number = 0; number < events; number += 1) ids.push(await of.records.accepted(source, '{}'));
    const { destinationIds } = await fanOut(of, [receiver.endpoint(500).url], to, RETRIES_WAIT);
    await of.records.route(source.id, destinationIds, { name: 'Added later', ...RETRIES_WAIT.route });
    const [eventId = ''] = ids;
    return { eventId, eventIds: ids, destinationIds };
  }

  it('is refused at its share of the backlog, and webhooks of others are taken', async () => {
    const greedy = await addNeighbour(testInstance);
    const { eventIds } = await eventsThatFanOut(greedy, { to: FAN_OUT, events: LIMIT / FAN_OUT + 5 });
    const { client, base } = greedy.instance;
    const replay = (ids: string[]) =>
      Promise.all(ids.map((id) => client.request('POST', `${base}/events/${id}/replay`)));
    const answers = await replay(eventIds);
    // What is stored while a count is read may count twice until the next: who asks again reaches its share.
    const refused = await until('its share, three quarters', async () => {
      const refusals = answers.filter(({ status }) => status !== 200);
      if ((await waitingOf(greedy)) >= LIMIT * (3 / 4) - FAN_OUT) return refusals;
      const again = eventIds.filter((_, index) => answers[index]?.status !== 200);
      answers.splice(0, answers.length, ...(await replay(again)));
      eventIds.splice(0, eventIds.length, ...again);
      return null;
    });
    expect(refused).to.have.length.at.least(5);
    expect(await waitingOf(greedy)).to.be.at.most(LIMIT);
    for (const { status, headers, body } of refused) {
      expect(status, JSON.stringify(body)).to.equal(503);
      expect(headers.get('retry-after')).to.match(/^\d+$/);
      expect(body).to.have.property('message').that.includes('nothing was replayed');
    }
    await expectOthersAccepted();
  });

  it('is refused by its limit waitingDeliveries, however it asks for a replay', async () => {
    const limited = await addNeighbour(testInstance);
    const { eventId } = await eventsThatFanOut(limited, { to: 4 });
    const { client, base } = limited.instance;
    await limit(limited, { waitingDeliveries: 4 });
    await client.post(`${base}/events/${eventId}/replay`, {});
    /** What is open is not replayed. */
    async function cancelOne(): Promise<string> {
      const open = (await limited.records.deliveries(eventId)).find(({ status }) => status === 'pending');
      await client.post(`/api/deliveries/${open?.id}/cancel`);
      return open?.id ?? '';
    }
    let id = await cancelOne();
    await limit(limited, { waitingDeliveries: 3 });
    const ask = {
      event: () => client.request('POST', `${base}/events/${eventId}/replay`, {}),
      events: () => client.request('POST', `${base}/events/bulk/replay`, { eventIds: [eventId] }),
      delivery: () => client.request('POST', `/api/deliveries/${id}/replay`),
      deliveries: () => client.request('POST', '/api/deliveries/bulk', { action: 'replay', eventId }),
    };
    for (const [name, request] of Object.entries(ask)) {
      expectLimited(await request(), 'waitingDeliveries');
      expect(await waitingOf(limited), name).to.equal(3);
    }
    await expectOthersAccepted();
    await limit(limited, { waitingDeliveries: 1000 });
    for (const [name, request] of Object.entries(ask)) {
      expect((await request()).status, name).to.equal(200);
      expect(await waitingOf(limited), name).to.equal(4);
      id = await cancelOne();
    }
  });

  it('is refused when an event leads to more deliveries than one may have', async () => {
    const limited = await addNeighbour(testInstance);
    const { eventId, destinationIds } = await eventsThatFanOut(limited, { to: 4 });
    const { client, base } = limited.instance;
    await limit(limited, { deliveriesPerEvent: 3 });
    expectLimited(await client.request('POST', `${base}/events/${eventId}/replay`), 'deliveriesPerEvent');
    const bulk = { eventIds: [eventId] };
    expectLimited(await client.request('POST', `${base}/events/bulk/replay`, bulk), 'deliveriesPerEvent');
    expect(await waitingOf(limited)).to.equal(0);
    const chosen = { destinationIds: destinationIds.slice(0, 3) };
    expect((await client.request('POST', `${base}/events/${eventId}/replay`, chosen)).status).to.equal(200);
  });

  it('retries an issue as far as there is room, and is told where to continue', async () => {
    const limited = await addNeighbour(testInstance);
    const { source, route, destination } = await limited.records.pipe(receiver.endpoint(500).url);
    for (let number = 0; number < 150; number += 1) await limited.records.accepted(source, '{}');
    const { pool } = testInstance;
    const { organizationId } = limited;
    await pool.query('delete from outbox where organization_id = $1', [organizationId]);
    await pool.query(
      `update deliveries set status = 'failed', status_code = 500, attempt_count = 1, finished_at = now() where organization_id = $1`,
      [organizationId],
    );
    const issueId = newId('iss');
    await pool.query(
      `insert into issues (id, organization_id, kind, route_id, destination_id, cause, first_seen_at, last_seen_at, count)
       values ($1, $2, 'delivery_failing', $3, $4, 'HTTP_500', now() - interval '1 hour', now(), 150)`,
      [issueId, organizationId, route.id, destination.id],
    );
    await limit(limited, { waitingDeliveries: 100 });
    const retry = (body: object) => limited.instance.client.request('POST', `/api/issues/${issueId}/retry`, body);
    const first = await until('room', async () => {
      const answer = await retry({});
      return answer.status === 200 ? answer : null;
    });
    expect(first.body).to.include({ deliveriesFound: 100, deliveriesCreated: 100, more: true });
    const { next } = first.body as { next: string };
    expectLimited(await retry({ before: next }), 'waitingDeliveries');
    await limit(limited, { waitingDeliveries: 1000 });
    expect((await retry({ before: next })).body).to.include({ deliveriesCreated: 50, more: false, next: null });
  });
});
