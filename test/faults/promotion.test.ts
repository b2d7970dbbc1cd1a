// The server of PostgreSQL is lost for good under load, and its synchronous standby takes its place: nothing that was
// acknowledged is lost, and the processes continue without a restart (docs/operate/recovery.md). Temporal's databases
// are on another server.
import { expect } from 'chai';
import { join } from 'node:path';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { Ledger } from '../support/workflows/ledger.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/servers/own-postgres.ts';
import type { Answer } from '../support/receiver.ts';
import { onceMore, Records } from '../support/records.ts';
import { SENDERS, startSenders } from '../support/requests/senders.ts';
import { stackAddresses } from '../support/stack.ts';
import { type Standby, startStandby } from '../support/servers/standby.ts';
import { startTcpProxy, type TcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { useReceiver } from '../support/use-hookyard.ts';

const RECOVERY_MS = 180_000;
const HELD = 8;

describe('the promotion of a standby', function () {
  this.timeout(900_000);
  let primary: OwnPostgres;
  let standby: Standby;
  /** What clients know as PostgreSQL: a name or an address that is moved. */
  let proxy: TcpProxy;
  let testInstance: OwnHookyard;
  let records: Records;
  const receiver = useReceiver();
  before(async () => {
    primary = await startOwnPostgres('primary');
    const url = primary.postgres.url('postgres');
    standby = await startStandby(url, join(primary.dataDir, 'standby'));
    proxy = await startTcpProxy(primary.address);
    const databaseUrl = Object.assign(new URL(url), { host: proxy.address }).href;
    const { temporalAddress } = stackAddresses();
    testInstance = await startHookyard({ databaseUrl, temporalAddress });
    records = new Records(testInstance);
    await testInstance.startWorker();
    await testInstance.startWorker();
  });
  after(async () => {
    await testInstance?.close();
    await proxy?.close();
    await standby?.remove();
    await primary?.remove();
  });

  async function line(answers: Answer[], destination: Record<string, unknown> = {}) {
    const endpoint = receiver.endpoint(...answers);
    const pipe = await records.pipe(endpoint.url, { destination, route: { circuitFailureThreshold: 1000 } });
    return { ...pipe, endpoint, ledger: new Ledger(records, pipe.source, endpoint) };
  }

  it('loses nothing that was acknowledged, and nobody has to be restarted', async () => {
    const processes = [testInstance.api, ...testInstance.workers];
    const gate = Promise.withResolvers<void>();
    const failing: Answer = { status: 500 };
    const [steady, held, retried] = await Promise.all([
      line([{}]),
      line([{ after: gate.promise }]),
      line([failing], { retryPolicy: onceMore(50, 2000) }),
    ]);
    const load = startSenders(steady.ledger);
    for (let n = 0; n < HELD; n += 1) await Promise.all([held.ledger.accepted(), retried.ledger.accepted()]);
    await until('deliveries to be made', () => steady.endpoint.requests.length > 10 * SENDERS, RECOVERY_MS);
    await until('attempts to be under way', () => held.endpoint.requests.length === HELD, RECOVERY_MS);
    await until('retries to be waited for', () => retried.endpoint.requests.length > 2 * HELD, RECOVERY_MS);

    await primary.postgres.service.kill();
    // Their results have to wait for a server.
    gate.resolve();
    failing.status = 200;
    await until('webhooks to be refused', () => load.statuses.has(503), RECOVERY_MS);
    await standby.promote();
    proxy.leadTo(standby.address);

    const before = steady.ledger.acknowledged.size;
    await until('webhooks to be accepted', () => steady.ledger.acknowledged.size > before + SENDERS, RECOVERY_MS);
    await load.stop();
    expect([...load.statuses]).to.have.members([200, 503]);
    for (const { ledger, source, endpoint } of [steady, held, retried]) {
      await ledger.settle(RECOVERY_MS);
      const { eventsCount } = await testInstance.client.get<{ eventsCount: number }>(
        `${testInstance.base}/sources/${source.id}`,
      );
      expect(eventsCount).to.equal(await records.storedEvents(source.id));
      // What was stored and could not be acknowledged is delivered as well, and an id is never given twice.
      const bodies = new Map(
        endpoint.requests.map(({ headers, body }) => [`${headers['x-hookyard-event-id']} ${body.toString()}`, headers]),
      );
      expect(bodies.size).to.equal(eventsCount);
    }
    expect(processes.map(({ running }) => running)).to.deep.equal([true, true, true]);
    await until('readiness', async () => (await testInstance.client.request('GET', '/readyz')).status === 200);
  });
});
