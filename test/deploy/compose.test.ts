import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { newToken } from '../../core/config/api-token.ts';
import { readSettings } from '../../core/config/config.ts';
import { composeModel, type ComposeModel } from '../support/programs/compose/model.ts';
import { COLD_START_MS } from '../support/programs/go-program.ts';

const project = join(import.meta.dirname, '..', '..');
const text = readFileSync(join(project, 'docker-compose.yml'), 'utf8');

describe('docker-compose.yml, as Docker Compose reads it', function () {
  this.timeout(COLD_START_MS);
  const secrets = {
    ...Object.fromEntries(
      ['', '_OWNER', '_RUNTIME', '_TEMPORAL'].map((of) => [`POSTGRES${of}_PASSWORD`, randomBytes(24).toString('hex')]),
    ),
    HOOKYARD_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    HOOKYARD_API_KEY: newToken(),
  };
  const roleIn = ({ services }: ComposeModel, role: string) => {
    const found = services[role];
    if (!found) throw new Error(`there is no service ${role}`);
    return found;
  };

  it('needs its secrets', async () => {
    const { HOOKYARD_API_KEY: _, ...others } = secrets;
    const refused = await composeModel(others).catch((error: { stderr: string }) => error);
    expect(refused).to.have.property('stderr').that.includes('HOOKYARD_API_KEY');
  });

  it('takes the secrets that deploy/compose-env.sh writes once, and the published image', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hookyard-env-'));
    const write = () => spawnSync('sh', [join(project, 'deploy', 'compose-env.sh')], { cwd: folder }).status;
    expect([write(), write()]).to.deep.equal([0, 1]);
    const made = parseEnv(readFileSync(join(folder, '.env'), 'utf8')) as Record<string, string>;
    rmSync(folder, { recursive: true });
    const api = roleIn(await composeModel(made), 'api');
    expect(readSettings(api.environment).HOOKYARD_API_KEY).to.equal(made.HOOKYARD_API_KEY);
    expect(api.image).to.match(/^ghcr\.io\/hookyard\/hookyard:\d/);
  });

  it('gives both roles settings that Hookyard takes, with what its head suggests for hookyard.env', async () => {
    const example = [...text.matchAll(/^# {3}((?:HOOKYARD|OTEL|R2)_\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [
      name,
      value === '<openssl rand -hex 32>' ? randomBytes(32).toString('hex') : value,
    ]);
    expect(example.map(([name]) => name)).to.include.members(['HOOKYARD_TRUSTED_PROXIES', 'HOOKYARD_OPERATOR_KEY']);
    const model = await composeModel(secrets, example.map((pair) => `${pair.join('=')}\n`).join(''));
    for (const [role, connections] of Object.entries({ api: 12, worker: 8 })) {
      const { environment } = roleIn(model, role);
      // Of a variable that the composition itself sets the line would do nothing.
      expect(environment, role).to.include(Object.fromEntries(example));
      expect(readSettings(environment), role).to.deep.include({
        HOOKYARD_PUBLIC_URL: 'http://localhost:3000',
        HOOKYARD_DATABASE_CONNECTIONS: connections,
        OTEL_EXPORTER_PROMETHEUS_HOST: '0.0.0.0',
        HOOKYARD_LANE: 'express',
      });
    }
    expect(roleIn(model, 'migrate').environment).to.not.have.property('HOOKYARD_OPERATOR_KEY');
  });

  it('does without hookyard.env, and lets it change neither addresses nor secrets', async () => {
    const { environment: without } = roleIn(await composeModel(secrets), 'api');
    expect(without).to.not.have.property('HOOKYARD_LANE');
    expect(() => readSettings(without)).to.not.throw();
    const further = 'HOOKYARD_PORT=80\nDATABASE_URL=postgres://elsewhere/x\n';
    expect(roleIn(await composeModel(secrets, further), 'api').environment).to.deep.equal(without);
  });

  it('has one port of this machine that the addresses of webhooks follow, and a range of ports for several APIs', async () => {
    const seen = async (env: Record<string, string>) => {
      const { environment, ports = [] } = roleIn(await composeModel({ ...secrets, ...env }), 'api');
      const { HOOKYARD_PORT, HOOKYARD_PUBLIC_URL } = environment;
      return [ports.map(({ target, published }) => `${published}:${target}`), HOOKYARD_PORT, HOOKYARD_PUBLIC_URL];
    };
    expect(await seen({})).to.deep.equal([['3000:3000'], '3000', 'http://localhost:3000']);
    expect(await seen({ HOOKYARD_PORT: '8080' })).to.deep.equal([['8080:3000'], '3000', 'http://localhost:8080']);
    const several = { HOOKYARD_PORTS: '3000-3009', HOOKYARD_PUBLIC_URL: 'https://hooks.example.com' };
    expect(await seen(several)).to.deep.equal([['3000-3009:3000'], '3000', 'https://hooks.example.com']);
  });
});
