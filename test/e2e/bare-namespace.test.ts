// A namespace of Temporal that lacks the search attributes and has no room for them: deliveries continue without, the
// processes say so, and when the attributes are there, later workflows carry them without a restart.
import { randomBytes } from 'node:crypto';
import { Connection, type WorkflowExecutionDescription } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { expect } from 'chai';
import { eventIdAttribute, searchAttributeNames } from '../../core/temporal/names.ts';
import { freePorts } from '../../local/ports.ts';
import { ensureNamespace, lookAtNamespace } from '../../temporal-config/namespace.ts';
import { createClient } from '../support/api-client.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { onceMore, Records } from '../support/records.ts';
import { reconcileNow } from '../support/workflows/reconcile.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { useReceiver } from '../support/use-hookyard.ts';

// INDEXED_VALUE_TYPE_KEYWORD; a namespace takes ten of them.
const KEYWORD = 2;
const OTHERS = ['Other1', 'Other2', 'Other3', 'Other4', 'Other5'];
const OPERATOR_KEY = 'operator_key_of_the_tests_0123456789';
const LACKS = 'lacks search attributes: workflows start without them';
const HAS = 'now has its search attributes';
const HOUR_MS = 3_600_000;

describe('a namespace without search attributes', () => {
  const namespace = `bare-${randomBytes(6).toString('hex')}`;
  let connection: Connection;
  let testInstance: OwnHookyard;
  let records: Records;
  const receiver = useReceiver();
  let workerPort = 0;

  before(async () => {
    const { temporalAddress } = stackAddresses();
    [workerPort = 0] = await freePorts(1);
    connection = await Connection.connect({ address: temporalAddress });
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs(24 * HOUR_MS),
    });
    await until('others to have taken the room', async () => {
      const searchAttributes = Object.fromEntries(OTHERS.map((name) => [name, KEYWORD]));
      await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
      return (await lookAtNamespace(connection, namespace)) === 'bare';
    });
    const settings = { HOOKYARD_LANE: 'workflow', HOOKYARD_OPERATOR_KEY: OPERATOR_KEY };
    testInstance = await startHookyard(undefined, settings, { namespace });
    records = new Records(testInstance);
    await testInstance.startWorker({ OTEL_EXPORTER_PROMETHEUS_PORT: String(workerPort) });
  });
  after(async () => {
    await testInstance?.close();
    await connection?.close();
  });

  const describeWorkflow = (id: string): Promise<WorkflowExecutionDescription> =>
    testInstance.temporal.workflow.getHandle(id).describe();
  const linesWith = (text: string) =>
    testInstance
      .logs()
      .split('\n')
      .filter((line) => line.includes(text)).length;
  const status = () =>
    createClient(testInstance.api.url, OPERATOR_KEY).get<{ temporal: string; searchAttributes: boolean }>(
      '/api/status',
    );
  const ready = async () => {
    const answer = await fetch(`http://127.0.0.1:${workerPort}/readyz`);
    return { code: answer.status, temporal: ((await answer.json()) as { temporal: unknown }).temporal };
  };

  it('delivers without them, retries and circuits included', async () => {
    const endpoint = receiver.endpoint(500, 500, 200);
    const { delivery } = await records.deliver(endpoint.url, '{"n":1}', 'delivered', {
      destination: { retryPolicy: onceMore(5, 10) },
      route: { circuitFailureThreshold: 2, circuitCooldownSeconds: 1, circuitProbeSuccessThreshold: 1 },
    });
    expect(delivery.attemptCount).to.equal(3);
    await until('its workflow to end', async () => (await describeWorkflow(delivery.id)).status.name === 'COMPLETED');
    expect((await describeWorkflow(delivery.id)).typedSearchAttributes.get(eventIdAttribute)).to.equal(undefined);
  });

  it('keeps no failed delivery waiting in Temporal, where nobody could find it, and replays it all the same', async () => {
    const endpoint = receiver.endpoint(500, 200);
    const { delivery, eventId } = await records.deliver(endpoint.url, '{"n":2}', 'failed');
    await until('its workflow to end', async () => (await describeWorkflow(delivery.id)).status.name === 'FAILED');
    await testInstance.client.post(`/api/deliveries/${delivery.id}/replay`, {});
    await records.eventWith('delivered', eventId);
    expect(endpoint.requests).to.have.length(2);
  });

  it('is told of once in the log, by the probe and by the status, and is ready', async () => {
    expect(linesWith(LACKS)).to.equal(1);
    expect(await ready()).to.deep.equal({
      code: 200,
      temporal: { answers: true, searchAttributes: false, polling: true },
    });
    expect(await status()).to.include({ temporal: 'ok', searchAttributes: false });
  });

  it('is used again when they are there, by the workflows that start from then on', async () => {
    const destination = { retryPolicy: onceMore(5, HOUR_MS) };
    const before = await records.deliver(receiver.endpoint(500, 200).url, '{"n":3}', 'retrying', { destination });
    await connection.operatorService.removeSearchAttributes({ namespace, searchAttributes: OTHERS });
    await ensureNamespace(connection, namespace);
    await until('the worker to see them', () => linesWith(HAS) === 1);
    const after = await records.deliver(receiver.endpoint(500, 200).url, '{"n":4}', 'retrying', { destination });
    await until('it to be found by its status', async () => {
      const query = `EventId = "${after.eventId}" and DeliveryStatus = "retrying"`;
      return (await testInstance.temporal.workflow.count(query)).count === 1;
    });
    expect(await reconcileNow(testInstance)).to.deep.equal({});
    for (const { delivery, eventId } of [before, after]) {
      await testInstance.client.post(`/api/deliveries/${delivery.id}/retry`, {});
      await records.deliveryWith('delivered', eventId);
    }
    await until('the status to say so', async () => (await status()).searchAttributes);
    expect((await ready()).temporal).to.include({ searchAttributes: true });
    expect([linesWith(LACKS), linesWith(HAS)]).to.deep.equal([1, 1]);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    expect(Object.keys(customAttributes ?? {})).to.have.members(searchAttributeNames);
  });
});
