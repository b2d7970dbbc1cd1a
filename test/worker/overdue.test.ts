import { Client } from '@temporalio/client';
import { expect } from 'chai';
import { pino } from 'pino';
import { ATTEMPT_TIMEOUT_MS } from '../../core/delivery/delivery.ts';
import { DestinationConcurrency } from '../../core/delivery/destination-concurrency.ts';
import { newId } from '../../core/text/ids.ts';
import type { OutboxRow, Resume } from '../../db/hot-path/claim.ts';
import { lookUp } from '../../temporal-config/workflows.ts';
import { InFlight } from '../../worker/relay/in-flight.ts';
import { lookAfterOverdue, signalTurn } from '../../worker/relay/overdue.ts';
import { cancel, status } from '../../workflows/signals-and-queries.ts';
import { queueDelivery } from '../support/database/outbox.ts';
import { insertSource } from '../support/database/own-database.ts';
import { emptyOutbox } from '../support/rows.ts';
import { until } from '../support/until.ts';
import { useDatabase, useMade, useStarted } from '../support/use-hookyard.ts';
import { failed, inQueue, startScriptedWorker } from '../support/workflows/scripted-attempts.ts';
import { insertDelivery } from '../db/fixtures.ts';

describe('deliveries that a relay has not heard of', () => {
  const { database } = useDatabase('overdue');
  const worker = useStarted(() => startScriptedWorker('test-overdue'));
  const source = useMade('a source', () => insertSource(database.pool));
  let now = 0;
  const inFlight = new InFlight({ total: 10, concurrency: new DestinationConcurrency(5) }, () => now);

  const queue = (deliveryId: string, resume: Resume | null = null) => queueDelivery(database.pool, deliveryId, resume);

  /** A delivery that this database says waits for its turn, told by the relay. */
  async function waiting(deliveryId: string): Promise<OutboxRow> {
    const row = await queue(deliveryId, 'waiting');
    const { organizationId, eventId: event_id, destinationId: destination_id } = row;
    const columns = { id: deliveryId, event_id, destination_id, status: 'retrying', attempt_count: 1 };
    await insertDelivery(database.pool, { ...source, organizationId }, columns);
    inFlight.add(row);
    return row;
  }

  const deps = () => ({ pool: database.pool, client: worker.client, log: pino({ level: 'silent' }) });
  const look = (isRunning: (deliveryId: string) => boolean = () => false, client = worker.client) =>
    lookAfterOverdue({ ...deps(), client, hotPool: database.pool, inFlight, isRunning, freeSlot });
  const freeSlot = (deliveryId: string) => void inFlight.delete(deliveryId);
  const queued = async () =>
    (await database.pool.query<{ id: string; resume: Resume | null }>('select delivery_id as id, resume from outbox'))
      .rows;
  async function waits(client: Client, deliveryId: string): Promise<boolean> {
    const known = await lookUp(client, deliveryId);
    return known.state === 'running' && !known.isBusy;
  }
  afterEach(async () => {
    for (const id of inFlight.deliveryIds()) inFlight.delete(id);
    await emptyOutbox(database.pool);
  });

  it('keep their place while an attempt may take so long, and are left to their workflows after that', async () => {
    // The script has no attempt: each fails for a reason of its own delivery.
    const { handle, attempts } = await worker.start([]);
    await until('a try', () => attempts.length > 0);
    inFlight.add(await queue(handle.workflowId));
    now += ATTEMPT_TIMEOUT_MS;
    await look();
    expect([inFlight.size, (await queued()).length]).to.deep.equal([1, 1]);
    now += 60_000;
    await look();
    expect([inFlight.size, (await queued()).length]).to.deep.equal([0, 0]);
    expect((await handle.describe()).status.name).to.equal('RUNNING');
    await handle.signal(cancel);
  });

  it('are claimed again when Temporal does not know them', async () => {
    inFlight.add(await queue(newId('dlv')));
    now += 60_000;
    await look();
    expect([inFlight.size, (await queued()).length]).to.deep.equal([0, 1]);
  });

  it('are told again of their turn', async () => {
    const { handle, attempts } = await worker.start([inQueue, inQueue, inQueue]);
    await until('the first look', () => attempts.length === 1);
    const row = await waiting(handle.workflowId);
    expect(await signalTurn(deps(), row)).to.equal(true);
    await until('the second look', () => attempts.length === 2);
    // One that is at work is not told.
    await until('it to wait again', () => waits(worker.client, handle.workflowId));
    now += 6000;
    await look();
    await until('the third look', () => attempts.length === 3);
    expect([inFlight.size, (await queued()).length]).to.deep.equal([1, 1]);
    await handle.signal(cancel);
  });

  it('give their place back soon when another worker makes the retry that was signalled', async () => {
    const [taken, left, own] = [await waiting(newId('dlv')), await waiting(newId('dlv')), await waiting(newId('dlv'))];
    await database.pool.query('delete from outbox where delivery_id = any($1)', [[taken.deliveryId, own.deliveryId]]);
    now += 300;
    await look((deliveryId) => deliveryId === own.deliveryId);
    expect(inFlight.deliveryIds()).to.have.members([left.deliveryId, own.deliveryId]);
    await emptyOutbox(database.pool);
    now += 300;
    await look();
    expect(inFlight.deliveryIds()).to.deep.equal([]);
  });

  it('continue when they wait for their turn and their workflow for a replay', async () => {
    const { handle } = await worker.start([failed]);
    await until('it to be parked', async () => (await handle.query(status)).status === 'failed');
    const row = await waiting(handle.workflowId);
    expect(await signalTurn(deps(), row)).to.equal(true);
    now += 6000;
    await look();
    await until('its workflow to end', async () => (await handle.describe()).status.name === 'FAILED');
    now += 60_000;
    await look();
    expect([inFlight.size, await queued()]).to.deep.equal([0, [{ id: handle.workflowId, resume: 'ended' }]]);
  });

  it('keep their place while Temporal is away, and are asked about when it is back; those that are done give theirs back', async () => {
    const [first, done, last] = [await queue(newId('dlv')), await queue(newId('dlv')), await queue(newId('dlv'))];
    for (const row of [first, done, last]) inFlight.add(row);
    await database.pool.query('delete from outbox where delivery_id = $1', [done.deliveryId]);
    now += 60_000;
    const away = new Client({ connection: worker.client.connection, namespace: 'there-is-none' });
    await look(undefined, away);
    expect(inFlight.deliveryIds()).to.deep.equal([first.deliveryId, last.deliveryId]);
    now += 5000;
    await look();
    expect(inFlight.deliveryIds(), 'one that was not asked about is first').to.deep.equal([first.deliveryId]);
    now += 30_000;
    await look();
    expect(inFlight.deliveryIds()).to.deep.equal([]);
  });

  it('do not keep others waiting when Temporal refuses to tell one of its turn', async () => {
    // Refused in the same way as one signal too many for a run, which would take ten thousand of them.
    const row = await queue('', 'waiting');
    inFlight.add(row);
    expect(await signalTurn(deps(), row)).to.equal(true);
    inFlight.add(await queue(newId('dlv')));
    now += 6000;
    await look();
    expect(inFlight.deliveryIds()).to.deep.equal([row.deliveryId]);
    // It is signalled again later.
    now += ATTEMPT_TIMEOUT_MS;
    await look();
    expect([inFlight.size, (await queued()).length]).to.deep.equal([0, 2]);
  });
});
