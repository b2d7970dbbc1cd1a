import { WorkflowNotFoundError } from '@temporalio/client';
import { expect } from 'chai';
import { storeMany } from '../support/database/many-events.ts';
import { newId } from '../../core/text/ids.ts';
import { TASK_QUEUE } from '../../core/temporal/names.ts';
import { pauseHousekeeping } from '../support/database/aged-events.ts';
import { commandLine } from '../support/programs/cli.ts';
import { Circuits, switchedEndpoint } from '../support/workflows/circuits.ts';
import type { Hookyard } from '../support/hookyard.ts';
import { keepHouse } from '../support/database/housekeeping.ts';
import { onceMore, Records } from '../support/records.ts';
import { holdEvent } from '../support/database/row-lock.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { makeTenantRecords, type TenantRecords } from '../support/organizations/tenant-records.ts';
import { until } from '../support/until.ts';
import { wholeDatabase } from '../support/organizations/whole-database.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { execute, selectRows } from '../support/database/sql.ts';

const EVENTS = 3000;
const WORD = 'kestrelworks';

describe('deleting an organization', function () {
  this.timeout(600_000);
  const { testInstance, receiver } = useHookyard({});
  let deleted: TestOrganization;
  let kept: TestOrganization;
  let marks: string[];
  let keptRows: string[];
  let workflowIds: string[];
  before(async function () {
    this.timeout(600_000);
    const on = { service: testInstance.api, pool: testInstance.pool };
    [deleted, kept] = await Promise.all([createOrganization(on), createOrganization(on)]);
    await testInstance.startWorker();
    await pauseHousekeeping(testInstance);
  });

  const recordsOf = ({ api, id, base }: TestOrganization): [Hookyard, Records] => {
    const { pool, temporal } = testInstance;
    const hookyard: Hookyard = {
      ...{ client: api, organizationId: id, base, pool, temporal },
      logs: testInstance.logs,
      close: () => Promise.resolve(),
    };
    return [hookyard, new Records(hookyard)];
  };

  /** Rows with one of these texts, as table and text; but for what operators did, which stays on record. */
  async function rowsWith(texts: string[]): Promise<string[]> {
    const rows = await wholeDatabase(testInstance.pool);
    return rows
      .filter(({ table, columns }) => !(table === 'audit_records' && columns.actor === 'operator'))
      .map(({ table, columns: { last_used_at: _, ...columns } }) => `${table} ${JSON.stringify(columns)}`)
      .filter((row) => texts.some((text) => row.includes(text)))
      .toSorted();
  }
  const tablesOf = (rows: string[]) => new Set(rows.map((row) => row.split(' ')[0]));

  async function workflows(organizationId: string): Promise<string[]> {
    const ids: string[] = [];
    for await (const { workflowId } of testInstance.temporal.workflow.list({
      query: `OrganizationId = "${organizationId}"`,
    }))
      ids.push(workflowId);
    return ids;
  }

  /**
   * Deliveries that were made, have failed and wait for a replay, wait for a retry, and are held; a replay; every kind
   * of record.
   */
  async function fill(organization: TestOrganization, word: string): Promise<TenantRecords> {
    const [hookyard, records] = recordsOf(organization);
    const retry = { destination: { retryPolicy: onceMore(1, 3_600_000) } };
    const retrying = await records.pipe(receiver.endpoint(500).url, retry);
    await records.deliveryWith('retrying', await records.accepted(retrying.source, '{}'));
    const notify = { route: { notifyOnFailure: true, notifyEmails: `${word}@${word}.example` } };
    const failing = await records.pipe(receiver.endpoint(500).url, notify);
    await records.deliveryWith('failed', await records.accepted(failing.source, '{}'));
    const keyed = { source: { idempotencyKey: { header: 'x-key', windowSeconds: 3600 } } };
    const fine = await records.pipe(receiver.endpoint().url, keyed);
    await records.deliveryWith('delivered', await records.accepted(fine.source, '{}', { 'x-key': word }));
    const held = await new Circuits(hookyard, records).opened(switchedEndpoint(receiver, 500).endpoint);
    await records.deliveryWith('circuit_open', await records.accepted(held.source, '{}'));
    await organization.api.request(
      'POST',
      '/api/filters',
      { name: word, conditions: [{ field: 'a', operator: 'exists' }] },
      { headers: { 'Idempotency-Key': word } },
    );
    const slow = await organization.api.post(`${organization.base}/events/replay`, { sourceId: fine.source.id });
    expect(slow).to.have.property('id');
    return makeTenantRecords(organization, word);
  }

  it('begins with rows in every table that has any, and workflows that run and that have ended', async () => {
    const made = await fill(deleted, WORD);
    await fill(kept, 'ownbakery');
    marks = [deleted.id, deleted.slug, WORD, ...Object.values({ ...made, words: [] }).flat()];
    const rows = await selectRows<{ id: string; route: string; destination: string }>(testInstance.pool)`
      select r.source_id as id, r.id as route, r.destination_ids[1] as destination from routes r
      where r.organization_id = ${deleted.id} and not notify_on_failure order by r.id limit 1`;
    const [way] = rows;
    if (!way) throw new Error('a route was made');
    await storeMany(testInstance.pool, {
      organizationId: deleted.id,
      sourceId: way.id,
      routeId: way.route,
      destinationId: way.destination,
      count: EVENTS,
      status: 'delivered',
    });
    // A source that was deleted before, and is not removed yet.
    const [, records] = recordsOf(deleted);
    const gone = await records.pipe(receiver.endpoint().url);
    await records.deliveryWith('delivered', await records.accepted(gone.source, '{}'));
    await deleted.api.delete(`${deleted.base}/sources/${gone.source.id}`);
    const tables = tablesOf(await rowsWith([deleted.id]));
    for (const table of [
      'organizations',
      'api_keys',
      'sources',
      'destinations',
      'routes',
      'filters',
      'schemas',
      'transforms',
    ])
      expect(tables, table).to.include(table);
    for (const table of ['events', 'deliveries', 'held_deliveries', 'circuits', 'event_replays', 'source_purges'])
      expect(tables, table).to.include(table);
    for (const table of ['idempotent_requests', 'messages']) expect(tables, table).to.include(table);
    workflowIds = await until('workflows of each kind to be listed', async () => {
      const ids = await workflows(deleted.id);
      const statuses = await Promise.all(
        ids.map(async (id) => (await testInstance.temporal.workflow.getHandle(id).describe()).status.name),
      );
      return statuses.includes('RUNNING') && statuses.some((name) => name !== 'RUNNING') && ids;
    });
    keptRows = await rowsWith([kept.id]);
  });

  it('continues after a worker was killed, and shows how far it is', async () => {
    const operator = commandLine({ ...deleted, token: '' });
    const onIts = { env: { DATABASE_URL: testInstance.databaseUrl } };
    const rows = await selectRows<{ id: string }>(testInstance.pool)`select id from events
      where organization_id = ${deleted.id} order by id offset 1500 limit 1`;
    const lock = await holdEvent(testInstance.pool, rows[0]?.id ?? '');
    const asked = await operator.run(['orgs', 'delete', deleted.slug, '--confirm', deleted.slug], onIts);
    expect(asked.code, asked.stderr).to.equal(0);
    const shown = async () => {
      const { stdout } = await operator.run(['orgs', 'list', '--json'], onIts);
      const all = JSON.parse(stdout) as { id: string; status: string; eventsRemoved: number }[];
      return all.find(({ id }) => id === deleted.id);
    };
    const options = { workflowId: newId('req'), taskQueue: TASK_QUEUE, args: [] };
    await testInstance.temporal.workflow.start('maintenance', options);
    await until('its first thousand events to be gone', async () => (await shown())?.eventsRemoved === 1000);
    await testInstance.workers[0]?.kill();
    await lock.release();
    expect(await shown()).to.include({ status: 'deleting', eventsRemoved: 1000 });
    await testInstance.startWorker();
    await keepHouse(testInstance);
    const progress = await shown();
    expect(progress).to.include({ status: 'deleting' });
    expect(progress?.eventsRemoved).to.be.above(EVENTS);
  });

  it('is looked for once more, and then nothing of it is left in any table or in Temporal', async () => {
    const rows = await selectRows<{ emptied: boolean }>(testInstance.pool)`select emptied_at is not null as emptied
      from organizations where id = ${deleted.id}`;
    expect(rows).to.deep.equal([{ emptied: true }]);
    // What was under way comes late.
    await execute(testInstance.pool)`insert into retrying_deliveries (delivery_id, organization_id, destination_id)
      values ('dlv_gone', ${deleted.id}, 'dst_gone')`;
    const passTime = () =>
      testInstance.pool.query(`update organizations set emptied_at = emptied_at - interval '1 hour'`);
    await passTime();
    await keepHouse(testInstance);
    expect(tablesOf(await rowsWith([deleted.id])), 'after something was found').to.deep.equal(
      new Set(['organizations']),
    );
    await passTime();
    await keepHouse(testInstance);
    expect(await rowsWith(marks)).to.deep.equal([]);
    expect(await until('Temporal to list none', async () => (await workflows(deleted.id)).length === 0)).to.equal(true);
    for (const id of workflowIds) {
      const found = await testInstance.temporal.workflow
        .getHandle(id)
        .describe()
        .then(
          ({ status }) => status.name,
          (error: unknown) => error,
        );
      expect(found, id).to.be.instanceOf(WorkflowNotFoundError);
    }
  });

  it('has touched nothing of the other organization, which continues', async () => {
    expect((await rowsWith([kept.id])).length).to.be.at.least(keptRows.length);
    const [, records] = recordsOf(kept);
    const { source } = await records.pipe(receiver.endpoint().url);
    await records.deliveryWith('delivered', await records.accepted(source, '{}'));
    expect((await workflows(kept.id)).length).to.be.above(0);
  });
});
