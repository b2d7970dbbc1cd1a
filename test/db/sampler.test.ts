// What a process shows of PostgreSQL while that is away.
import { expect } from 'chai';
import pino from 'pino';
import { databaseLimit, databaseUp, SNAPSHOT_GAUGES } from '../../core/metrics/snapshot.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { startSampler } from '../../telemetry/sampler.ts';
import { startTcpProxy, type TcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { useDatabase } from '../support/use-hookyard.ts';

const settings = {
  HOOKYARD_PAYLOAD_RETENTION_DAYS: 30,
  HOOKYARD_EVENT_RETENTION_DAYS: 90,
  HOOKYARD_MAX_DATABASE_BYTES: 1_000_000,
};

describe('the sampler of a process', () => {
  const { database } = useDatabase('sampler');
  let network: TcpProxy;
  let pool: Pool;
  before(async () => {
    const { host } = new URL(database.databaseUrl);
    network = await startTcpProxy(host);
    const databaseUrl = Object.assign(new URL(database.databaseUrl), { host: network.address }).href;
    pool = createPool(databaseUrl, { max: 1, statementTimeoutMs: 20_000, onError: () => {} });
  });
  after(async () => {
    await pool.end();
    await network.close();
  });

  it('tells when the database is away, keeps the last figures, and tells when it is back', async () => {
    const sampler = startSampler({ pool, settings, log: pino({ level: 'silent' }) });
    const shown = () => databaseUp.points().map(({ value }) => value);
    const waiting = () => SNAPSHOT_GAUGES.waiting.points().map(({ value }) => value);
    try {
      await sampler.refresh();
      await until('the first figures', () => waiting().length > 0);
      expect(shown()).to.deep.equal([1]);
      expect(databaseLimit.points().map(({ value }) => value)).to.deep.equal([1_000_000]);
      network.refuseConnections();
      await until('the database to be away', async () => {
        await sampler.refresh();
        return shown()[0] === 0;
      });
      expect(waiting()).to.deep.equal([0]);
      network.breakConnections();
      await until('the database to be back', async () => {
        await sampler.refresh();
        return shown()[0] === 1;
      });
    } finally {
      await sampler.stop();
    }
    expect(shown()).to.deep.equal([]);
  });
});
