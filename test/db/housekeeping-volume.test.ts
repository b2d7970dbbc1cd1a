// Housekeeping of more rows than a statement can take: every statement has 50 ms. `VOLUME=1000000 npm test --
// test/db/housekeeping-volume.test.ts` does it with a million.
import { expect } from 'chai';
import { pino } from 'pino';
import { HousekeepingError, maintain } from '../../activities/maintenance/index.ts';
import { unusedTemporal } from '../support/servers/unused-temporal.ts';
import { readSettings } from '../../core/config/config.ts';
import { TUNING } from '../../core/config/tuning.ts';
import { rollUp } from '../../db/ledger/roll-up.ts';
import { SecretBox } from '../../db/encryption/secret-box.ts';
import { daysBefore } from '../../db/sql/partitions.ts';
import { mergeAll } from '../support/database/roll-up.ts';
import { fillHour } from '../support/database/volume.ts';
import { useDatabase, useMade, usePool } from '../support/use-hookyard.ts';

const ROWS = Number(process.env.VOLUME ?? 100_000);
const DEADLINE_MS = 50;
const DAYS_AGO = 10;
const MOST_FAILURES = 20;

const settings = { ...readSettings({}), HOOKYARD_PAYLOAD_RETENTION_DAYS: 0, HOOKYARD_EVENT_RETENTION_DAYS: 0 };
const secretBox = new SecretBox([{ id: 'unused', key: Buffer.alloc(32) }]);

describe(`housekeeping of ${ROWS} deliveries by statements of ${DEADLINE_MS} ms`, function () {
  this.timeout(600_000);
  // What fills it may take long.
  const { database } = useDatabase('volume', { statementTimeoutMs: 600_000 });
  const volume = useMade('the volume', () => fillHour(database.pool, ROWS, DAYS_AGO, 60));
  const hurried = usePool(database, { max: 4, statementTimeoutMs: DEADLINE_MS });
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => void lines.push(line) });

  const depsWith = (changes: Partial<typeof settings> = {}) => ({
    ...{ pool: hurried, client: unusedTemporal(), secretBox, tuning: TUNING, log },
    settings: { ...settings, ...changes },
  });

  /**
   * Until nothing is left to do. On a busy machine, any statement may take longer than its time; the next round makes
   * up for it.
   */
  async function keepHouse(changes: Partial<typeof settings> = {}): Promise<void> {
    const deps = depsWith(changes);
    for (let failures = 0; failures < MOST_FAILURES; ) {
      const hasMore = await maintain(deps).catch((error: unknown) => {
        if (!(error instanceof HousekeepingError)) throw error;
        failures += 1;
        return true;
      });
      if (!hasMore) return;
    }
    throw new Error(`it does not come through: ${lines.join('')}`);
  }

  const rows = async (statement: string, values: unknown[] = []) =>
    (await database.pool.query<Record<string, unknown>>(statement, values)).rows;

  it('rolls up and merges statistics', async () => {
    await database.pool.query(
      `insert into ledger_entries (organization_id, bucket, source_id, route_id, destination_id, code, attempts, latency_sum, latencies)
       select $3, date_bin('1 hour', $2::timestamptz, 'epoch') + b * interval '5 minutes', $4, '', 'dst_' || d, 200, 5, 15,
              '{{1,1},{2,1},{3,1},{4,1},{5,1}}'
       from generate_series(1, $1::int) d, generate_series(0, 11) b`,
      [Math.round(ROWS / 100), new Date(volume.from), volume.organizationId, volume.sourceId],
    );
    while (await rollUp(hurried));
    const expected = { rows: Math.round(ROWS / 100), attempts: Math.round(ROWS / 100) * 60 };
    const merged = () =>
      rows(
        `select count(*)::int as rows, sum(attempts)::int as attempts from rollups where step = 3600 and destination_id <> ''`,
      );
    expect(await merged()).to.deep.equal([expected]);
    await database.pool.query('update rollups set step = 300 where step = 3600');
    await mergeAll(hurried);
    expect(await merged()).to.deep.equal([expected]);
  });

  it('ends what is open and drops what is over', async () => {
    // What waits of others is gone through, and stays; what waits for a destination that is gone does not.
    await database.pool.query(
      `insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, priority, shard)
       select 'dlv_~' || lpad(n::text, 16, '0'), case when n % 10 = 0 then 'dst_gone' else $2 end, $3, 'evt_~', $4, 0, 0
       from generate_series(1, $1::int) n`,
      [ROWS / 10, volume.destinationId, volume.organizationId, volume.sourceId],
    );
    const kept = Math.floor(volume.from / 86_400_000) + 1;
    await keepHouse({ HOOKYARD_PAYLOAD_RETENTION_DAYS: DAYS_AGO - 2 });
    expect(await rows(`select count(*)::int as failed from deliveries where status = 'failed'`)).to.deep.equal([
      { failed: volume.open },
    ]);
    await keepHouse({ HOOKYARD_EVENT_RETENTION_DAYS: DAYS_AGO - 2 });
    for (const table of ['events', 'deliveries', 'attempts', 'event_payloads'] as const) {
      expect(await daysBefore(database.pool, table, kept), table).to.deep.equal([]);
    }
    expect(await rows('select count(*)::int as waiting from outbox')).to.deep.equal([{ waiting: ROWS * 0.09 }]);
  });

  it('does the other parts when one fails, and tells and counts that one', async () => {
    await database.pool.query(`alter table idempotent_requests rename to elsewhere;
      insert into idempotency_keys (source_id, key_hash, event_id, expires_at)
        select 'src', n::text::bytea, 'evt', now() - interval '1 day' from generate_series(1, 25000) n`);
    const deps = depsWith();
    let failure: unknown;
    while (!failure)
      failure = await maintain(deps).then(
        (hasMore) => !hasMore,
        (error: unknown) => error,
      );
    expect(failure).to.be.instanceOf(HousekeepingError).with.property('message').that.includes('idempotent requests');
    // After the part that fails, and before it.
    expect(await rows('select from idempotency_keys')).to.have.length(0);
    expect(lines.join()).to.include('idempotent requests').and.to.include('42P01').and.to.include('stack');
    const [counted] = await rows(`select * from upkeep where part = 'idempotent requests'`);
    expect(counted?.last_error).to.include('idempotent_requests');
  });
});
