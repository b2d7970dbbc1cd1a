// The files of deploy/hosts, without their hosts: the schema of each, its settings, and where it keeps data.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { expect } from 'chai';
import { readSettings } from '../../core/config/config.ts';
import { composeModel } from '../support/programs/compose/model.ts';
import { COLD_START_MS } from '../support/programs/go-program.ts';
import { requirePython } from '../support/programs/python.ts';

const project = join(import.meta.dirname, '..', '..');
const ADDRESS = 'https://hooks.example.com';

interface Fly {
  env: Record<string, string>;
  mounts: { destination: string }[];
}
interface Railway {
  $schema: string;
  deploy: { requiredMountPath: string };
}
interface Render {
  services: { envVars: { key: string; value?: string }[]; disk: { mountPath: string } }[];
}

const read = (name: string) => readFileSync(join(project, 'deploy', 'hosts', name), 'utf8');
const fly = () => JSON.parse(fromToml(read('fly.toml'))) as Fly;
const railway = () => JSON.parse(read('railway.json')) as Railway;
const render = () => parseYaml(read('render.yaml')) as Render;

function fromToml(input: string): string {
  const script = 'import json, sys, tomllib; print(json.dumps(tomllib.loads(sys.stdin.read())))';
  return spawnSync('python3', ['-c', script], { input, encoding: 'utf8' }).stdout;
}

describe('The files of deploy/hosts', function () {
  this.timeout(COLD_START_MS);
  const [, volume = ''] = /^VOLUME (\S+)$/m.exec(readFileSync(join(project, 'Dockerfile'), 'utf8')) ?? [];
  before(function () {
    requirePython(this);
  });

  it('Coolify: is a composition, with settings that Hookyard takes and a volume for its data', async () => {
    const { services } = await composeModel({ SERVICE_URL_HOOKYARD: ADDRESS }, undefined, 'deploy/hosts/coolify.yaml');
    const { environment, volumes } = services.hookyard ?? { environment: {} };
    expect(readSettings(environment).HOOKYARD_PUBLIC_URL).to.equal(ADDRESS);
    expect(volumes?.map(({ target }) => target)).to.deep.equal([volume]);
  });

  it('Fly, Railway and Render: have settings that Hookyard takes and a volume for its data', () => {
    const [service] = render().services;
    const ofRender = service?.envVars.map(({ key, value = ADDRESS }) => [key, value]) ?? [];
    for (const env of [fly().env, Object.fromEntries(ofRender)])
      expect(readSettings(env).HOOKYARD_PUBLIC_URL).to.match(/^https:/);
    const paths = [fly().mounts[0]?.destination, railway().deploy.requiredMountPath, service?.disk.mountPath];
    expect(paths).to.deep.equal([volume, volume, volume]);
  });
});
