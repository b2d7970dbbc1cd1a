// Secrets in files over the real start of the processes, and a password of PostgreSQL that is replaced while they run.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { newToken } from '../../core/config/api-token.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { grantRuntime } from '../../db/schema/roles.ts';
import { TENANT_ROLE } from '../../local/postgres/roles.ts';
import { createClient } from '../support/api-client.ts';
import { Records } from '../support/records.ts';
import { startService } from '../support/service.ts';
import { asServices, stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const project = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'hookyard-secrets-'));
/** As an orchestrator replaces a file: at once. */
const write = (name: string, text: string): string => {
  writeFileSync(join(folder, `${name}.new`), text);
  renameSync(join(folder, `${name}.new`), join(folder, name));
  return join(folder, name);
};
const services = () => asServices(stackAddresses().databaseUrl);
after(() => rmSync(folder, { recursive: true, force: true }));

describe('a process whose secrets are in files', () => {
  it('serves with the key of its file, and shows neither its secrets nor those of the database', async () => {
    const token = newToken();
    const operatorKey = randomBytes(32).toString('hex');
    const service = await startService('api', {
      DATABASE_URL: '',
      DATABASE_URL_FILE: write('url', `${services()}\n`),
      HOOKYARD_API_KEY_FILE: write('key', `${token}\n`),
      HOOKYARD_OPERATOR_KEY_FILE: write('operator', `${operatorKey}\n`),
    });
    await createClient(service.url, token).get('/api/auth/me');
    await createClient(service.url, operatorKey).get('/api/status');
    expect(service.output()).to.include(`DATABASE_URL_FILE=${join(folder, 'url')}`);
    for (const secret of [token, operatorKey, new URL(services()).password])
      expect(service.output()).to.not.include(secret);
    expect(await service.stop()).to.equal(0);
  });

  it('so does the command line', () => {
    const run = (env: Record<string, string>) =>
      spawnSync(process.execPath, [join(project, 'cli', 'main.ts'), 'migrate'], {
        env: { ...process.env, DATABASE_URL: '', ...env },
        encoding: 'utf8',
      });
    const url = write('owner', stackAddresses().databaseUrl);
    expect(run({ DATABASE_URL_FILE: url })).to.include({ status: 0 });
    const refused = run({ DATABASE_URL_FILE: join(folder, 'none') });
    expect(refused.status).to.equal(1);
    expect(refused.stderr).to.include('DATABASE_URL_FILE').and.include('cannot be read');
  });
});

describe('a password of PostgreSQL that is replaced', () => {
  const name = `rotating_${process.pid}`;
  let admin: Pool;
  const { testInstance, receiver } = useHookyard({
    settings: (databaseUrl) => ({ DATABASE_URL: '', DATABASE_URL_FILE: write('rotating', databaseUrl) }),
  });
  const urlOf = (database: string, role: string, password: string) =>
    Object.assign(new URL(database), { username: role, password }).href;
  const passwordOf = (role: string, password: string) => admin.query(`alter role ${role} password '${password}'`);
  const disconnect = (role: string) =>
    admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = $1`, [role]);
  const makeRole = async (role: string, password: string) => {
    await admin.query(`create role ${role} login password '${password}'`);
    await admin.query(`grant ${TENANT_ROLE} to ${role} with inherit false, set true`);
  };

  before(async () => {
    admin = createPool(stackAddresses().databaseUrl, { max: 2, statementTimeoutMs: 20_000, onError: () => {} });
    await makeRole(name, 'first');
    await makeRole(`${name}_b`, 'other');
    // The processes start as the usual role, which has its rights; the role of the test gets them from the owner.
    await grantRuntime(testInstance.pool, name);
    await grantRuntime(testInstance.pool, `${name}_b`);
    write('rotating', `${urlOf(testInstance.databaseUrl, name, 'first')}\n`);
    const { api } = testInstance;
    await Promise.all([testInstance.startWorker(), testInstance.startApi()]);
    await api.stop();
  });
  after(async () => {
    for (const role of [name, `${name}_b`]) await admin.query(`drop role ${role}`).catch(() => undefined);
    await admin?.end();
  });

  const usersOf = async () => {
    const { rows } = await admin.query<{ usename: string }>(
      `select distinct usename from pg_stat_activity where datname = $1 and application_name in ('hookyard-api', 'hookyard-worker')`,
      [new URL(testInstance.databaseUrl).pathname.slice(1)],
    );
    return rows.map(({ usename }) => usename);
  };

  it('is taken from the file by new connections: webhooks are answered 503 until it is there, and no process ends', async () => {
    const records = new Records(testInstance);
    const endpoint = receiver.endpoint();
    const { source } = await records.pipe(endpoint.url);
    let stored = 0;
    const send = async () => {
      const { status } = await records.post(source, '{}');
      if (status === 200) stored += 1;
      return status;
    };
    const delivered = () => until('all that was stored to arrive', () => endpoint.requests.length >= stored);
    expect(await send()).to.equal(200);
    await delivered();

    await passwordOf(name, 'second');
    await disconnect(name);
    await until('webhooks to be refused', async () => (await send()) === 503);
    expect((await fetch(`${testInstance.api.url}/healthz`)).status).to.equal(200);
    write('rotating', `${urlOf(testInstance.databaseUrl, name, 'second')}\n`);
    await until('webhooks to be stored again', async () => (await send()) === 200);
    await delivered();
    // The object mapper has connections of its own.
    await until('records', async () => (await testInstance.client.request('GET', '/api/sources')).status === 200);

    // A file that holds no URL for a moment changes nothing.
    write('rotating', 'half a fi');
    await disconnect(name);
    await until('webhooks to be stored', async () => (await send()) === 200);

    // Two roles in turn: nothing is refused between.
    write('rotating', `${urlOf(testInstance.databaseUrl, `${name}_b`, 'other')}\n`);
    await disconnect(name);
    await until('webhooks to be stored as the other role', async () => (await send()) === 200);
    await delivered();
    await until('only the other role', async () => {
      // One that was being made when the file was written has read the role before.
      await disconnect(name);
      return (await usersOf()).join() === `${name}_b`;
    });
    for (const service of [testInstance.api, ...testInstance.workers]) expect(service.running).to.equal(true);
  });
});
