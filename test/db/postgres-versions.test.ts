// Hookyard on PostgreSQL of other versions than the embedded one, on a server that is set up as for people: texts in
// the order of a language, times and dates as they are written in a country. Roles and rights as
// docs/operate/postgresql.md says.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import pg from 'pg';
import { requireServer } from '../../db/connections/client.ts';
import { partitionAges, pauseHousekeeping, storeAged } from '../support/database/aged-events.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { keepHouse } from '../support/database/housekeeping.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/servers/own-postgres.ts';
import { icuLocale, systemPostgres } from '../support/servers/postgres-versions.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { onceMore, Records, type SourceView } from '../support/records.ts';
import { createOrganization } from '../support/service.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { execute } from '../support/database/sql.ts';

const project = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);
const PASSWORD = 'for-tests-only';
const [KEPT_DAYS, GONE_DAYS] = [1, 8];
// Germans sort Ä before Z, write days before months, and none of this is in UTC, which Kathmandu is ahead of by 5:45.
const LOCALE = icuLocale('de-DE');
const SETTINGS = {
  timezone: 'Asia/Kathmandu',
  datestyle: 'German, DMY',
  // The default, of which workers warn before 17.
  autovacuum_naptime: '1min',
  // Nothing has to survive this machine.
  fsync: 'off',
  full_page_writes: 'off',
};

