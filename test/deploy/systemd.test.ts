import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readSettings } from '../../core/config/config.ts';

const project = join(import.meta.dirname, '..', '..');
const textOf = (name: string) => readFileSync(join(project, 'deploy', 'systemd', name), 'utf8');
/** `NAME=value` lines. */
const valuesOf = (name: string) =>
  Object.fromEntries([...textOf(name).matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]));

describe('The units for systemd', () => {
  const settings = readSettings({
    ...valuesOf('hookyard.env.example'),
    // As withSecretFiles would, which reads the files.
    DATABASE_URL: 'postgres://user@host/db',
    HOOKYARD_ENCRYPTION_KEYS: 'k1:key',
    HOOKYARD_API_KEY: 'whr_0123456789abcdef',
  });

  for (const [role, longest] of Object.entries({
    // api/service/ending.ts: drain, shutdown, 5 s. worker/process.ts: twice the shutdown, 30 s.
    api: settings.HOOKYARD_DRAIN_SECONDS + settings.HOOKYARD_SHUTDOWN_SECONDS + 5,
    worker: 2 * settings.HOOKYARD_SHUTDOWN_SECONDS + 30,
  })) {
    it(`start a process again that has ended, and let it end by itself: ${role}`, () => {
      const unit = valuesOf(`hookyard-${role}.service`);
      const [, program = '', script = ''] = /^\/opt\/hookyard\/(\S+) (\S+)$/.exec(unit.ExecStart ?? '') ?? [];
      expect([program, script]).to.deep.equal(['node_modules/.bin/node', `${role}/main.ts`]);
      for (const file of [program, script]) expect(existsSync(join(project, file)), file).to.equal(true);
      expect(unit).to.include({ Restart: 'always', EnvironmentFile: '/etc/hookyard/hookyard.env' });
      expect(Number(unit.TimeoutStopSec)).to.be.above(longest);
    });
  }
});
