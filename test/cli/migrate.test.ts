// Migrations as a step of their own: hookyard migrate --check, and services that leave them to it
// (HOOKYARD_MIGRATE=off).
import { expect } from 'chai';
import { newToken } from '../../core/config/api-token.ts';
import { SCHEMA } from '../../db/schema/migrate.ts';
import { createClient } from '../support/api-client.ts';
import { commandLine } from '../support/programs/cli.ts';
import { problemsIn } from '../support/telemetry/log-lines.ts';
import { type CreatedDatabase, createDatabase } from '../support/database/own-database.ts';
import { runToEnd, startService } from '../support/service.ts';

describe('hookyard migrate, and services with HOOKYARD_MIGRATE=off', () => {
  let database: CreatedDatabase;
  // It asks no service.
  const cli = commandLine({ api: createClient('http://127.0.0.1:1', ''), token: '' });
  const run = (...args: string[]) => cli.run(['migrate', ...args], { env: { DATABASE_URL: database.databaseUrl } });
  // The owner of the tables: a role that would migrate.
  const settings = () => ({
    DATABASE_URL: database.databaseUrl,
    HOOKYARD_MIGRATE: 'off',
    HOOKYARD_API_KEY: newToken(),
  });

  before(async () => {
    database = await createDatabase(`migrate_check_${process.pid}`);
  });
  after(() => database?.drop());

  it('names what an empty database lacks and ends with 1, and changes nothing', async () => {
    for (let times = 0; times < 2; times += 1) {
      const checked = await run('--check');
      expect(checked.code, checked.stderr).to.equal(1);
      expect(checked.stdout.trim().split('\n')).to.deep.equal([SCHEMA]);
      expect(checked.stderr).to.include('hookyard migrate');
    }
    const asJson = await run('--check', '--json');
    expect(JSON.parse(asJson.stdout)).to.deep.equal({ missing: [SCHEMA] });
    const both = await run('--check', '--grant', 'somebody');
    expect(both.code).to.equal(2);
  });

  for (const role of ['api', 'worker'] as const) {
    it(`ends the ${role} before it serves, and names the command`, async () => {
      const { code, output } = await runToEnd(role, settings());
      expect(code, output).to.equal(1);
      expect(problemsIn(output)).to.include(SCHEMA).and.include('hookyard migrate');
      expect((await run('--check')).code).to.equal(1);
    });
  }

  it('says that nothing is missing when they were applied, and the services start', async () => {
    const migrated = await run();
    expect(migrated.code, migrated.stderr).to.equal(0);
    const checked = await run('--check');
    expect([checked.code, checked.stdout]).to.deep.equal([0, '']);
    const api = await startService('api', settings());
    expect((await fetch(`${api.url}/readyz`)).status).to.equal(200);
    expect(await api.stop()).to.equal(0);
  });
});
