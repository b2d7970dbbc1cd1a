import { expect } from 'chai';
import { createRetrySlots } from '../../activities/attempt/retry-slots.ts';
import type { AttemptOutcome, AttemptRequest } from '../../activities/types.ts';
import { WorkflowPermits } from '../../core/fairness/workflow-permits.ts';
import { ReplayDatabase } from '../support/database/replay-database.ts';
import { useStarted } from '../support/use-hookyard.ts';
import { selectRows } from '../support/database/sql.ts';

const delivered: AttemptOutcome = { status: 'delivered', statusCode: 200, error: null };

describe('turns of retries', () => {
  const db = useStarted(ReplayDatabase.make);
  beforeEach(() => db.renew());

  async function retry(): Promise<AttemptRequest> {
    await db.storeEvents({});
    await db.run(await db.startReplay());
    const rows = await selectRows<{ deliveryId: string; eventId: string }>(db.pool)`
      update deliveries set status = 'retrying', attempt_count = 1 where organization_id = ${db.organizationId}
      returning id as "deliveryId", event_id as "eventId"`;
    await db.pool.query('delete from outbox where organization_id = $1', [db.organizationId]);
    const [delivery] = rows;
    if (!delivery) throw new Error('a delivery was made');
    return { ...delivery, organizationId: db.organizationId, attempt: 2, retryDelay: null };
  }
  const free = () => new WorkflowPermits({ permits: 1, alone: () => true });
  const inOutbox = async () => {
    const { rows } = await db.pool.query('select resume from outbox where organization_id = $1', [db.organizationId]);
    return rows.map(({ resume }) => resume);
  };

  it('wait in the outbox, and leave it when they were signalled and there is no place still: then nothing is kept', async () => {
    const turns = createRetrySlots({ pool: db.pool, slots: 4, workflowPermits: free() });
    const request = await retry();
    const ends = Promise.withResolvers<AttemptOutcome>();
    const full = Array.from({ length: 4 }, (_, n) =>
      turns.inTurn({ ...request, deliveryId: `other ${n}`, attempt: 1 }, () => ends.promise),
    );
    const made = () => Promise.reject(new Error('there is no place'));
    expect(await turns.inTurn(request, made)).to.include({ status: 'deferred', queued: true });
    expect(await inOutbox()).to.deep.equal(['waiting']);

    const signalled = await turns.inTurn({ ...request, queued: true }, made);
    expect(signalled).to.include({ status: 'deferred', for: 'slots' }).and.not.have.property('queued');
    expect(await inOutbox()).to.deep.equal([]);

    ends.resolve(delivered);
    await Promise.all(full);
    expect(await turns.inTurn(request, async () => delivered)).to.equal(delivered);
  });

  it('are made once when Temporal asks for one again that is under way, and again when it has ended', async () => {
    const turns = createRetrySlots({ pool: db.pool, slots: 4, workflowPermits: free() });
    const request = await retry();
    const ends = Promise.withResolvers<AttemptOutcome>();
    const made: number[] = [];
    const make = (asked: AttemptRequest) =>
      turns.inTurn(asked, () => {
        made.push(asked.attempt);
        return ends.promise;
      });
    const first = make(request);
    // There is no place for another one.
    const others = Array.from({ length: 4 }, (_, n) =>
      turns.inTurn({ ...request, deliveryId: `other ${n}`, attempt: 1 }, () => ends.promise),
    );
    const again = make(request);
    const another = make({ ...request, attempt: 1 });
    const third = make({ ...request, attempt: 1 });
    ends.resolve(delivered);
    expect(await Promise.all([first, again, another, third])).to.deep.equal(Array.from({ length: 4 }, () => delivered));
    await Promise.all(others);
    expect(made).to.deep.equal([2, 1]);
    expect(turns.isRunning(request.deliveryId)).to.equal(false);
    expect(await inOutbox()).to.deep.equal([]);
    await make(request);
    expect(made).to.deep.equal([2, 1, 2]);
  });

  it('wait in the outbox when their organization may not ask Temporal for more, and are made when they were signalled', async () => {
    const workflowPermits = new WorkflowPermits({ permits: 4, alone: () => false });
    const turns = createRetrySlots({ pool: db.pool, slots: 4, workflowPermits });
    const request = await retry();
    while (workflowPermits.take(db.organizationId));
    const made = async () => delivered;
    expect(await turns.inTurn(request, made)).to.include({ status: 'deferred', queued: true });
    expect(await inOutbox()).to.deep.equal(['waiting']);
    expect(await turns.inTurn({ ...request, organizationId: 'another' }, made)).to.include({ status: 'delivered' });
    expect(await turns.inTurn({ ...request, queued: true }, made)).to.include({ status: 'delivered' });
    expect(await turns.inTurn({ ...request, released: true }, made), 'by its circuit').to.include({
      status: 'delivered',
    });
  });
});
