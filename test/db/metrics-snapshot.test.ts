import { expect } from 'chai';
import pino from 'pino';
import { databaseLimit, databaseUp, SNAPSHOT_GAUGES } from '../../core/metrics/snapshot.ts';
import { newId } from '../../core/text/ids.ts';
import { createPool } from '../../db/connections/pool.ts';
import { countWaiting } from '../../db/organizations/backlog.ts';
import {
  takeFigures,
  claimSnapshot,
  readSnapshot,
  releaseSnapshot,
  writeSnapshot,
} from '../../db/operations/figures.ts';
import { DAY_MS, ensurePartitions } from '../../db/sql/partitions.ts';
import { startSampler } from '../../telemetry/sampler.ts';
import { queueDelivery } from '../support/database/outbox.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { useDatabase } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

const KEPT = { HOOKYARD_PAYLOAD_RETENTION_DAYS: 30, HOOKYARD_EVENT_RETENTION_DAYS: 90 };

describe('the figures of the metrics', () => {
  const { database } = useDatabase('figures', { connections: 12 });
  const refuse = (error: unknown) => {
    throw error;
  };
  const figures = () => takeFigures(database.pool, KEPT, refuse);

  it('are all there where nothing waits', async () => {
    const { databaseBytes, ...others } = await figures();
    expect(others).to.deep.equal({
      waiting: 0,
      due: 0,
      oldestDueAge: 0,
      retrying: 0,
      held: 0,
      waitingInOrder: 0,
      blockedKeys: 0,
      oldestBlockedKey: 0,
      circuits: { open: 0, half_open: 0 },
      issues: {},
      replays: 0,
      retentionLag: 0,
      warehouseOldestOpen: 0,
      workers: 0,
    });
    expect(databaseBytes).to.be.above(1_000_000);
  });

  it('count what waits as the backlog does, and as due only what may start now', async () => {
    const { pool } = database;
    const due = await queueDelivery(pool);
    await queueDelivery(pool, newId('dlv'), 'waiting');
    const ofSuspended = await queueDelivery(pool);
    await execute(pool)`insert into organizations (id, slug, name, plan, suspended_at)
      values (${ofSuspended.organizationId}, 'suspended', 'Suspended', 'free', now())`;
    const inFile = await queueDelivery(pool);
    await execute(pool)`update outbox set destination_id = ${newId('dst_wh')} where delivery_id = ${inFile.deliveryId}`;
    const limited = await queueDelivery(pool);
    // Its destination has no record here.
    await pool.query('alter table rate_limits drop constraint rate_limits_destination_id_fkey');
    await execute(pool)`insert into rate_limits (destination_id, next_at)
      values (${limited.destinationId}, now() + interval '1 hour')`;
    await execute(pool)`update outbox set entered_at = now() - interval '90 seconds'
      where delivery_id = ${due.deliveryId}`;
    const retrying = await queueDelivery(pool, newId('dlv'), 'waiting');
    await execute(pool)`insert into retrying_deliveries (delivery_id, organization_id, destination_id)
      values (${retrying.deliveryId}, ${retrying.organizationId}, ${retrying.destinationId})`;
    const found = await figures();
    expect(found).to.include({ due: 1, retrying: 1, waiting: (await countWaiting(pool)).total });
    expect(found.oldestDueAge).to.be.within(90, 90 + 600);
  });

  it('say for how long the retention is late', async () => {
    const { pool } = database;
    expect((await figures()).retentionLag).to.equal(0);
    // It makes the day before as well: 37 days ago, due at the end of the thirtieth day after.
    await ensurePartitions(pool, Date.now() - 36 * DAY_MS);
    const { retentionLag = 0 } = await figures();
    expect(retentionLag * 1000).to.be.within(6 * DAY_MS, 7 * DAY_MS);
  });

  it('leave out what cannot be taken', async () => {
    const { pool } = database;
    await pool.query('alter table event_replays rename to event_replays_away');
    const errors: unknown[] = [];
    const found = await takeFigures(pool, KEPT, (error) => errors.push(error));
    await pool.query('alter table event_replays_away rename to event_replays');
    expect(errors).to.have.length(1);
    expect(found).to.have.property('waiting');
    expect(found).to.not.have.property('replays');
  });

  it('are taken by one of many at a time, and by another when that one is gone', async () => {
    const { pool } = database;
    expect(await readSnapshot(pool)).to.deep.equal({ figures: {}, ageMs: null, isDue: true });
    const names = Array.from({ length: 10 }, (_, index) => `process ${index}`);
    const claimed = await Promise.all(names.map((name) => claimSnapshot(pool, name, 3_600_000)));
    expect(claimed.filter(Boolean)).to.have.length(1);
    const first = names[claimed.indexOf(true)] ?? '';
    expect((await readSnapshot(pool)).isDue).to.equal(false);
    // It dies: its claim runs out.
    await pool.query(`update upkeep set next_at = now() - interval '1 second' where kind = 'figures'`);
    expect(await claimSnapshot(pool, 'another', 3_600_000)).to.equal(true);
    await writeSnapshot(pool, first, { waiting: 1 }, 0);
    expect((await readSnapshot(pool)).figures, 'what comes too late').to.deep.equal({});
    await writeSnapshot(pool, 'another', { waiting: 2, circuits: { open: 1, half_open: 0 } }, 3_600_000);
    const snapshot = await readSnapshot(pool);
    expect(snapshot).to.deep.include({ figures: { waiting: 2, circuits: { open: 1, half_open: 0 } }, isDue: false });
    expect(snapshot.ageMs).to.be.at.least(0);
    await pool.query(`update upkeep set next_at = now() - interval '1 second' where kind = 'figures'`);
    expect(await claimSnapshot(pool, 'one that ends', 3_600_000)).to.equal(true);
    await releaseSnapshot(pool, 'one that ends');
    expect(await claimSnapshot(pool, 'the next', 3_600_000)).to.equal(true);
  });
});

describe('the sampler of a process', () => {
  const { database } = useDatabase('sampler');

  it('tells when the database is away, keeps the last figures, and tells when it is back', async () => {
    const url = new URL(database.databaseUrl);
    const network = await startTcpProxy(url.host);
    url.host = network.address;
    const pool = createPool(url.href, { max: 1, statementTimeoutMs: 20_000, onError: () => {} });
    const settings = { ...KEPT, HOOKYARD_MAX_DATABASE_BYTES: 1_000_000 };
    const sampler = startSampler({ pool, settings, log: pino({ level: 'silent' }) });
    const shown = () => databaseUp.points().map(({ value }) => value);
    const shows = async (value: number) => {
      await sampler.refresh();
      return shown()[0] === value;
    };
    const waiting = () => SNAPSHOT_GAUGES.waiting.points().map(({ value }) => value);
    try {
      await sampler.refresh();
      await until('the first figures', () => waiting().length > 0);
      expect(shown()).to.deep.equal([1]);
      expect(databaseLimit.points().map(({ value }) => value)).to.deep.equal([1_000_000]);
      network.refuseConnections();
      await until('the database to be away', () => shows(0));
      expect(waiting()).to.deep.equal([0]);
      network.breakConnections();
      await until('the database to be back', () => shows(1));
    } finally {
      await sampler.stop();
      await pool.end();
      await network.close();
    }
    expect(shown()).to.deep.equal([]);
  });
});
