// GET /api/status: the state of the installation, for its operator alone.
import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { createClient, expectError, type Json } from '../support/api-client.ts';
import { ingest, makePipeline } from '../support/api-records.ts';
import { createOrganization, testPool } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useHookyard, useMade } from '../support/use-hookyard.ts';

const KEY = 'operator_key_of_the_tests_0123456789';

interface Status extends Json {
  backlog: Json & { due: number; oldestDueAt: string | null };
  workers: (Json & { shards: number; version: string })[];
  organizations?: (Json & { slug: string })[];
  retention: { payloads: Json; events: Json };
}

describe('The status of the installation', () => {
  const { testInstance } = useHookyard({ settings: { HOOKYARD_OPERATOR_KEY: KEY } });
  const operator = useMade('the operator', async () => createClient(testInstance.api.url, KEY));

  const status = (query = '') => operator.get<Status>(`/api/status${query}`);

  it('is for the key of the operator: no API key opens it, and that key opens nothing else', async () => {
    for (const token of [null, `${KEY}x`, KEY.slice(1), 'whr_0123456789abcdef']) {
      const answer = await createClient(testInstance.api.url, token).request('GET', '/api/status');
      expectError(answer, 401, 'UNAUTHORIZED', /operator key/);
      expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
    }
    expectError(await testInstance.client.request('GET', '/api/status'), 401, 'UNAUTHORIZED');
    expectError(await operator.request('GET', '/api/destinations'), 401, 'UNAUTHORIZED');
    expect(testInstance.logs()).to.not.include(KEY);
  });

  it('is not there without such a key', async () => {
    const { api } = await createOrganization();
    expectError(await api.request('GET', '/api/status'), 404, 'RESOURCE_NOT_FOUND', /HOOKYARD_OPERATOR_KEY/);
  });

  it('limits the wrong keys of an address', async () => {
    const usual = testInstance.api;
    const strict = await testInstance.startApi({ tuning: { failedSignInsPerMinute: 2 } });
    const wrong = createClient(strict.url, 'wrong');
    const statuses: number[] = [];
    // Four within one minute: the window may end in between.
    await until('a wrong key to be refused for the number of them', async () => {
      statuses.push((await wrong.request('GET', '/api/status')).status);
      return statuses.at(-1) === 429;
    });
    expect(statuses[0]).to.equal(401);
    expect((await createClient(strict.url, KEY).request('GET', '/api/status')).status).to.equal(200);
    await strict.stop();
    testInstance.api = usual;
  });

  it('tells what waits, of all organizations and of each', async () => {
    const options = { service: testInstance.api, pool: testInstance.pool };
    const [busy, suspended] = [await createOrganization(options), await createOrganization(options)];
    const began = Date.now();
    const { source, route, destination } = await makePipeline(busy);
    for (let n = 0; n < 3; n += 1) await ingest(busy, source, '{}');
    const other = await makePipeline(suspended);
    await ingest(suspended, other.source, '{}');
    await testInstance.pool.query('update organizations set suspended_at = now() where id = $1', [suspended.id]);
    const ids = () => [newId('dlv'), busy.id, destination.id];
    for (let n = 0; n < 2; n += 1)
      await testInstance.pool.query('insert into retrying_deliveries values ($1, $2, $3)', ids());
    await testInstance.pool.query(
      `insert into held_deliveries (delivery_id, organization_id, destination_id, route_id, event_id, source_id, priority, shard, has_workflow)
       values ($1, $2, $3, $4, 'evt', $5, 0, 0, false)`,
      [...ids(), route.id, source.id],
    );
    await testInstance.pool.query(
      `insert into circuits (route_id, organization_id, state, opened_at, version) values ($1, $2, 'open', now(), 1)`,
      [route.id, busy.id],
    );
    // An answer is given again for a second.
    await until('the deliveries to be counted', async () => (await status()).backlog.due === 4);
    const found = await status('?organizations=true');
    const { oldestDueAt, oldestDueSeconds, ...backlog } = found.backlog;
    expect(backlog).to.deep.equal({ due: 4, retrying: 2, held: 1, inFiles: 0, inOrder: 0, suspended: 1 });
    expect(Date.parse(oldestDueAt ?? '')).to.be.within(began, Date.now());
    expect(oldestDueSeconds).to.be.a('number').and.to.be.within(0, 120);
    expect(found.circuits).to.deep.equal({ open: 1, halfOpen: 0 });
    const none = { due: 0, retrying: 0, held: 0, inFiles: 0, inOrder: 0, openCircuits: 0 };
    const ofBusy = { ...none, id: busy.id, slug: busy.slug, due: 3, retrying: 2, held: 1, openCircuits: 1 };
    expect(found.organizations?.map(({ oldestDueAt: _at, ...each }) => each)).to.deep.equal([
      { ...ofBusy, isSuspended: false },
      { ...none, id: suspended.id, slug: suspended.slug, isSuspended: true, due: 1 },
    ]);
    expect(await status()).to.not.have.property('organizations');
    expect(await status('?organizations=false')).to.not.have.property('organizations');
    expectError(await operator.request('GET', '/api/status?organizations=all'), 400, 'VALIDATION_ERROR');
    for (const table of ['outbox', 'retrying_deliveries', 'held_deliveries', 'circuits'])
      await testInstance.pool.query(`delete from ${table} where organization_id = any($1)`, [[busy.id, suspended.id]]);
  });

  it('tells which workers there are, of which release, and who claims what', async () => {
    await until('no worker to be seen', async () => (await status()).shardsWithoutOwner === 64);
    await testInstance.startWorker();
    await testInstance.startWorker();
    await until('both to hold their parts', async () => {
      const { workers, shardsWithoutOwner } = await status();
      return workers.length === 2 && shardsWithoutOwner === 0 && workers.every(({ shards }) => shards === 32);
    });
    const { workers, version, temporal, database } = await status();
    expect(workers.map((worker) => worker.version)).to.deep.equal([packageJson.version, packageJson.version]);
    expect([version, temporal, database]).to.deep.equal([packageJson.version, 'ok', 'ok']);
    await Promise.all(testInstance.workers.map((worker) => worker.stop()));
    await until('them to be gone', async () => (await status()).workers.length === 0);
  });

  it('is answered while Temporal or the database is away', async () => {
    const usual = testInstance.api;
    const alone = await testInstance.startApi({ TEMPORAL_ADDRESS: '127.0.0.1:1' });
    const its = createClient(alone.url, KEY);
    expect(await its.get('/api/status')).to.include({ temporal: 'away', searchAttributes: null, database: 'ok' });
    const { rows } = await testInstance.pool.query<{ name: string }>('select current_database() as name');
    const name = rows[0]?.name ?? '';
    // From another database: one cannot lock itself out of its own.
    const allow = (value: boolean) => testPool().query(`alter database ${name} with allow_connections ${value}`);
    try {
      await allow(false);
      await testPool().query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
      await until('the database to be away', async () => (await its.get<Json>('/api/status')).database === 'away');
      const nothing = { backlog: null, workers: null, circuits: null, retention: null };
      expect(await its.get('/api/status')).to.include(nothing);
    } finally {
      await allow(true);
    }
    await until('the database to be back', async () => (await its.get<Json>('/api/status')).database === 'ok');
    await alone.stop();
    testInstance.api = usual;
  });
});
