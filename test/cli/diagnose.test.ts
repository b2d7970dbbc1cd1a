import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { commandLine, useCommandLine } from '../support/programs/cli.ts';
import { createClient } from '../support/api-client.ts';

interface Report {
  versions: Record<string, string>;
  service: { url: string; health: Record<string, string> };
  settings: string[];
  issues: string[];
  logs: Record<string, string[]>;
}

describe('hookyard diagnose', () => {
  const { cli } = useCommandLine();
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-diagnose-'));
  after(() => rmSync(folder, { recursive: true }));

  it('tells versions, health, settings and the last errors of a service, and no secrets', async () => {
    mkdirSync(join(folder, 'logs'));
    writeFileSync(
      join(folder, 'logs', 'postgres.log'),
      'LOG:  ready\nFATAL:  no connection to postgres://me:s3cret@db/x, key whr_s3cret0123456789\n',
    );
    const env = {
      HOOKYARD_DATA_DIR: folder,
      DATABASE_URL: 'postgres://me:s3cret@db/hookyard',
      HOOKYARD_PROVIDER_KEYS_URL: 'https://me:s3cret@keys.example',
    };
    const { code, stdout, stderr } = await cli.run(['diagnose', '--json'], { env });
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).not.to.include('s3cret');
    const report = JSON.parse(stdout) as Report;
    expect(report.versions.service)
      .to.equal(report.versions.hookyard)
      .and.match(/^\d+\.\d+\.\d+/);
    expect(report.service.health).to.include({ alive: 'ok' });
    expect(report.settings).to.include('DATABASE_URL=****').and.include('HOOKYARD_PORT=3000');
    expect(report.issues).to.deep.equal([]);
    expect(report.logs['postgres.log']).to.deep.equal(['FATAL:  no connection to postgres://****@db/x, key whr_****']);
    expect(await cli.ok('diagnose')).to.match(/^versions\n {2}hookyard: \d[\s\S]*\nopen issues\n {2}none\n/);
  });

  it('tells why no service answers, and which settings keep one from starting', async () => {
    const nobody = commandLine({ api: createClient('http://127.0.0.1:1', ''), token: '' });
    const env = { HOOKYARD_DATA_DIR: folder, HOOKYARD_PORTT: '80' };
    const { code, stdout } = await nobody.run(['diagnose', '--json', '--timeout', '1'], { env });
    const { service, settings } = JSON.parse(stdout) as Report;
    expect(code).to.equal(5);
    expect(service.health.alive).to.match(/^UNREACHABLE: /);
    expect(settings.join()).to.match(/^HOOKYARD_PORTT is not a Hookyard setting/);
  });
});
