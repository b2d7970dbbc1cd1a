// A relay in this process, on a real outbox: what becomes of rows that it can neither hold nor start. The attempts are
// the tests' own.
import { NativeConnection } from '@temporalio/worker';
import { expect } from 'chai';
import { pino } from 'pino';
import type { Lane } from '../../core/delivery/delivery.ts';
import { DestinationConcurrency } from '../../core/delivery/destination-concurrency.ts';
import { WorkflowPermits } from '../../core/fairness/workflow-permits.ts';
import { newId, shardOf } from '../../core/text/ids.ts';
import { pause } from '../../db/circuits/pauses.ts';
import type { Resume } from '../../db/hot-path/claim.ts';
import { createLaneChoice } from '../../worker/relay/lane-choice.ts';
import { startRelay } from '../../worker/relay/relay.ts';
import { repairs } from '../../worker/relay/overdue.ts';
import { Shards } from '../../worker/relay/shards.ts';
import type { EventOwner } from '../support/database/new-events.ts';
import { insertSource } from '../support/database/own-database.ts';
import { queuedDeliveries } from '../support/database/outbox.ts';
import { closed } from '../support/workflows/scripted-attempts.ts';
import { stackAddresses } from '../support/stack.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { InstallationClient } from '../../temporal-config/client.ts';
import { until } from '../support/until.ts';
import { useDatabase, useMade, usePool } from '../support/use-hookyard.ts';
import { inOpenTransaction } from '../support/database/row-lock.ts';
import { emptyOutbox } from '../support/rows.ts';
import { insertDestination, insertRoute } from '../db/fixtures.ts';

const MOST_WORKFLOWS = 20;

interface Way extends EventOwner {
  routeId: string;
  destinationId: string;
}

