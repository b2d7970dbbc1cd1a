// The steps of docker-compose.yml before its services start, on a PostgreSQL of their own: `roles`, then `migrate`.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseYaml } from '@redocly/openapi-core';
import { expect } from 'chai';
import pg from 'pg';
import { readSettings } from '../../core/config/config.ts';
import { createPool } from '../../db/connections/pool.ts';
import { prepareDatabase } from '../../db/schema/prepare.ts';
import { findTenantRole } from '../../db/schema/roles.ts';
import { START_DEADLINE_MS } from '../support/programs/npm-start.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/servers/own-postgres.ts';

const project = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

interface Step {
  command: string[];
  environment: Record<string, string>;
}

describe('the roles of docker-compose.yml', function () {
  this.timeout(3 * START_DEADLINE_MS);
  const { services } = parseYaml(readFileSync(join(project, 'docker-compose.yml'), 'utf8')) as {
    services: { roles: Step; migrate: Step; api: Step };
  };
  let own: OwnPostgres;
  const values: Record<string, string> = {
    POSTGRES_OWNER_PASSWORD: 'owner1',
    POSTGRES_RUNTIME_PASSWORD: 'runtime1',
    POSTGRES_TEMPORAL_PASSWORD: 'temporal1',
  };
  /** As compose fills them in, with this server in place of its service. */
  const environment = ({ environment: given }: Step) => {
    const filled = Object.entries(given).map(([name, value]) => [
      name,
      String(value)
        .replaceAll(/\$\{(\w+):[^}]*\}/g, (_all, variable: string) => values[variable] ?? '')
        .replace('@postgres:5432/', `@${own.address}/`),
    ]);
    return Object.fromEntries(filled) as Record<string, string>;
  };
  const step = ({ command, ...others }: Step) => {
    const { PATH = '' } = process.env;
    const env = { PATH, ...environment({ command, ...others }) };
    return run(process.execPath, command.slice(1), { cwd: project, env });
  };
  const codeOf = async (url: string, statement: string) => {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.query(statement);
      return 'done';
    } catch (error) {
      return (error as { code?: string }).code;
    } finally {
      await client.end();
    }
  };

  before(async () => {
    own = await startOwnPostgres('compose', { other: {} });
    values.POSTGRES_PASSWORD = new URL(own.postgres.url('postgres')).password;
  });
  after(() => own?.remove());

  it('are made, and again; the owner migrates, and the services start with a role that tenants are bound by', async () => {
    await step(services.roles);
    await step(services.roles);
    await step(services.migrate);
    await step(services.migrate);
    const url = environment(services.api).DATABASE_URL ?? '';
    expect(new URL(url).username).to.equal('hookyard_runtime');
    const { organization } = await prepareDatabase(readSettings({ HOOKYARD_DATA_DIR: own.dataDir }), url);
    expect(organization.slug).to.equal('default');
    const pool = createPool(url, { max: 1, statementTimeoutMs: 20_000, onError: () => {} });
    expect(await findTenantRole(pool).finally(() => pool.end())).to.equal('hookyard_tenant');
    expect(await codeOf(url, 'create table mine (a int)')).to.equal('42501');
    const { host } = new URL(url);
    const temporal = (database: string) => `postgres://hookyard_temporal:temporal1@${host}/${database}`;
    expect(await codeOf(temporal('hookyard'), 'select 1')).to.equal('42501');
    expect(await codeOf(temporal('temporal'), 'create table mine (a int)')).to.equal('done');
    expect(await codeOf(temporal('temporal_visibility'), 'create extension btree_gin')).to.equal('done');
  });

  it('say what they lack', async () => {
    const { command, environment: given } = services.roles;
    const { POSTGRES_TEMPORAL_PASSWORD: _, ...others } = given;
    const failed = await step({ command, environment: others }).catch((error: { stderr: string }) => error);
    expect(failed.stderr).to.include('POSTGRES_TEMPORAL_PASSWORD must be set');
  });
});
