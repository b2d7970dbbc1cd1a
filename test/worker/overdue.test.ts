// Deliveries that a relay has started and not heard of since, on a real outbox and a real Temporal.
import { expect } from 'chai';
import { pino } from 'pino';
import { ATTEMPT_TIMEOUT_MS } from '../../core/attempt-times.ts';
import { InFlight } from '../../worker/in-flight.ts';
import { lookAfterOverdue } from '../../worker/overdue.ts';
import { cancel } from '../../workflows/messages.ts';
import { type OwnDatabase, ownDatabase } from '../support/own-database.ts';
import { queueDelivery, queuedDeliveries } from '../support/outbox.ts';
import { type ScriptedWorker, startScriptedWorker } from '../support/scripted-attempts.ts';
import { until } from '../support/until.ts';

describe('deliveries that a relay has not heard of', () => {
  let database: OwnDatabase;
  let worker: ScriptedWorker;
  let now = 0;
  const inFlight = new InFlight({ total: 10, perDestination: 5 }, () => now);
  before(async () => {
    [database, worker] = await Promise.all([ownDatabase('overdue'), startScriptedWorker('test-overdue')]);
  });
  after(async () => {
    await Promise.all([worker?.stop(), database?.close()]);
  });

  const look = () =>
    lookAfterOverdue({
      hotPool: database.pool,
      pool: database.pool,
      client: worker.client,
      inFlight,
      isRunning: () => false,
      log: pino({ level: 'silent' }),
    });

  it('keep their place while an attempt may take so long, and are left to their workflows after that', async () => {
    // The script has no attempt: each fails for a reason of its own delivery.
    const { handle, attempts } = await worker.start([]);
    await until('a try', () => attempts.length > 0);
    inFlight.add(await queueDelivery(database.pool, handle.workflowId));
    now += ATTEMPT_TIMEOUT_MS;
    await look();
    expect([inFlight.size, (await queuedDeliveries(database.pool)).length]).to.deep.equal([1, 1]);
    now += 60_000;
    await look();
    expect([inFlight.size, (await queuedDeliveries(database.pool)).length]).to.deep.equal([0, 0]);
    expect((await handle.describe()).status.name).to.equal('RUNNING');
    await handle.signal(cancel);
  });

  it('are claimed again when Temporal does not know them', async () => {
    inFlight.add(await queueDelivery(database.pool));
    now += 60_000;
    await look();
    expect([inFlight.size, (await queuedDeliveries(database.pool)).length]).to.deep.equal([0, 1]);
  });
});
