// The rights that Temporal asks for (docs/operate/temporal.md), on a server with an authorizer: a writer of the
// namespace may do all but make the namespace and its search attributes.
import { Client, type Connection, WorkflowNotFoundError } from '@temporalio/client';
import { expect } from 'chai';
import { freePorts } from '../../local/ports.ts';
import { ensureNamespace, lookAtNamespace } from '../../temporal-config/namespace.ts';
import { closeAll } from '../http/servers.ts';
import { type GuardedTemporal, startGuardedTemporal } from '../support/servers/guarded-temporal.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { onceMore, Records } from '../support/records.ts';
import { forgetWorkflow, reconcileNow } from '../support/workflows/reconcile.ts';
import { runToEnd, startService } from '../support/service.ts';
import { asServices, stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { useReceiver } from '../support/use-hookyard.ts';

const NAMESPACE = 'rights';
const HOUR_MS = 3_600_000;
const LONG_ENOUGH_MS = 20_000;

describe('a Temporal that asks for rights', () => {
  let guarded: GuardedTemporal;
  let writer: Connection;
  let testInstance: OwnHookyard;
  let records: Records;
  const receiver = useReceiver();

  const withRights = (...permissions: string[]) => ({
    TEMPORAL_TLS: 'false',
    TEMPORAL_API_KEY: guarded.token(...permissions),
  });

  before(async () => {
    guarded = await startGuardedTemporal();
    writer = guarded.connect(`${NAMESPACE}:write`);
    const settings = {
      ...withRights(`${NAMESPACE}:write`),
      HOOKYARD_LANE: 'workflow',
      HOOKYARD_WORKER_VERSIONING: 'rights',
    };
    const { databaseUrl } = stackAddresses();
    const servers = { databaseUrl, temporalAddress: guarded.address };
    testInstance = await startHookyard(servers, settings, { namespace: NAMESPACE });
    testInstance.temporal = new Client({ connection: writer, namespace: NAMESPACE });
    records = new Records(testInstance);
  });
  after(async () => {
    await testInstance?.close();
    await Promise.all([writer?.close(), guarded?.close(), closeAll()]);
  });

  const alone = (...permissions: string[]) => ({
    DATABASE_URL: asServices(testInstance.databaseUrl),
    TEMPORAL_ADDRESS: guarded.address,
    TEMPORAL_NAMESPACE: NAMESPACE,
    ...withRights(...permissions),
  });

  it('is told of no namespace by a writer that may not make it', async () => {
    // It goes on trying for two minutes.
    const { output } = await runToEnd('worker', alone(`${NAMESPACE}:write`), LONG_ENOUGH_MS);
    expect(output).not.to.include('worker ready');
    expect(output).to.include(`Temporal has no namespace ${NAMESPACE} and does not allow this client to create it`);
  });

  it('lets an administrator of the namespace make it and its search attributes', async () => {
    const admin = guarded.connect(`${NAMESPACE}:admin`);
    try {
      await ensureNamespace(admin, NAMESPACE);
    } finally {
      await admin.close();
    }
    expect(await lookAtNamespace(writer, NAMESPACE)).to.equal('complete');
  });

  it('lets a writer deliver, retry, cancel, replay, compare and delete, with a release of its own', async () => {
    const worker = await testInstance.startWorker();
    await until('its release to be the current one', () =>
      worker.output().includes('this release is now the current one'),
    );
    const destination = { retryPolicy: onceMore(5, HOUR_MS) };
    const { delivery, eventId } = await records.deliver(receiver.endpoint(500, 200).url, '{"n":1}', 'retrying', {
      destination,
    });
    await testInstance.client.post(`/api/deliveries/${delivery.id}/retry`, {});
    await records.deliveryWith('delivered', eventId);
    const other = await records.deliver(receiver.endpoint(500).url, '{"n":2}', 'retrying', { destination });
    await testInstance.client.post(`/api/deliveries/${other.delivery.id}/cancel`, {});
    await records.deliveryWith('cancelled', other.eventId);
    await records.workflowsEnd([delivery.id, other.delivery.id]);

    const replay = await testInstance.client.post<{ id: string }>(`${testInstance.base}/events/replay`, { all: true });
    await until('the replay to end', async () => {
      const { status } = await testInstance.client.get<{ status: string }>(
        `${testInstance.base}/events/replays/${replay.id}`,
      );
      return status === 'completed';
    });
    expect(await reconcileNow(testInstance)).to.be.an('object');
    await forgetWorkflow(testInstance, delivery.id);
    const gone = testInstance.temporal.workflow.getHandle(delivery.id);
    await until('it to be gone', () =>
      gone.describe().then(
        () => false,
        (error: unknown) => error instanceof WorkflowNotFoundError,
      ),
    );
    expect(testInstance.logs()).not.to.match(/PERMISSION_DENIED|Request unauthorized/);
  });

  it('is told of by a worker that may only read, which is not ready', async () => {
    const [port = 0] = await freePorts(1);
    const worker = await startService('worker', {
      ...alone(`${NAMESPACE}:read`),
      OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
    });
    try {
      const answer = await until('it to know', async () => {
        const response = await fetch(`http://127.0.0.1:${port}/readyz`);
        const text = await response.text();
        if (!text.includes('Temporal refuses')) throw new Error(text);
        return { status: response.status, text };
      });
      expect(answer.status).to.equal(503);
      expect(answer.text).to.include(`needs the writer role for the namespace ${NAMESPACE}`);
    } finally {
      await worker.kill();
    }
  });
});
