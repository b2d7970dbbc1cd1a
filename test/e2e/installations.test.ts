// Two installations in one namespace of Temporal, of which one is a copy of the other: every organization, record and
// delivery has the same id in both. A prefix of one of them keeps their names apart, and each looks at its own
// workflows only.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { newToken } from '../../core/config/api-token.ts';
import { withPrefix } from '../../core/temporal/names.ts';
import { requestDeletion } from '../../db/organizations/organizations.ts';
import { keepHouse } from '../support/database/housekeeping.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { copyDatabase } from '../support/database/own-database.ts';
import { type Endpoint, type Receiver, startReceiver } from '../support/receiver.ts';
import { reconcileNow } from '../support/workflows/reconcile.ts';
import { type DeliveryView, onceMore, Records, type SourceView } from '../support/records.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
const PREFIX = 'copy';

interface Installation {
  hookyard: OwnHookyard;
  prefix: string;
  records: Records;
}

describe('two installations in one namespace', () => {
  let receiver: Receiver;
  let endpoint: Endpoint;
  let first: Installation;
  let copy: Installation;
  let source: SourceView;
  /** Waits for its retry since before the copy was made. */
  let waiting: DeliveryView;
  const close: (() => Promise<unknown>)[] = [];

  before(async () => {
    receiver = await startReceiver();
    close.push(() => receiver.close());
    const common = {
      HOOKYARD_LANE: 'workflow',
      HOOKYARD_API_KEY: newToken(),
      HOOKYARD_ENCRYPTION_KEYS: `first:${randomBytes(32).toString('base64')}`,
    };
    const hookyard = await startHookyard(undefined, common);
    close.push(() => hookyard.close());
    first = { hookyard, prefix: '', records: new Records(hookyard) };
    const worker = await hookyard.startWorker();
    endpoint = receiver.endpoint(500, 200);
    const destination = { retryPolicy: onceMore(5, HOUR_MS) };
    ({ source, delivery: waiting } = await first.records.deliver(endpoint.url, '{"n":1}', 'retrying', { destination }));
    await Promise.all([worker.stop(), hookyard.api.stop()]);
    const { namespace } = hookyard.temporal.options;
    const database = await copyDatabase(
      `${new URL(hookyard.databaseUrl).pathname.slice(1)}_copy`,
      hookyard.databaseUrl,
    );
    await Promise.all([hookyard.startApi(), hookyard.startWorker()]);
    const settings = { ...common, HOOKYARD_TEMPORAL_PREFIX: PREFIX };
    const second = await startHookyard(stackAddresses(), settings, { namespace, database });
    close.push(() => second.close());
    copy = { hookyard: second, prefix: PREFIX, records: new Records(second) };
    await second.startWorker();
  });
  after(async () => {
    for (const each of close.toReversed()) await each();
  });

  const handleOf = ({ hookyard, prefix }: Installation, name: string) =>
    hookyard.temporal.workflow.getHandle(withPrefix(prefix, name));
  const statusOf = async (installation: Installation, name: string) =>
    (await handleOf(installation, name).describe()).status.name;
  const waitingIn = async (installation: Installation) => {
    const { delivery } = await installation.records.deliver(receiver.endpoint(500).url, '{"n":2}', 'retrying', {
      destination: { retryPolicy: onceMore(5, HOUR_MS) },
    });
    const { hookyard, prefix } = installation;
    const listed = `WorkflowId = "${withPrefix(prefix, delivery.id)}" and ExecutionStatus = "Running"`;
    await until('its workflow to be listed', async () => (await hookyard.temporal.workflow.count(listed)).count === 1);
    return delivery.id;
  };

  it('each have their own schedules', async () => {
    const wanted = ['hookyard-maintenance', 'hookyard-reconciliation'];
    await until('the schedules of both', async () => {
      const found: string[] = [];
      for await (const { scheduleId } of first.hookyard.temporal.schedule.list()) found.push(scheduleId);
      return [...wanted, ...wanted.map((id) => withPrefix(PREFIX, id))].every((id) => found.includes(id));
    });
    await keepHouse(first.hookyard);
    await keepHouse(copy.hookyard, PREFIX);
  });

  it('each deliver what they received, and name their workflows', async () => {
    for (const installation of [first, copy]) {
      const own = receiver.endpoint(200);
      const { delivery } = await installation.records.deliver(own.url, '{"n":3}', 'delivered');
      expect(own.requests).to.have.length(1);
      const shown = await installation.hookyard.client.get<{ workflowId: string; temporalUrl: string }>(
        `/api/deliveries/${delivery.id}`,
      );
      expect(shown.workflowId).to.equal(withPrefix(installation.prefix, delivery.id));
      expect((await handleOf(installation, delivery.id).describe()).taskQueue).to.equal(
        withPrefix(installation.prefix, 'hookyard'),
      );
    }
  });

  it('each continue with a delivery that both have, and the other does not hear of it', async () => {
    expect(await statusOf(first, waiting.id)).to.equal('RUNNING');
    await copy.hookyard.client.post(`/api/deliveries/${waiting.id}/retry`, {});
    await copy.records.deliveryWith('delivered', waiting.eventId);
    expect(endpoint.requests).to.have.length(2);
    expect(await first.records.delivery(waiting.id)).to.include({ status: 'retrying', attemptCount: 1 });
    expect(await statusOf(first, waiting.id)).to.equal('RUNNING');
    await first.hookyard.client.post(`/api/deliveries/${waiting.id}/retry`, {});
    await first.records.deliveryWith('delivered', waiting.eventId);
    expect(endpoint.requests).to.have.length(3);
  });

  it('each compare their own deliveries with Temporal', async () => {
    const ids = [await waitingIn(first), await waitingIn(copy)] as const;
    expect(await reconcileNow(first.hookyard)).to.deep.equal({});
    expect(await reconcileNow(copy.hookyard, PREFIX)).to.deep.equal({});
    expect([await statusOf(first, ids[0]), await statusOf(copy, ids[1])]).to.deep.equal(['RUNNING', 'RUNNING']);
  });

  it('each delete the workflows of an organization that is deleted there', async () => {
    const kept = await waitingIn(first);
    const { organizationId, pool, temporal } = copy.hookyard;
    expect(organizationId).to.equal(first.hookyard.organizationId);
    await waitingIn(copy);
    await requestDeletion(pool, organizationId);
    const ofOrganization = `OrganizationId = "${organizationId}"`;
    const count = async (taskQueue: string) =>
      (await temporal.workflow.count(`${ofOrganization} and TaskQueue = "${taskQueue}"`)).count;
    const before = await count('hookyard');
    expect(before).to.be.at.least(1);
    await until('those of the copy to be gone', async () => {
      await keepHouse(copy.hookyard, PREFIX);
      return (await count(`${PREFIX}.hookyard`)) === 0;
    });
    expect(await count('hookyard')).to.equal(before);
    expect(await statusOf(first, kept)).to.equal('RUNNING');
    const { delivery } = await first.records.deliver(receiver.endpoint(200).url, '{"n":4}', 'delivered');
    expect(delivery.attemptCount).to.equal(1);
    expect(await first.records.post(source, '{"n":5}')).to.include({ status: 200 });
  });
});
