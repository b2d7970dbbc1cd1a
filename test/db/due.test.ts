// What a look of an idle worker finds: for each kind of work whether it is due, or when it will be.
import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { type DueKind, whatIsDue } from '../../db/operations/due.ts';
import { queueDelivery } from '../support/database/outbox.ts';
import { useDatabase } from '../support/use-hookyard.ts';

const HOUR_MS = 3_600_000;

describe('what is due', () => {
  const { database } = useDatabase('due');
  before(async () => {
    // Rows stand for themselves here.
    await database.pool.query('alter table event_replays drop constraint event_replays_organization_id_fkey');
  });

  const look = () => whatIsDue(database.pool, { recoverySeconds: 60, gainSeconds: 1 });
  const kinds = async () => {
    const { inMs } = await look();
    return Object.entries(inMs).flatMap(([kind, ms]) => (ms !== null && ms <= 0 ? [kind] : []));
  };
  /** Runs statements on rows that are gone afterwards. @param sql with `AT` for the time when they are due */
  async function expectDue(kind: DueKind, sql: string, table: string): Promise<void> {
    const { pool } = database;
    await pool.query(sql.replaceAll('AT', `now() + interval '1 hour'`));
    expect((await look()).inMs[kind], `${kind} in an hour`).to.be.within(HOUR_MS - 600_000, HOUR_MS);
    await pool.query(`truncate ${table} cascade`);
    await pool.query(sql.replaceAll('AT', `now() - interval '1 second'`));
    expect(await kinds()).to.deep.equal([kind]);
    await pool.query(`truncate ${table} cascade`);
  }

  it('is nothing in a quiet installation', async () => {
    const { inMs, suspended, severalOrganizations } = await look();
    expect(Object.values(inMs).filter((ms) => ms !== null)).to.deep.equal([]);
    expect(suspended.size).to.equal(0);
    expect(severalOrganizations).to.equal(false);
  });

  it('is what has reached its time', async () => {
    await expectDue(
      'circuits',
      `insert into circuits (route_id, organization_id, version, wake_at) values ('r', 'o', 1, AT)`,
      'circuits',
    );
    await expectDue(
      'messages',
      `insert into messages (id, route_id, kind, organization_id, due_at) values ('m', 'r', 'failure', 'o', AT)`,
      'messages',
    );
    await expectDue(
      'replays',
      `insert into event_replays (id, organization_id, next_id, end_id, requested_at, rate_per_second, due_at)
       values ('r', 'o', 'a', 'b', now(), 1, AT)`,
      'event_replays',
    );
  });

  it('is a warehouse with its first delivery, one whose destination has changed, and one that fills', async () => {
    const { pool } = database;
    const { deliveryId } = await queueDelivery(pool);
    expect(await kinds(), 'what a relay starts').to.deep.equal([]);
    const destinationId = newId('dst_wh');
    await pool.query('update outbox set destination_id = $2 where delivery_id = $1', [deliveryId, destinationId]);
    expect(await kinds()).to.deep.equal(['flushes']);
    const flush = (seen: number | null) =>
      pool.query(
        `insert into warehouse_flushes (destination_id, organization_id, due_at, seen_version)
         values ($1, 'o', now() + interval '1 hour', $2)`,
        [destinationId, seen],
      );
    await flush(null);
    expect(await kinds()).to.deep.equal([]);
    await pool.query('update warehouse_flushes set seen_version = 7');
    expect(await kinds(), 'another version').to.deep.equal(['flushes']);
    await pool.query(
      `update warehouse_flushes set seen_version = null, counted_in = pg_current_snapshot(), counted_at = now() - interval '1 minute'`,
    );
    expect(await kinds()).to.deep.equal(['gains']);
    await pool.query('truncate warehouse_flushes, outbox');
  });

  it('are issues that channels may have to be told of, and those that have recovered', async () => {
    const { pool } = database;
    const organizationId = newId('org');
    await pool.query(`insert into organizations (id, slug, name, plan) values ($1, 'told', 'Told', 'pro')`, [
      organizationId,
    ]);
    await pool.query(
      `insert into issues (id, organization_id, kind, route_id, cause, first_seen_at, last_seen_at, count)
       values ('i', $1, 'delivery_failing', 'r', 'HTTP_500', now(), now(), 1)`,
      [organizationId],
    );
    expect(await kinds(), 'without a channel').to.deep.equal([]);
    await pool.query(`insert into alert_channels (id, organization_id, name, type) values ('c', $1, 'c', 'slack')`, [
      organizationId,
    ]);
    expect(await kinds()).to.deep.equal(['alerts']);
    await pool.query('update issues set recovered_at = now()');
    expect((await look()).inMs.recovered).to.be.within(1, 60_000);
    await pool.query(`update issues set last_seen_at = now() - interval '61 seconds'`);
    expect(await kinds()).to.deep.equal(['alerts', 'recovered']);
    await pool.query(`update issues set state = 'resolved', resolved_at = now()`);
    expect(await kinds()).to.deep.equal([]);
    await pool.query(
      `insert into messages (id, organization_id, channel_id, kind, content, due_at, created_at)
       values ('m', $1, 'c', 'change', '[]', now() + interval '1 hour', now())`,
      [organizationId],
    );
    expect((await look()).inMs.messages).to.be.above(0);
    await pool.query(`update messages set created_at = now() + interval '1 hour'`);
    expect(await kinds(), 'after the clock was set back').to.deep.equal(['messages']);
    await pool.query('truncate messages cascade');
  });

  it('says which organizations are suspended, and whether there are several', async () => {
    const { pool } = database;
    await pool.query(`insert into organizations (id, slug, name, plan) values ($1, 'other', 'Other', 'pro')`, [
      newId('org'),
    ]);
    const { rows } = await pool.query<{ id: string }>(
      `update organizations set suspended_at = now() where slug = 'told' returning id`,
    );
    const { suspended, severalOrganizations } = await look();
    expect([...suspended]).to.deep.equal(rows.map(({ id }) => id));
    expect(severalOrganizations).to.equal(true);
  });
});
