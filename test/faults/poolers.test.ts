// Hookyard behind a real PgBouncer, in both modes that it works in: under load, while PgBouncer is killed and started
// again, and when a worker dies.
import { expect } from 'chai';
import { useHookyard } from '../support/use-hookyard.ts';
import { type PgBouncer, requirePgBouncer, startPgBouncer } from '../support/servers/pgbouncer.ts';
import { SENDERS, startSenders } from '../support/requests/senders.ts';
import { asServices, killPart, stackAddresses, startPart } from '../support/stack.ts';
import { until } from '../support/until.ts';

const RECOVERY_MS = 180_000;
const FEW_CONNECTIONS = { HOOKYARD_DATABASE_CONNECTIONS: '8' };

interface Mode {
  name: 'session' | 'transaction';
  /** Of PgBouncer, as docs/operate/postgresql.md has them. */
  pooler: Record<string, string>;
  /** Of API and workers, beside DATABASE_URL. */
  settings(databaseUrl: string): Record<string, string>;
}

const MODES: Mode[] = [
  // With the defaults of PgBouncer: 20 sessions.
  { name: 'session', pooler: {}, settings: () => FEW_CONNECTIONS },
  {
    name: 'transaction',
    pooler: {
      pool_mode: 'transaction',
      default_pool_size: '10',
      max_client_conn: '500',
      query_wait_timeout: '10',
      server_login_retry: '1',
    },
    settings: (databaseUrl) => ({ DATABASE_DIRECT_URL: databaseUrl }),
  },
];

describe('behind PgBouncer', () => {
  for (const mode of MODES) {
    describe(`in ${mode.name} mode`, function () {
      this.timeout(900_000);
      let pooler: PgBouncer;
      before(async function () {
        requirePgBouncer(this);
        pooler = await startPgBouncer(asServices(stackAddresses().databaseUrl), mode.pooler);
      });
      after(() => pooler?.stop());
      const { testInstance, line } = useHookyard({
        settings: (databaseUrl) => ({ DATABASE_URL: pooler.urlOf(databaseUrl), ...mode.settings(databaseUrl) }),
      });

      it('delivers what it acknowledges once, and refuses with 503 only while PgBouncer is away', async () => {
        await testInstance.onlyWorker();
        const { ledger, endpoint } = await line();
        const load = startSenders(ledger);
        const accept = async () => {
          const before = ledger.acknowledged.size;
          await until('webhooks to be accepted', () => ledger.acknowledged.size > before + 10 * SENDERS, RECOVERY_MS);
        };
        try {
          await accept();
          expect([...load.statuses]).to.deep.equal([200]);
          await until('deliveries to be made', () => endpoint.requests.length > SENDERS);
          await pooler.kill();
          await until('webhooks to be refused', () => load.statuses.has(503));
          expect((await testInstance.client.request('GET', '/readyz')).status).to.equal(503);
        } finally {
          await pooler.start();
        }
        await accept();
        expect([...load.statuses]).to.have.members([200, 503]);
        for (const seconds of load.retryAfter) expect(Number(seconds)).to.be.above(0);
        load.statuses.clear();
        await accept();
        await load.stop();
        expect([...load.statuses]).to.deep.equal([200]);
        await ledger.settle(RECOVERY_MS);
        for (const id of ledger.acknowledged.keys()) expect(ledger.arrivals(id), id).to.equal(1);
      });

      it('loses nothing that it acknowledged when PostgreSQL is killed behind PgBouncer', async () => {
        await testInstance.onlyWorker();
        const { ledger, endpoint } = await line();
        const load = startSenders(ledger);
        try {
          await until('deliveries to be made', () => endpoint.requests.length > SENDERS);
          await killPart('postgres');
          await until('webhooks to be refused', () => load.statuses.has(503));
        } finally {
          await startPart('postgres');
        }
        const before = ledger.acknowledged.size;
        await until('webhooks to be accepted', () => ledger.acknowledged.size > before + SENDERS, RECOVERY_MS);
        await load.stop();
        expect([...load.statuses]).to.have.members([200, 503]);
        await ledger.settle(RECOVERY_MS);
      });
    });
  }
});
