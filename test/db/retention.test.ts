import { expect } from 'chai';
import { applyRetention } from '../../activities/maintenance/index.ts';
import { readSettings } from '../../core/config/config.ts';
import { TUNING } from '../../core/config/tuning.ts';
import { newId } from '../../core/text/ids.ts';
import { createLog } from '../../core/process/log.ts';
import { forgetEarlierVersions } from '../../db/operations/expired.ts';
import { DAY_MS, daysBefore } from '../../db/sql/partitions.ts';
import { fillHour } from '../support/database/volume.ts';
import { useDatabase, useMade } from '../support/use-hookyard.ts';
import { execute, selectColumn, selectRows } from '../support/database/sql.ts';

const DAYS_AGO = 10;
const DAY_SECONDS = 86_400;

describe('retention of payloads', () => {
  const { database } = useDatabase('kept');
  const volume = useMade('the volume', () => fillHour(database.pool, 3600, DAYS_AGO, 900));

  const settings = { ...readSettings({}), HOOKYARD_PAYLOAD_RETENTION_DAYS: 5, HOOKYARD_EVENT_RETENTION_DAYS: 0 };
  const log = createLog({ LOG_LEVEL: 'silent' }, 'worker');
  const kept = () => daysBefore(database.pool, 'event_payloads', Math.floor(volume.from / 86_400_000) + 1);
  const apply = async () => {
    while (await applyRetention({ pool: database.pool, settings, tuning: TUNING, log }));
  };

  it('keeps the versions of routes and transforms for as long as payloads that were received before they were replaced', async () => {
    const { pool } = database;
    const transformId = newId('tfm');
    await execute(pool)`insert into transforms (id, organization_id, name, slug, type, code)
      values (${transformId}, ${volume.organizationId}, ${transformId}, 'kept', 'jsonata', 'payload')`;
    for (const daysAgo of [8, 4, 0]) {
      await pool.query('update transforms set version = version + 1 where id = $1', [transformId]);
      await execute(pool)`update earlier_versions set replaced_at = now() - make_interval(days => ${daysAgo})
        where (record_id, version) in (select id, version - 1 from transforms where id = ${transformId})`;
    }
    const versions = () => selectColumn<number>(pool)`select version from earlier_versions
      where record_id = ${transformId} order by version`;
    expect(await versions()).to.deep.equal([1, 2, 3]);
    await forgetEarlierVersions(pool, Math.floor(Date.now() / DAY_MS) - settings.HOOKYARD_PAYLOAD_RETENTION_DAYS);
    expect(await versions()).to.deep.equal([2, 3]);
  });

  /** Takes one open delivery into a file that waits since so long ago. */
  async function freeze(waitingSeconds: number): Promise<string> {
    const batchId = newId('bat');
    const rows = await selectRows<{ id: string }>(database.pool)`
      update deliveries set batch_id = ${batchId} where id = (
      select id from deliveries where status = 'pending' and batch_id is null order by id limit 1) returning id`;
    const id = rows[0]?.id ?? '';
    await execute(database.pool)`
      insert into warehouse_batches (id, organization_id, destination_id, status, partition, key, file_format,
        first_delivery_id, last_delivery_id, waiting_since, events, bytes, frozen_at)
      values (${batchId}, ${volume.organizationId}, ${volume.destinationId}, 'frozen', ${batchId}, ${batchId}, 'jsonl',
      ${id}, ${id}, now() - make_interval(secs => ${waitingSeconds}), 1, 2, now())`;
    return id;
  }

  it('waits for a file that is being written, and not for ever for one that never is', async () => {
    const stuckAfter = TUNING.warehouseRetrySeconds + DAY_SECONDS;
    const deliveryId = await freeze(stuckAfter - 600);
    await apply();
    expect(await kept()).to.have.length(1);
    await database.pool.query("update warehouse_batches set waiting_since = waiting_since - interval '20 minutes'");
    await apply();
    expect(await kept()).to.deep.equal([]);
    // Its flush ends it, should there ever be one.
    const { rows } = await database.pool.query('select status from deliveries where id = $1', [deliveryId]);
    expect(rows).to.deep.equal([{ status: 'pending' }]);
  });
});
