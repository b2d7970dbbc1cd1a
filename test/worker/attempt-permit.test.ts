import { expect } from 'chai';
import { Permit } from '../../activities/attempt/rate-and-concurrency.ts';
import type { AttemptRequest } from '../../activities/types.ts';
import { DestinationConcurrency } from '../../core/delivery/destination-concurrency.ts';
import type { OutboxRow } from '../../db/hot-path/claim.ts';
import { InFlight } from '../../worker/relay/in-flight.ts';
import { insertSource } from '../support/database/own-database.ts';
import { queueDelivery, queuedDeliveries } from '../support/database/outbox.ts';
import { useDatabase, useMade } from '../support/use-hookyard.ts';
import { emptyOutbox } from '../support/rows.ts';
import { insertDelivery } from '../db/fixtures.ts';

describe('the place of a retry', () => {
  const { database } = useDatabase('attempt_place');
  const source = useMade('a source', () => insertSource(database.pool));
  afterEach(() => emptyOutbox(database.pool));

  function worker() {
    const concurrency = new DestinationConcurrency(500);
    const inFlight = new InFlight({ total: 10, concurrency });
    const hasPermit = (deliveryId: string) => inFlight.hasPermit(deliveryId);
    const told = { room: 0 };
    const onRoom = () => {
      told.room += 1;
    };
    return { concurrency, inFlight, told, deps: { pool: database.pool, concurrency, hasPermit, onRoom } };
  }
  type Worker = ReturnType<typeof worker>;

  async function queuedRetry(): Promise<OutboxRow> {
    const row = await queueDelivery(database.pool, undefined, 'waiting');
    const { deliveryId: id, organizationId, eventId: event_id, destinationId: destination_id } = row;
    const columns = { id, event_id, destination_id, status: 'retrying', attempt_count: 1 };
    await insertDelivery(database.pool, { ...source, organizationId }, columns);
    return row;
  }

  const placeOf = ({ deps }: Worker, { organizationId, deliveryId, eventId }: OutboxRow, queued: boolean) => {
    const request: AttemptRequest = { organizationId, deliveryId, eventId, attempt: 2, retryDelay: null, queued };
    return new Permit(deps, request, 'workflow');
  };
  const takeFor = (permit: Permit, { deliveryId, destinationId }: OutboxRow, maxConcurrency = 2) =>
    permit.take({ id: destinationId, maxConcurrency }, { deliveryId });

  it('is the one that the relay of this process holds for it', async () => {
    const own = worker();
    const row = await queuedRetry();
    own.concurrency.setMaximum(row.destinationId, 2);
    own.concurrency.acquire(row.destinationId);
    own.inFlight.add(row);
    const permit = placeOf(own, row, true);
    expect(await takeFor(permit, row)).to.equal(null);
    permit.leave();
    expect(own.concurrency.hasRoom(row.destinationId), 'the relay still holds it').to.equal(false);
    own.inFlight.answered(row.deliveryId);
    expect(own.concurrency.hasRoom(row.destinationId)).to.equal(true);
  });

  it('is taken here when the relay of another process has signalled it, or nobody', async () => {
    const own = worker();
    const row = await queuedRetry();
    own.concurrency.acquire(row.destinationId);
    const permit = placeOf(own, row, true);
    expect(await takeFor(permit, row)).to.equal(null);
    expect(own.concurrency.hasRoom(row.destinationId), 'it counts').to.equal(false);
    expect(own.inFlight.fullDestinations(), 'claims skip it').to.deep.equal([row.destinationId]);
    permit.leave();
    permit.leave();
    expect(own.told.room, 'the relay is told once').to.equal(1);
    expect(own.inFlight.fullDestinations()).to.deep.equal([]);
    expect(own.concurrency.hasRoom(row.destinationId)).to.equal(true);
  });

  it('is waited for outside the outbox when there is none here: the relay that has signalled it keeps none then', async () => {
    const own = worker();
    const row = await queuedRetry();
    own.concurrency.acquire(row.destinationId);
    own.concurrency.acquire(row.destinationId);
    const signalled = await takeFor(placeOf(own, row, true), row);
    expect(signalled).to.include({ status: 'deferred', for: 'destination' }).and.not.have.property('queued');
    expect(await queuedDeliveries(database.pool)).to.deep.equal([]);
    const again = await takeFor(placeOf(own, row, false), row);
    expect(again, 'it comes back').to.include({ status: 'deferred', for: 'destination', queued: true });
    expect(await queuedDeliveries(database.pool)).to.deep.equal([row.deliveryId]);
  });
});
