// Two organizations on one Hookyard: one that attacks, and another.
import { expect } from 'chai';
import type { Hookyard, OwnHookyard } from '../hookyard.ts';
import type { Endpoint, Receiver } from '../receiver.ts';
import { Records, type SourceView } from '../records.ts';
import { createOrganization } from '../service.ts';
import { until } from '../until.ts';

export interface Neighbour {
  organizationId: string;
  instance: Hookyard;
  records: Records;
}

/** One more organization, with a key of its own. It uses the API process that runs now. */
export async function addNeighbour(testInstance: OwnHookyard): Promise<Neighbour> {
  const { api, pool } = testInstance;
  const { api: client, id, base } = await createOrganization({ service: api, pool });
  const instance: Hookyard = {
    client,
    organizationId: id,
    base,
    pool,
    temporal: testInstance.temporal,
    logs: testInstance.logs,
    close: () => Promise.resolve(),
  };
  return { organizationId: id, instance, records: new Records(instance) };
}

/** Before each test of this `describe` nothing waits, and ingest has noticed that. */
export const emptyBacklogFirst = (testInstance: OwnHookyard) =>
  beforeEach('nothing waits', async () => {
    const { pool, client } = testInstance;
    await pool.query('truncate outbox, held_deliveries, retrying_deliveries');
    await until('ingest to be open', async () => (await client.get('/readyz')).ingest === 'open');
  });

const AT_ONCE = 10;
const MOST_OF_A_ROUTE = 50;

/** A source with routes to so many destinations with these addresses, each in turn. */
export async function fanOut(
  { records }: Pick<Neighbour, 'records'>,
  urls: string[],
  count: number,
  fields: { destination?: Record<string, unknown>; route?: Record<string, unknown> } = {},
) {
  const source = await records.source();
  const ids: string[] = [];
  for (let from = 0; from < count; from += AT_ONCE) {
    const made = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) =>
      records.destination(urls[(from + at) % urls.length] ?? '', {
        name: `Destination ${from + at}`,
        slug: `d-${source.slug}-${from + at}`.slice(0, 63).replace(/-+$/, ''),
        ...fields.destination,
      }),
    );
    ids.push(...(await Promise.all(made)).map(({ id }) => id));
  }
  for (let from = 0; from < count; from += MOST_OF_A_ROUTE) {
    await records.route(source.id, ids.slice(from, from + MOST_OF_A_ROUTE), fields.route);
  }
  return { source, destinationIds: ids };
}

type Other = Pick<Neighbour, 'records'>;

/** So many of its webhooks, one after the other, are taken. */
export async function expectAccepted(
  { records }: Other,
  source: SourceView,
  count: number,
  body: string | Buffer = '{}',
): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const answer = await records.post(source, body);
    expect(answer.status, `webhook ${number}: ${JSON.stringify(answer.body)}`).to.equal(200);
  }
}

type Whose = 'greedy' | 'other';

/** The order in which deliveries of two organizations arrive. */
export interface Arrivals {
  /** An address for deliveries of one of them, which takes them all. */
  endpoint(whose: Whose): Endpoint;
  count(whose: Whose): number;
  /** How many of the greedy one's came before the last of the other's. */
  ahead(): number;
}

export function watchArrivals(receiver: Receiver): Arrivals {
  const arrivals: Whose[] = [];
  const countIn = (some: Whose[], whose: Whose) => some.filter((each) => each === whose).length;
  return {
    endpoint: (whose) =>
      receiver.endpoint(() => {
        arrivals.push(whose);
        return { status: 200 };
      }),
    count: (whose) => countIn(arrivals, whose),
    ahead: () => countIn(arrivals.slice(0, arrivals.lastIndexOf('other')), 'greedy'),
  };
}
