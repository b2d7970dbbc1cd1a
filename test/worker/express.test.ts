import { expect } from 'chai';
import { pino } from 'pino';
import { ResultsFullError } from '../../activities/attempt/results.ts';
import type { AttemptOutcome, AttemptRequest } from '../../activities/types.ts';
import type { OutboxRow, StartPolicy } from '../../db/hot-path/claim.ts';
import { actingFor, shareConnections } from '../../db/connections/by-organization.ts';
import { createExpress, type Express } from '../../worker/relay/attempt.ts';
import { queueDelivery, queuedDeliveries } from '../support/database/outbox.ts';
import { readOnlySwitch } from '../support/servers/read-only.ts';
import { until } from '../support/until.ts';
import { closed, retrying } from '../support/workflows/scripted-attempts.ts';
import { useDatabase, usePool } from '../support/use-hookyard.ts';

const policy = {
  retryPolicy: { maxRetries: 3, initialDelay: 1000, maxDelay: 1000, backoffMultiplier: 2 },
} as StartPolicy;

describe('first attempts of the express lane', () => {
  const { database } = useDatabase('express_rows');
  const pool = usePool(database);
  let express: Express;
  let outcome: AttemptOutcome | Error;
  let duringAttempt: () => Promise<unknown>;
  let inTurn: () => Promise<boolean>;
  let attempts: number;
  let asked: AttemptRequest | undefined;
  let starts: number;
  before(() => shareConnections(pool, 1));
  beforeEach(() => {
    [attempts, starts] = [0, 0];
    duringAttempt = async () => {};
    inTurn = async () => true;
    express = createExpress({
      pool,
      attempt: async (request) => {
        attempts += 1;
        asked = request;
        await duringAttempt();
        if (outcome instanceof Error) throw outcome;
        return outcome;
      },
      inTurn: () => inTurn(),
      startWorkflow: async () => {
        starts += 1;
        return starts === 1;
      },
      lookAfter: async () => true,
      done: () => {},
      drainMs: 20_000,
      log: pino({ level: 'silent' }),
    });
  });

  /** As the relay does with a row that it claims again and again. */
  async function runOften(row: OutboxRow, times: number): Promise<void> {
    for (let time = 1; time <= times; time += 1) {
      void express.run(row, policy);
      await until('the end of it', () => !express.isRunning(row.deliveryId));
    }
  }

  it('wait while the database takes no results, and leave nothing to workflows for that', async () => {
    outcome = new ResultsFullError();
    const row = await queueDelivery(database.pool);
    await runOften(row, 4);
    expect({ attempts, starts }).to.deep.equal({ attempts: 4, starts: 0 });
    expect(asked, 'as one of its organization').to.include({ organizationId: row.organizationId, attempt: 1 });
    expect(await queuedDeliveries(database.pool)).to.include(row.deliveryId);
  });

  it('are left to a workflow when they cannot be made for a reason of their own', async () => {
    outcome = new TypeError('cannot be made');
    const row = await queueDelivery(database.pool);
    await runOften(row, 3);
    expect({ attempts, starts }).to.deep.equal({ attempts: 3, starts: 1 });
    expect(await queuedDeliveries(database.pool)).not.to.include(row.deliveryId);
  });

  it('are not made again when the workflow has been started and the row could not be removed', async () => {
    outcome = retrying(10);
    const row = await queueDelivery(database.pool);
    const server = readOnlySwitch(database.databaseUrl);
    await server.on();
    try {
      await runOften(row, 2);
    } finally {
      await server.off();
    }
    await until('the row to be removed', async () => {
      await runOften(row, 1);
      return !(await queuedDeliveries(database.pool)).includes(row.deliveryId);
    });
    expect(attempts).to.equal(1);
  });

  it('keep their place and their row until it is the turn of their organization, and have no workflow until then', async () => {
    outcome = retrying(10);
    const row = await queueDelivery(database.pool);
    const turn = Promise.withResolvers<boolean>();
    const asked = Promise.withResolvers<void>();
    inTurn = () => {
      asked.resolve();
      return turn.promise;
    };
    void express.run(row, policy);
    await asked.promise;
    expect([attempts, starts, express.isRunning(row.deliveryId)]).to.deep.equal([1, 0, true]);
    expect(await queuedDeliveries(database.pool)).to.include(row.deliveryId);
    turn.resolve(true);
    await until('the end of it', () => !express.isRunning(row.deliveryId));
    expect(starts).to.equal(1);
    expect(await queuedDeliveries(database.pool)).not.to.include(row.deliveryId);
  });

  it('stay in the outbox without a workflow when the relay ends before their turn', async () => {
    outcome = retrying(10);
    inTurn = async () => false;
    const row = await queueDelivery(database.pool);
    await runOften(row, 1);
    expect(starts).to.equal(0);
    expect(await queuedDeliveries(database.pool)).to.include(row.deliveryId);
  });

  it('hold connections as those of their organization, not as the service’s own', async () => {
    outcome = closed;
    const row = await queueDelivery(database.pool);
    let answered = false;
    duringAttempt = async () => {
      await pool.query('select 1');
      answered = true;
    };
    const share = await actingFor(row.organizationId, () => pool.connect());
    try {
      void express.run(row, policy);
      await until('the attempt to begin', () => attempts === 1);
      await pool.query('select 2');
      expect(answered, 'before its organization gives a connection back').to.equal(false);
    } finally {
      share.release();
    }
    await until('the end of it', () => !express.isRunning(row.deliveryId));
    expect(answered).to.equal(true);
  });
});
