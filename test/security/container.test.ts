// The container image and the composition, read as text (building them takes a container engine), and what they rely
// on: that both roles run where they may write nothing.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { parseYaml } from '@redocly/openapi-core';
import { expect } from 'chai';
import { bundleWorkflows } from '../../worker/temporal/workflow-bundle.ts';
import { quietLogger } from '../support/servers/quiet-temporal.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const project = join(import.meta.dirname, '..', '..');
const read = (name: string) => readFileSync(join(project, name), 'utf8');
/** Names of what must never be given a value that is built in. */
const SECRET_NAME = /KEY|SECRET|PASSWORD|PWD|TOKEN|DATABASE_URL|SMTP_URL/;

/** What is looked at of each. */
interface Service {
  build?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  tmpfs?: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
}

describe('Dockerfile', () => {
  const stages = read('Dockerfile')
    .replaceAll('\\\n', ' ')
    .split(/^FROM /m)
    .map((stage) => stage.split('\n').map((line) => line.trim()))
    .map((lines) => lines.filter((line) => line !== '' && !line.startsWith('#')));

  it('ends as a user that is not root, after which nothing is changed', () => {
    expect(stages.at(-1), 'what a build without a target makes').to.deep.equal(['service AS hookyard']);
    const instructions = stages.find(([name]) => name?.endsWith(' AS service')) ?? [];
    const user = instructions.indexOf('USER 1000');
    expect(user).to.be.above(0);
    for (const line of instructions.slice(user + 1))
      expect(line).to.match(/^(EXPOSE|HEALTHCHECK|CMD|ENTRYPOINT|STOPSIGNAL) /);
  });
});

describe('docker-compose.yml', () => {
  const { services } = parseYaml(read('docker-compose.yml')) as { services: Record<string, Service> };
  const ofImage = Object.entries(services).filter(([, service]) => service.build !== undefined);

  it('gives each part a role of its own in PostgreSQL, and the superuser to what makes the roles', () => {
    const text = (name: string) => JSON.stringify(services[name]?.environment ?? {});
    expect(Object.keys(services).filter((name) => text(name).includes('{POSTGRES_PASSWORD'))).to.have.members([
      'postgres',
      'roles',
    ]);
    for (const [name, role, secret] of [
      ['api', '//hookyard_runtime:', 'POSTGRES_RUNTIME_PASSWORD'],
      ['worker', '//hookyard_runtime:', 'POSTGRES_RUNTIME_PASSWORD'],
      ['migrate', '//hookyard_owner:', 'POSTGRES_OWNER_PASSWORD'],
      ['temporal', '"hookyard_temporal"', 'POSTGRES_TEMPORAL_PASSWORD'],
      ['temporal-schema', '"hookyard_temporal"', 'POSTGRES_TEMPORAL_PASSWORD'],
    ] as const) {
      expect(text(name), name).to.include(role);
      const passwords = [...text(name).matchAll(/\{(POSTGRES_\w*PASSWORD)/g)].map(([, variable]) => variable);
      expect(passwords, name).to.deep.equal([secret]);
    }
  });

  for (const [name, service] of ofImage) {
    it(`${name}: reads only, has no capability, gains no privilege, and keeps the user of the image`, () => {
      expect(service.read_only).to.equal(true);
      expect(service.cap_drop).to.deep.equal(['ALL']);
      expect(service.security_opt).to.include('no-new-privileges:true');
      expect(service).to.not.have.any.keys('user', 'privileged', 'cap_add', 'network_mode', 'volumes');
      expect(service.tmpfs).to.deep.equal(['/tmp']);
      expect(service.depends_on?.postgres?.condition).to.equal('service_healthy');
    });
  }

  it('takes every secret from the environment, and refuses to start without those that it needs', () => {
    for (const [name, { environment = {} }] of Object.entries(services)) {
      for (const [variable, value] of Object.entries(environment)) {
        if (SECRET_NAME.test(variable)) expect(String(value), `${name}: ${variable}`).to.match(/\$\{\w+:[?-]/);
        if (/PASSWORD|PWD|ENCRYPTION|API_KEY/.test(variable)) expect(String(value)).to.include(':?');
      }
      expect(JSON.stringify(environment), name).to.not.match(/\$\{\w*(?:KEY|SECRET|PASSWORD)\w*:-[^}]/);
    }
  });
});

describe('both roles, where nothing may be written', () => {
  // The image brings the bundle of the workflows.
  before(() => bundleWorkflows(quietLogger));
  const settings = {
    HOOKYARD_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    HOOKYARD_DATA_DIR: '/proc/no-such-folder',
    // Node's permission model: reading, threads and native modules, but no writing (Node documentation, "Permissions").
    NODE_OPTIONS: '--permission --allow-fs-read=* --allow-worker --allow-addons --allow-wasi',
  };
  const { testInstance, records, receiver } = useHookyard({ settings, workers: [{}] });

  it('deliver, transform and end in order', async () => {
    const endpoint = receiver.endpoint();
    const { id: transformId } = await testInstance.client.create('/api/transforms', {
      ...{ name: 'T', type: 'jsonata', code: '{"changed": true}' },
    });
    await records.deliver(endpoint.url, '{"n":1}', 'delivered', { route: { transformId } });
    expect(endpoint.requests[0]?.body.toString()).to.equal('{"changed":true}');
    expect(testInstance.logs()).to.not.include('ERR_ACCESS_DENIED');
    for (const service of [testInstance.api, ...testInstance.workers]) expect(await service.stop()).to.equal(0);
  });
});