describe('a relay', () => {
  const { database } = useDatabase('relay');
  const hotPool = usePool(database, { statementTimeoutMs: 1000, hotPath: true });
  const owner: EventOwner = useMade('a source', () => insertSource(database.pool));

  let atEnd: (() => Promise<unknown>)[];
  /** Deliveries whose first attempts were made, in their order. */
  let attempted: string[];
  let attempt: (deliveryId: string) => Promise<unknown>;
  let messages: string[];
  beforeEach(() => {
    [atEnd, attempted, messages] = [[], [], []];
    attempt = async () => {};
  });
  afterEach(async () => {
    for (const end of atEnd.toReversed()) await end();
    await emptyOutbox(database.pool);
  });

  async function way(lane: Lane, { organizationId, sourceId } = owner): Promise<Way> {
    const columns = { retry_policy: '{"maxRetries": 0}' };
    const destinationId = await insertDestination(database.pool, organizationId, columns);
    const routeId = await insertRoute(database.pool, { organizationId, sourceId }, [destinationId], { lane });
    return { routeId, destinationId, organizationId, sourceId };
  }

  async function queue(to: Way, row: { status?: string; attempts?: number; resume?: Resume } = {}): Promise<string> {
    const { routeId, destinationId, organizationId, sourceId } = to;
    const { status = 'pending', attempts = 0, resume = null } = row;
    const deliveryId = newId('dlv');
    await database.pool.query(
      `with made as (
         insert into deliveries (id, organization_id, event_id, source_id, route_id, destination_id, priority, status, counted, attempt_count)
         values ($1, $2, $3, $4, $5, $6, 0, $7, true, $8)
         returning id, organization_id, event_id, source_id, route_id, destination_id, priority
       )
       insert into outbox (delivery_id, organization_id, event_id, source_id, route_id, destination_id, priority, shard, resume)
       select made.*, $9::int, $10::text from made`,
      [
        ...[deliveryId, organizationId, newId('evt'), sourceId, routeId, destinationId, status, attempts],
        ...[shardOf(deliveryId), resume],
      ],
    );
    return deliveryId;
  }

  async function connect(address: string): Promise<NativeConnection> {
    const connection = await NativeConnection.connect({ address });
    atEnd.push(() => connection.close());
    return connection;
  }

  /** A relay in the lane `express` whose Temporal refuses whatever it is asked. */
  async function start(connection?: NativeConnection): Promise<void> {
    const name = newId('req');
    const log = pino(
      { level: 'info' },
      { write: (line: string) => messages.push((JSON.parse(line) as { msg: string }).msg) },
    );
    const toTemporal = connection ?? (await connect(stackAddresses().temporalAddress));
    const shards = new Shards({
      ...{ db: database.pool, name, onChange: () => {}, lane: () => 'workflow', version: '0.1.0', log },
    });
    const client = new InstallationClient({ connection: toTemporal, namespace: 'there-is-none', prefix: '' });
    const workflowPermits = new WorkflowPermits({ permits: 200, alone: () => true });
    const lanes = createLaneChoice({ lane: 'express', permits: workflowPermits, log });
    const relay = startRelay({
      pool: database.pool,
      client,
      repairs,
      concurrency: new DestinationConcurrency(50),
      mostInFlight: 200,
      mostWorkflows: MOST_WORKFLOWS,
      makesAttempt: () => false,
      replayWindowMs: 0,
      parking: { admit: () => true, stop: async () => {} },
      lanes,
      workflowPermits,
      suspended: () => [],
      hears: () => false,
      async attempt({ deliveryId }) {
        attempted.push(deliveryId);
        await attempt(deliveryId);
        return closed;
      },
      drainMs: 1000,
      hotPool,
      shards,
      log,
    });
    atEnd.push(
      () => shards.release(),
      () => relay.stop(),
    );
    await until('it to own shards', () => shards.held());
  }

  const untilEmpty = (deadlineMs?: number) =>
    until('the outbox to be empty', async () => (await queuedDeliveries(database.pool)).length === 0, deadlineMs);

  it('starts what has ended although its route is paused: nothing else would remove its row', async () => {
    const paused = await way('express');
    await pause(database.pool, 'routes', { ...owner, id: paused.routeId }, { until: null, reason: null });
    const ended = await queue(paused, { status: 'cancelled', attempts: 1 });
    await queue(paused);
    await start();
    await untilEmpty(20_000);
    expect(attempted).to.deep.equal([ended]);
  });

  it('holds no place for what it has claimed and could not start: it claims that again, also while Temporal is away', async () => {
    const express = await way('express');
    await start();
    await inOpenTransaction(database.pool, async (blocker) => {
      // It reads destinations when it has claimed.
      await blocker.query('lock table destinations in access exclusive mode');
      await queue(express);
      await until('a round to fail', () => messages.includes('the last round of the relay failed; trying again'));
    });
    await untilEmpty(20_000);
    expect(attempted).to.have.length(1);
  });

  describe('without Temporal', () => {
    const UNREACHED = 'failed to reach the workflow; trying again';
    const FAILED_ROUND = 'the last round of the relay failed; trying again';

    it('makes first attempts while it waits for the answer to a start, however busy it is', async () => {
      const [express, workflow] = [await way('express'), await way('workflow')];
      const gate = Promise.withResolvers<void>();
      attempt = () => gate.promise;
      const silent = await startTcpProxy(stackAddresses().temporalAddress);
      atEnd.push(() => silent.close());
      const connection = await connect(silent.address);
      silent.holdRequests();
      // As many as make a relay busy, and the workflow beside them.
      for (let n = 0; n < 10; n += 1) await queue(express);
      await queue(workflow);
      await start(connection);
      atEnd.push(async () => silent.breakConnections());
      await until('the first ones to be under way', () => attempted.length === 10);
      const next = await queue(express);
      await until('the next one', () => attempted.includes(next));
      expect(messages).to.not.include(UNREACHED).and.not.include(FAILED_ROUND);
      gate.resolve();
    });

    for (const [what, lane, row] of [
      ['a delivery of the lane workflow', 'workflow', {}],
      ['one whose workflow was lost', 'express', { status: 'retrying', attempts: 1, resume: 'lost' }],
    ] as const)
      it(`makes first attempts without a rest, although ${what} cannot be started`, async () => {
        const [express, other] = [await way('express'), await way(lane)];
        const waiting = await queue(other, row);
        await start();
        await until('its start to fail', () => messages.includes(UNREACHED), 15_000);
        for (let n = 0; n < 3; n += 1) {
          const next = await queue(express);
          await until('another one', () => attempted.includes(next));
        }
        expect(await queuedDeliveries(database.pool)).to.include(waiting);
        expect(messages).to.not.include(FAILED_ROUND);
      });
  });
});
