import { expect } from 'chai';
import { addNeighbour, fanOut, type Neighbour } from '../support/attacks/neighbours.ts';
import type { SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';
import { inOpenTransaction, waitingForLocks } from '../support/database/row-lock.ts';
import { useHookyard, useMade } from '../support/use-hookyard.ts';

const CHANGES = 100;
const READS = 20;
// Their results fit into one group, together with those of the other.
const EVENTS = 10;
const DESTINATIONS = 4;
const IMPORTED = 400;

describe('an organization that waits for locks', () => {
  const { testInstance, receiver } = useHookyard({});
  const greedy = useMade('the greedy one', () => addNeighbour(testInstance));
  const other = useMade('the other', () => addNeighbour(testInstance));

  it(`leaves others connections, although ${CHANGES} changes of one route wait`, async () => {
    const { route } = await greedy.records.pipe(receiver.endpoint(200).url);
    const theirs = await other.records.pipe(receiver.endpoint(200).url);
    const changes: Promise<number>[] = [];
    await inOpenTransaction(testInstance.pool, async (holder) => {
      await holder.query('select from routes where id = $1 for update', [route.id]);
      for (let number = 0; number < CHANGES; number += 1) {
        const change = greedy.instance.client.request('PATCH', `/api/routes/${route.id}`, { name: `Name ${number}` });
        changes.push(change.then(({ status }) => status));
      }
      await until('changes to wait for the lock', async () => (await waitingForLocks(testInstance.pool)) >= 2);
      for (let number = 0; number < READS; number += 1) {
        await other.instance.client.patch(`/api/routes/${theirs.route.id}`, { name: `Other ${number}` });
        await other.instance.client.get(`/api/routes/${theirs.route.id}`);
        await other.instance.client.list('/api/deliveries');
      }
      expect(await settled(changes), 'while every change waits or was refused').to.not.include(200);
    });
    const statuses = await Promise.all(changes);
    expect(statuses.filter((status) => ![200, 503].includes(status))).to.deep.equal([]);
    await greedy.instance.client.patch(`/api/routes/${route.id}`, { name: 'Free again' });
  });

  it('leaves the results of others to be recorded, although they end at the same moment', async () => {
    const gate = Promise.withResolvers<void>();
    const hanging = receiver.endpoint({ after: gate.promise });
    const slow = { destination: { timeoutMs: 60_000 } };
    const stuck = await fanOut(greedy, [hanging.url], DESTINATIONS, slow);
    const lively = await other.records.pipe(hanging.url, slow);
    const worker = await testInstance.startWorker();
    const accept = (neighbour: Neighbour, source: SourceView) =>
      Promise.all(Array.from({ length: EVENTS }, () => neighbour.records.accepted(source, '{}')));
    const [theirs, others] = await Promise.all([accept(greedy, stuck.source), accept(other, lively.source)]);
    await until('all of them to be sent', () => hanging.requests.length === EVENTS * (DESTINATIONS + 1));
    await inOpenTransaction(testInstance.pool, async (holder) => {
      await holder.query('select from events where organization_id = $1 for update', [greedy.organizationId]);
      gate.resolve();
      for (const eventId of others) await other.records.eventWith('delivered', eventId);
      for (const eventId of theirs) expect((await greedy.records.event(eventId)).status).to.equal('pending');
    }).finally(gate.resolve);
    for (const eventId of theirs) await greedy.records.eventWith('delivered', eventId);
    await worker.stop();
  });

  it('leaves the deliveries of others to be held, although it keeps the row of a paused route locked', async () => {
    const pausedPipe = async ({ records, instance }: Neighbour) => {
      const pipe = await records.pipe(receiver.endpoint(200).url);
      await instance.client.post(`/api/routes/${pipe.route.id}/pause`, {});
      await records.accepted(pipe.source, '{}');
      return pipe;
    };
    const heldOf = async ({ organizationId }: Neighbour) => {
      const { rows } = await testInstance.pool.query('select from held_deliveries where organization_id = $1', [
        organizationId,
      ]);
      return rows.length;
    };
    // Claimed in one round.
    const mine = await pausedPipe(greedy);
    await pausedPipe(other);
    const worker = await testInstance.startWorker();
    await inOpenTransaction(testInstance.pool, async (holder) => {
      await holder.query('select from circuits where route_id = $1 for update', [mine.route.id]);
      await until('that of the other to be held', async () => (await heldOf(other)) === 1);
      expect(await heldOf(greedy)).to.equal(0);
    });
    await until('its own to be held', async () => (await heldOf(greedy)) === 1);
    await worker.stop();
  });

  it('keeps no row locked while an import of it rests', async () => {
    const { client } = greedy.instance;
    const destinations = Array.from({ length: IMPORTED }, (_, n) => ({
      name: `Imported ${n}`,
      slug: `imported-${n}`,
      url: 'https://crm.example/',
      headers: { 'X-Round': 'first' },
    }));
    await client.post('/api/destinations/import', { destinations, conflictStrategy: 'skip' });
    const again = destinations.map((item) => ({ ...item, headers: { 'X-Round': 'second' } }));
    let isDone = false;
    const importing = client
      .post('/api/destinations/import', { destinations: again, conflictStrategy: 'overwrite' })
      .finally(() => {
        isDone = true;
      });
    const looks = { locked: 0, all: 0 };
    while (!isDone) {
      const { rowCount } = await testInstance.pool.query(
        `select from destinations where organization_id = $1 and slug = 'imported-0' for key share skip locked`,
        [greedy.organizationId],
      );
      const changes = await testInstance.pool.query(
        `select from destinations where organization_id = $1 and slug = 'imported-0' for no key update skip locked`,
        [greedy.organizationId],
      );
      expect(rowCount, 'rows that refer to it can be stored all the time').to.equal(1);
      looks.all += 1;
      if (changes.rowCount === 0) looks.locked += 1;
    }
    expect((await importing).summary).to.include({ overwritten: IMPORTED });
    // It writes for a quarter of the time at most.
    expect(looks.locked / looks.all, JSON.stringify(looks)).to.be.below(0.5);
  });

  /** Those that have an answer by now. */
  async function settled(changes: Promise<number>[]): Promise<number[]> {
    const none = Symbol('no answer yet');
    const states = await Promise.all(changes.map((change) => Promise.race([change, Promise.resolve(none)])));
    return states.filter((state) => typeof state === 'number');
  }
});
