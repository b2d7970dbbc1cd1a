// Which destinations relays get to, claim by claim: models of relays on a real outbox, without anything being sent.
import { expect } from 'chai';
import { DestinationConcurrency } from '../../core/delivery/destination-concurrency.ts';
import { newId, shardOf } from '../../core/text/ids.ts';
import type { OutboxRow } from '../../db/hot-path/claim.ts';
import { Claims } from '../../worker/relay/claim.ts';
import { InFlight } from '../../worker/relay/in-flight.ts';
import { shareOut } from '../support/workflows/relays.ts';
import { useDatabase, usePool } from '../support/use-hookyard.ts';
import { emptyOutbox } from '../support/rows.ts';
import { execute } from '../support/database/sql.ts';

const LIMITS = { total: 200, perDestination: 50 };

describe('relays that claim', () => {
  const { database } = useDatabase('rounds');
  const hotPool = usePool(database, { hotPath: true });
  beforeEach(() => emptyOutbox(database.pool));

  const makeDestinations = (count: number) => Array.from({ length: count }, () => newId('dst')).toSorted();

  async function enqueue(destinationIds: string[], each: number, organizationId = 'org_1'): Promise<void> {
    const ids = destinationIds.flatMap((destinationId) =>
      Array.from({ length: each }, () => ({ destinationId, deliveryId: newId('dlv') })),
    );
    await execute(database.pool)`
      insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority, shard)
      select delivery, destination, ${organizationId}, 'evt_1', 'src_1', 'rte_1', 0, shard
      from unnest(${ids.map(({ deliveryId }) => deliveryId)}::text[],
      ${ids.map(({ destinationId }) => destinationId)}::text[],
      ${ids.map(({ deliveryId }) => shardOf(deliveryId))}::int[]) as o(delivery, destination, shard)`;
  }

  interface Relay {
    claims: Claims;
    inFlight: InFlight;
  }

  /** Relays that share the shards. */
  async function startRelays(count: number, limits = LIMITS): Promise<[Relay, ...Relay[]]> {
    const owners = Array.from({ length: count }, () => newId('req'));
    const shares = await shareOut(database.pool, owners);
    return shares.map((held) => {
      const concurrency = new DestinationConcurrency(limits.perDestination);
      const inFlight = new InFlight({ total: limits.total, concurrency });
      return {
        inFlight,
        claims: new Claims({ hotPool, held: () => held, inFlight, waiting: () => [], suspended: () => [] }),
      };
    }) as [Relay, ...Relay[]];
  }

  /** A destination that answers at once: its delivery leaves outbox and relay. */
  async function deliver(relay: Relay, rows: OutboxRow[]): Promise<void> {
    for (const { deliveryId } of rows) relay.inFlight.delete(deliveryId);
    await execute(database.pool)`delete from outbox
      where delivery_id = any(${rows.map(({ deliveryId }) => deliveryId)}::text[])`;
  }

  for (const count of [2, 50])
    it(`start what is quick, however many destinations with lower ids hang, as ${count} relays`, async () => {
      const destinations = makeDestinations(250);
      const [hanging, quick] = [destinations.slice(0, 200), new Set(destinations.slice(200))];
      const relays = await startRelays(count);
      await enqueue(hanging, 1);
      await enqueue([...quick], 4);
      const started: string[] = [];
      // A claim examines 40 destinations, so that each has its turn twice.
      for (let round = 0; round < 14 && started.length < 200; round += 1) {
        for (const relay of relays) {
          const rows = await relay.claims.next();
          const answered = rows.filter(({ destinationId }) => quick.has(destinationId));
          await deliver(relay, answered);
          started.push(...answered.map(({ destinationId }) => destinationId));
        }
      }
      expect(
        relays.map(({ inFlight }) => inFlight.size).reduce((a, b) => a + b),
        'hang',
      ).to.equal(200);
      expect(started, 'deliveries to quick destinations').to.have.length(200);
      expect(new Set(started)).to.deep.equal(quick);
    });

  it('give each destination its turn when little may be started at a time', async () => {
    const destinations = makeDestinations(30);
    // Of which one organization has four.
    const [relay] = await startRelays(1, { total: 6, perDestination: 2 });
    await enqueue(destinations, 5);
    const served = new Map(destinations.map((id) => [id, 0]));
    const claimsOfARound: OutboxRow[][] = [];
    relay.claims.sweep();
    do {
      const rows = await relay.claims.next();
      await deliver(relay, rows);
      claimsOfARound.push(rows);
      for (const { destinationId } of rows) served.set(destinationId, (served.get(destinationId) ?? 0) + 1);
    } while (!relay.claims.isSwept);
    expect(Math.max(...claimsOfARound.map((rows) => rows.length)), 'started by a claim').to.be.within(1, 4);
    expect(
      [...served.values()].filter((count) => count === 0),
      'left out',
    ).to.deep.equal([]);
    expect(Math.max(...served.values())).to.equal(2);
  });

  it('give an organization its turn at once, however many destinations of another are busy', async () => {
    const busy = makeDestinations(500);
    const [quick = ''] = makeDestinations(1);
    const [relay] = await startRelays(1);
    await enqueue(busy, 20, 'org_a');
    const served = new Map<string, number>();
    const serve = async (rows: OutboxRow[]) => {
      for (const { destinationId } of rows) served.set(destinationId, (served.get(destinationId) ?? 0) + 1);
      await deliver(relay, rows);
    };
    for (let claim = 0; claim < 5; claim += 1) await serve(await relay.claims.next());
    await enqueue([quick], 3, 'org_b');
    // A claim may be in the middle of the organizations: the one after it begins with the first again.
    await serve(await relay.claims.next());
    await serve(await relay.claims.next());
    expect(served.get(quick)).to.equal(3);
    for (let claim = 0; claim < 200 && served.size <= 500; claim += 1) await serve(await relay.claims.next());
    expect(served.size, 'every busy one has had its turn, too').to.equal(501);
  });

  it('start what another organization sends while all that one may have hangs', async () => {
    const hanging = makeDestinations(500);
    const [quick = ''] = makeDestinations(1);
    const [relay] = await startRelays(1);
    await enqueue(hanging, 3, 'org_a');
    relay.claims.sweep();
    for (let claim = 0; claim < 20; claim += 1) await relay.claims.next();
    expect(relay.inFlight.size, 'three quarters').to.equal(150);
    expect(relay.claims.isSwept, 'nothing is left to look for').to.equal(true);
    await enqueue([quick], 20, 'org_b');
    expect(await relay.claims.next()).to.have.length.greaterThan(10);
  });

  describe('of which nothing may start, with 48 claims to a round', () => {
    /** Claims until everything is examined or something found. @returns how many claims that took */
    async function sweep({ claims }: Relay): Promise<number> {
      let count = 0;
      claims.endSweep();
      claims.sweep();
      do {
        await claims.next();
        count += 1;
      } while (!claims.hasFound && !claims.isSwept);
      return count;
    }

    let destinations: string[];
    let relay: Relay;
    /** It has started all it may. */
    beforeEach(async () => {
      destinations = makeDestinations(1900);
      [relay] = await startRelays(1, { total: 4000, perDestination: 1 });
      await enqueue(destinations, 2);
      while (relay.inFlight.size < destinations.length) await relay.claims.next();
    });

    it('get soon to what is new, wherever that is', async () => {
      for (const after of [destinations[0], destinations[900], destinations[1899]]) {
        await enqueue([`${after}0`], 1);
        expect(await sweep(relay)).to.be.at.most(49);
        expect(relay.claims.hasFound).to.equal(true);
      }
    });
  });
});