describe('PostgreSQL of other versions', function () {
  this.timeout(600_000);
  let server: OwnPostgres;
  let testInstance: OwnHookyard;
  let records: Records;
  let receiver: Receiver;
  const urlOf = (role: string) => {
    const url = new URL(server.postgres.url('hookyard'));
    return Object.assign(url, { username: role, password: PASSWORD }).href;
  };
  const superuser = (database: string, ...statements: string[]) => ask(server.postgres.url(database), statements);

  before(async function () {
    const { version, bin } = systemPostgres(this);
    server = await startOwnPostgres('version', { other: { bin, locale: LOCALE }, settings: SETTINGS });
    console.log(`      (${version})`);
    await superuser('postgres', ...documentedRoles(version));
    await run(process.execPath, ['cli/main.ts', ...MIGRATE], {
      cwd: project,
      env: { PATH: process.env.PATH, DATABASE_URL: urlOf('hookyard_owner') },
    });
    const databaseUrl = server.postgres.url('hookyard');
    [testInstance, receiver] = await Promise.all([
      startHookyard(
        { databaseUrl, temporalAddress: stackAddresses().temporalAddress },
        { DATABASE_URL: urlOf('hookyard_runtime') },
        { database: { databaseUrl, drop: async () => undefined } },
      ),
      startReceiver(),
    ]);
    records = new Records(testInstance);
    await testInstance.startWorker({ HOOKYARD_PAYLOAD_RETENTION_DAYS: '2', HOOKYARD_EVENT_RETENTION_DAYS: '6' });
  });
  after(async () => {
    await testInstance?.close();
    await receiver?.close();
    await server?.remove();
  });

  it('separates roles: the services cannot change the schema, and tenants see their own rows', async () => {
    expect(testInstance.logs()).to.include("the management API sees one organization's rows at a time");
    const refused = await ask(urlOf('hookyard_runtime'), ['create table mine (id int)']).catch(codeOf);
    expect(refused).to.equal('42501');
    const { api: service, pool } = testInstance;
    const other = await createOrganization({ service, pool });
    const theirs = await other.api.create<SourceView>(`${other.base}/sources`, { name: 'Theirs', slug: 'theirs' });
    const own = await records.source();
    const seen = await ask(urlOf('hookyard_runtime'), [
      'set role hookyard_tenant',
      `select set_config('hookyard.organization_id', '${other.id}', false)`,
      'select id from sources',
    ]);
    expect(seen).to.deep.equal([{ id: theirs.id }]);
    const foreign = await other.api.request('GET', `${testInstance.base}/sources/${own.id}`);
    expect(foreign.status).to.be.within(400, 499);
  });

  for (const lane of ['workflow', 'express']) {
    it(`delivers in the lane ${lane}, after a retry, and again in a replay`, async () => {
      const endpoint = receiver.endpoint(500, 200);
      const { eventId, delivery } = await records.deliver(endpoint.url, '{"order":1}', 'delivered', {
        destination: { retryPolicy: onceMore(3) },
        route: { lane },
      });
      expect(delivery).to.include({ attemptCount: 2, lane });
      expect(String(delivery.deliveredAt)).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Date.parse(String(delivery.deliveredAt))).to.be.closeTo(Date.now(), 60_000);
      const replay = await testInstance.client.post<{ deliveriesCreated: number }>(
        `${testInstance.base}/events/${eventId}/replay`,
      );
      expect(replay.deliveriesCreated).to.equal(1);
      await until('the replay to arrive', () => endpoint.requests.length === 3);
      await records.eventWith('delivered', eventId);
      expect(endpoint.requests.map(({ body }) => body.toString())).to.deep.equal(Array(3).fill('{"order":1}'));
    });
  }

  it('lists and finds events, whatever the case of their letters', async () => {
    const { source } = await records.pipe(receiver.endpoint().url);
    const ids: string[] = [];
    for (const town of ['Köln', 'Ärzen', 'Zwolle']) ids.push(await records.accepted(source, JSON.stringify({ town })));
    const path = `${testInstance.base}/events?sourceId=${source.id}`;
    const found = async (query = '') =>
      (await testInstance.client.list<{ id: string }>(`${path}${query}`)).data.map(({ id }) => id);
    expect(await found()).to.deep.equal(ids.toReversed());
    expect(await found('&pageSize=2&page=2')).to.deep.equal(ids.slice(0, 1));
    expect(await found(`&search=${encodeURIComponent('ÄRZ')}`)).to.deep.equal(ids.slice(1, 2));
    for (const id of ids) await records.eventWith('delivered', id);
  });

  it('removes what is over, and keeps the rest', async () => {
    await pauseHousekeeping(testInstance);
    const pipe = await records.pipe(receiver.endpoint().url);
    const kept = await storeAged(testInstance, pipe, KEPT_DAYS);
    const gone = await storeAged(testInstance, pipe, GONE_DAYS);
    for (const { id } of [kept, gone]) await records.eventWith('delivered', id);
    await keepHouse(testInstance);
    expect(await partitionAges(testInstance, 'events'))
      .to.include(KEPT_DAYS)
      .and.to.not.include(GONE_DAYS);
    const status = async (id: string) =>
      (await testInstance.client.request('GET', `${testInstance.base}/events/${id}`)).status;
    expect([await status(kept.id), await status(gone.id)]).to.deep.equal([200, 404]);
  });

  it('is refused when it is older than 15', async () => {
    const client = new pg.Client({ connectionString: server.postgres.url('hookyard') });
    await client.connect();
    try {
      // A server of this version that calls itself older, to this connection.
      await client.query('create schema disguise');
      await execute(client)`create function disguise.current_setting(text) returns text language sql as $$
        select '140000' $$`;
      await client.query('set search_path = disguise, pg_catalog');
      const refused = await requireServer(client).catch(String);
      expect(refused).to.include('PostgreSQL 14 is too old: Hookyard needs 15 or newer');
    } finally {
      await client.end();
    }
  });
});

const MIGRATE = ['migrate', '--grant', 'hookyard_runtime', '--tenant-role', 'hookyard_tenant'];
const codeOf = ({ code }: { code?: string }) => code;

/** The statements of the page: those for all versions, with the ones in their place that PostgreSQL 15 needs. */
function documentedRoles(version: number): string[] {
  const page = readFileSync(join(project, 'docs', 'operate', 'postgresql.md'), 'utf8');
  const [usual = [], before16 = []] = [...page.matchAll(/```sql\n(.*?)```/gs)].map(([, block = '']) =>
    block.trim().replaceAll("'...'", `'${PASSWORD}'`).split('\n'),
  );
  if (version >= 16) return usual;
  const beginning = (statement: string) => statement.split(' ').slice(0, 3).join(' ');
  return usual.map((line) => before16.find((other) => beginning(other) === beginning(line)) ?? line);
}

/** Runs statements on one connection. @returns the rows of the last one */
async function ask(url: string, statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}
