import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeSettings, publicUrl, readLogSettings, readSettings } from '../../core/config/config.ts';
import { dataFolder, isPackage, userDataFolder } from '../../core/config/folders.ts';
import { apiConnections, workerConnections } from '../../core/config/database-connections.ts';
import { ConfigError, currentSecret, secretOf, SECRETS, withSecretFiles } from '../../core/config/secret-files.ts';

function problemsOf(env: NodeJS.ProcessEnv, read: (env: NodeJS.ProcessEnv) => unknown = readSettings): string[] {
  try {
    read(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('settings', () => {
  it('have the documented defaults', () => {
    expect(readSettings({})).to.include({
      HOOKYARD_PORT: 3000,
      HOOKYARD_HOST: '127.0.0.1',
      OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
      HOOKYARD_ORG_SLUG: 'default',
      HOOKYARD_LANE: 'adaptive',
      HOOKYARD_MAX_PAYLOAD_BYTES: 10_485_760,
      HOOKYARD_PAYLOAD_RETENTION_DAYS: 30,
      HOOKYARD_EVENT_RETENTION_DAYS: 90,
      HOOKYARD_HEALTH_WINDOW_HOURS: 24,
      HOOKYARD_REPLAY_WINDOW_HOURS: 72,
      HOOKYARD_HEADER_PREFIX: 'X-Hookyard-',
      HOOKYARD_DRAIN_SECONDS: 10,
    });
    expect(readSettings({}).HOOKYARD_DELIVERY_ALLOW).to.deep.equal([]);
  });

  it('refuse unknown HOOKYARD_ variables by name, and leave others alone', () => {
    expect(problemsOf({ HOOKYARD_PROT: '1', PATH: '/bin' }).join()).to.contain('HOOKYARD_PROT');
  });

  it('take as prefix of names in Temporal only what is unlike every other name', () => {
    expect(readSettings({}).HOOKYARD_TEMPORAL_PREFIX).to.equal('');
    expect(readSettings({ HOOKYARD_TEMPORAL_PREFIX: 'staging-2' }).HOOKYARD_TEMPORAL_PREFIX).to.equal('staging-2');
    for (const prefix of ['a.b', 'A', 'a_b', '-a', 'a-', 'a b', 'a:b', 'x'.repeat(41)])
      expect(problemsOf({ HOOKYARD_TEMPORAL_PREFIX: prefix }).join(), prefix).to.contain(
        'HOOKYARD_TEMPORAL_PREFIX must',
      );
  });

  it("leave the command line's address alone, which may be set in the same shell", () => {
    expect(problemsOf({ HOOKYARD_URL: 'http://localhost:3000' })).to.deep.equal([]);
  });

  it('name every variable whose value cannot be used', () => {
    const wrong = {
      ...{ HOOKYARD_PORT: 'eighty', HOOKYARD_PLAN: 'gold', HOOKYARD_HEADER_PREFIX: 'X Hook' },
      ...{ HOOKYARD_API_KEY: 'secret', DATABASE_URL: 'mysql://root@localhost/x' },
    };
    const problems = problemsOf(wrong);
    expect(problems).to.have.length(5);
    for (const name of Object.keys(wrong)) expect(problems.join('\n')).to.contain(name);
  });

  it('have the documented bounds', () => {
    const label = 'd'.repeat(63);
    const domain = [label, label, label, 'd'.repeat(61)].join('.');
    for (const [name, most, tooMuch] of [
      ['HOOKYARD_ORG_SLUG', 's'.repeat(63), 's'.repeat(64)],
      ['HOOKYARD_REPLAY_WINDOW_HOURS', '8760', '8761'],
      ['HOOKYARD_NOTIFY_RECIPIENTS', domain, `${domain}d`],
    ] as const) {
      expect(problemsOf({ [name]: most }), name).to.deep.equal([]);
      expect(problemsOf({ [name]: tooMuch }).join(), name).to.contain(name);
    }
  });

  it('need the database of a direct URL by its usual name too', () => {
    const direct = 'postgres://user:supersecret@host/db';
    expect(problemsOf({ DATABASE_DIRECT_URL: direct })).to.deep.equal([
      'DATABASE_URL must be set, because DATABASE_DIRECT_URL is set; both must refer to the same database',
    ]);
    const settings = readSettings({ DATABASE_URL: 'postgres://user@pooler/db', DATABASE_DIRECT_URL: direct });
    expect(settings.DATABASE_DIRECT_URL).to.equal(direct);
    expect(describeSettings(settings)).to.include('DATABASE_DIRECT_URL=****');
  });

  it('never print a secret, neither as a setting nor as a problem', () => {
    const settings = readSettings({
      HOOKYARD_API_KEY: 'whr_supersecretsupersecret',
      DATABASE_URL: 'postgres://user:supersecret@host/db',
    });
    expect(describeSettings(settings).join('\n')).to.contain('HOOKYARD_API_KEY=****').and.not.contain('supersecret');
    expect(problemsOf({ HOOKYARD_API_KEY: 'supersecret' }).join()).to.not.contain('supersecret');
  });

  it('want a sender for notifications when there is a mail server, and never print its credentials', () => {
    const SMTP_URL = 'smtps://user:supersecret@mail.example';
    expect(problemsOf({ SMTP_URL }).join()).to.contain('HOOKYARD_NOTIFY_FROM').and.not.contain('supersecret');
    expect(problemsOf({ SMTP_URL, HOOKYARD_NOTIFY_FROM: 'nobody' })).to.have.length(1);
    expect(problemsOf({ SMTP_URL: 'http://user:supersecret@mail.example' }).join())
      .to.contain('SMTP_URL')
      .and.not.contain('supersecret');
    const settings = readSettings({ SMTP_URL, HOOKYARD_NOTIFY_FROM: 'hookyard@ops.example' });
    expect(describeSettings(settings)).to.include('SMTP_URL=****');
  });

  it('take exact origins for CORS, and nothing that no browser sends', () => {
    const { HOOKYARD_CORS_ORIGINS } = readSettings({
      HOOKYARD_CORS_ORIGINS: 'https://a.example, http://localhost:5173',
    });
    expect(HOOKYARD_CORS_ORIGINS).to.deep.equal(['https://a.example', 'http://localhost:5173']);
    expect(readSettings({}).HOOKYARD_CORS_ORIGINS).to.equal(undefined);
    for (const text of ['*', 'null', 'a.example', 'https://a.example/', 'https://A.example', 'https://a.example:443']) {
      expect(problemsOf({ HOOKYARD_CORS_ORIGINS: text }).join(), text).to.contain('HOOKYARD_CORS_ORIGINS');
    }
  });

  it('says which values there are to choose from', () => {
    expect(() => readSettings({ HOOKYARD_TEMPORAL_CODEC: 'yes' })).to.throw(
      'HOOKYARD_TEMPORAL_CODEC must be one of off, decode, on (the value is "yes")',
    );
  });

  it('take a switch as a word or as a digit', () => {
    const read = (text: string) => readSettings({ HOOKYARD_CONSOLE: text }).HOOKYARD_CONSOLE;
    expect(['on', '1', 'off', '0'].map(read)).to.deep.equal([true, true, false, false]);
    expect(() => read('true')).to.throw('HOOKYARD_CONSOLE must be one of on, off, 1, 0 (the value is "true")');
  });

  it('take a switch of versioning or the name of a release', () => {
    const read = (text: string) => readSettings({ HOOKYARD_WORKER_VERSIONING: text }).HOOKYARD_WORKER_VERSIONING;
    expect(['', 'off', '0', 'on', '1', 'back-1'].map(read)).to.deep.equal([false, false, false, true, true, 'back-1']);
    for (const text of ['true', 'ON', 'no', 'a b', '-a'])
      expect(() => read(text), text).to.throw('or the name of a release');
  });

  it('take a host and a port behind ! in the allow list', () => {
    const read = (text: string) => readSettings({ HOOKYARD_DELIVERY_ALLOW: text }).HOOKYARD_DELIVERY_ALLOW;
    expect(read('10.0.0.0/8,!ui:8080,![::1]:80,')).to.deep.equal(['10.0.0.0/8', '!ui:8080', '![::1]:80']);
    for (const text of ['!ui', '!10.0.0.0/8', '!', '! ui:80'])
      expect(() => read(text), text).to.throw('must have host:port after each !');
  });

  it('of the log count as unset when they cannot be used, so that the log can say so', () => {
    const unset = { LOG_LEVEL: 'info', HOOKYARD_LOG_FORMAT: 'json' };
    expect(readLogSettings({})).to.deep.equal(unset);
    expect(readLogSettings({ LOG_LEVEL: 'loud', HOOKYARD_LOG_FORMAT: 'xml' })).to.deep.equal(unset);
    const chosen = { LOG_LEVEL: 'warn', HOOKYARD_LOG_FORMAT: 'text' };
    expect(readLogSettings({ ...chosen, HOOKYARD_COLOUR: 'blue' })).to.deep.equal(chosen);
    expect(problemsOf({ LOG_LEVEL: 'loud' }).join()).to.contain('LOG_LEVEL must be one of fatal, error, warn');
  });

  it('take an empty text as unset', () => {
    expect(readSettings({ HOOKYARD_PORT: '', HOOKYARD_PUBLIC_URL: '' }).HOOKYARD_PORT).to.equal(3000);
  });

  it('base webhook URLs on the public URL, else on the port that was bound', () => {
    expect(publicUrl(readSettings({ HOOKYARD_PUBLIC_URL: 'https://hooks.example.com/' }))).to.equal(
      'https://hooks.example.com',
    );
    expect(publicUrl(readSettings({ HOOKYARD_PORT: '0' }), 4321)).to.equal('http://localhost:4321');
  });
});

describe('secrets in files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-secrets-'));
  const fileOf = (text: string) => {
    const file = join(folder, `secret-${Math.random()}`);
    writeFileSync(file, text);
    return file;
  };
  after(() => rmSync(folder, { recursive: true }));

  it('are read for every secret, without the line break at the end', () => {
    for (const name of SECRETS) {
      for (const end of ['', '\n', '\r\n']) {
        expect(withSecretFiles({ [`${name}_FILE`]: fileOf(`a value${end}`) })[name], name).to.equal('a value');
      }
      expect(withSecretFiles({ [name]: 'set' })[name], name).to.equal('set');
      expect(withSecretFiles({ [name]: 'set', [`${name}_FILE`]: '' })[name], name).to.equal('set');
      expect(withSecretFiles({ [name]: '', [`${name}_FILE`]: fileOf('a value') })[name], name).to.equal('a value');
      expect(secretOf({}, name), name).to.equal(undefined);
    }
  });

  it('are refused when they are given twice, cannot be read or are empty, each by its name', () => {
    const [empty, blank] = [fileOf(''), fileOf('\n')];
    const problems = problemsOf(
      {
        DATABASE_URL: 'postgres://user:pass1@host/db',
        DATABASE_URL_FILE: fileOf('postgres://user:pass2@host/db'),
        SMTP_URL_FILE: empty,
        HOOKYARD_API_KEY_FILE: blank,
        TEMPORAL_API_KEY_FILE: join(folder, 'none'),
        HOOKYARD_OPERATOR_KEY_FILE: folder,
      },
      withSecretFiles,
    );
    expect(problems).to.have.members([
      'DATABASE_URL and DATABASE_URL_FILE are both set; remove one of them',
      `SMTP_URL_FILE: ${empty} is empty; it must contain the secret`,
      `HOOKYARD_API_KEY_FILE: ${blank} is empty; it must contain the secret`,
      `TEMPORAL_API_KEY_FILE: ${join(folder, 'none')} cannot be read (ENOENT); check that the file exists and that the process can read it`,
      `HOOKYARD_OPERATOR_KEY_FILE: ${folder} cannot be read (EISDIR); check that the file exists and that the process can read it`,
    ]);
    expect(problems.join()).to.not.match(/pass1|pass2/);
    expect(problemsOf({ SMTP_URL_FILE: empty }, withSecretFiles)).to.have.length(1);
  });

  it('are checked like those in variables, and their files are shown in place of them', () => {
    const file = fileOf('postgres://user:secret@host/db\n');
    const settings = readSettings(withSecretFiles({ DATABASE_URL_FILE: file }));
    expect(settings.DATABASE_URL).to.equal('postgres://user:secret@host/db');
    expect(describeSettings(settings)).to.include.members(['DATABASE_URL=****', `DATABASE_URL_FILE=${file}`]);
    const wrong = problemsOf(withSecretFiles({ DATABASE_URL_FILE: fileOf('mysql://secret@host') }));
    expect(wrong).to.deep.equal(['DATABASE_URL must be a URL starting with postgres:// or postgresql://']);
  });

  it('are all that may be in files', () => {
    expect(problemsOf({ HOOKYARD_PORT_FILE: '/port', HOOKYARD_PROT_FILE: '/port' })).to.deep.equal([
      'HOOKYARD_PORT_FILE: only secrets are read from files; set HOOKYARD_PORT',
      'HOOKYARD_PROT_FILE is not a Hookyard setting; remove it, or see docs/operate/configuration.md',
    ]);
  });

  it('are read again at their use: what cannot be read or used leaves the last one', () => {
    const file = fileOf('first\n');
    const given = withSecretFiles({ R2_ACCESS_KEY_ID_FILE: file });
    const current = currentSecret(given, 'R2_ACCESS_KEY_ID', { isUsable: (text) => text !== 'wrong', freshMs: 0 });
    expect(current?.()).to.equal('first');
    for (const [text, expected] of Object.entries({
      'second\n': 'second',
      wrong: 'second',
      '\n': 'second',
      third: 'third',
    })) {
      writeFileSync(file, text);
      expect(current?.(), text).to.equal(expected);
    }
    rmSync(file);
    expect(current?.()).to.equal('third');
    expect(currentSecret({ SMTP_URL: 'smtp://host' }, 'SMTP_URL')?.()).to.equal('smtp://host');
    expect(currentSecret({}, 'SMTP_URL')).to.equal(undefined);
  });
});

describe('the data folder', () => {
  it('of a checkout is beside its code', () => {
    expect(isPackage).to.equal(false);
    expect(dataFolder('/srv/hookyard', undefined)).to.equal('/srv/hookyard/data');
    expect(dataFolder('/srv/hookyard', 'other')).to.equal('/srv/hookyard/other');
    expect(dataFolder('/srv/hookyard', '/var/lib/hookyard')).to.equal('/var/lib/hookyard');
  });

  it('of an installed package is where the system keeps data of its users', () => {
    const found = (platform: NodeJS.Platform, env = {}) => userDataFolder(platform, env, '/home/ann');
    expect(found('linux')).to.equal('/home/ann/.local/share/hookyard');
    expect(found('linux', { XDG_DATA_HOME: '/data' })).to.equal('/data/hookyard');
    expect(found('darwin', { XDG_DATA_HOME: '/data' })).to.equal('/home/ann/Library/Application Support/Hookyard');
    expect(found('win32', { LOCALAPPDATA: '/local' })).to.equal(join('/local', 'Hookyard'));
  });
});

const sum = (parts: object) => Object.values(parts).reduce((total: number, part: number) => total + part, 0);

describe('the budget of PostgreSQL connections', () => {
  it('is spent to the last, and leaves each part what it needs', () => {
    for (let total = 8; total <= 500; total += 1) {
      const settings = { HOOKYARD_DATABASE_CONNECTIONS: total };
      const [api, worker] = [apiConnections(settings), workerConnections(settings)];
      expect(sum(api), `API, ${total}`).to.equal(total);
      // One more listens, and one holds slots of destinations.
      expect(sum(worker) + 2, `worker, ${total}`).to.equal(total);
      for (const part of Object.values(api)) expect(part).to.be.at.least(2);
      expect(worker.hot).to.be.at.least(3);
      expect(worker.commands).to.be.at.least(2);
      expect(worker.warehouses).to.be.at.least(1);
    }
  });

  it('is 36 for an API and 26 for a worker by default', () => {
    expect(apiConnections(readSettings({}))).to.deep.equal({ ingest: 16, management: 8, records: 8, service: 4 });
    expect(workerConnections(readSettings({}))).to.deep.equal({ hot: 16, commands: 4, warehouses: 4 });
  });

  it('cannot be less than works', () => {
    expect(() => readSettings({ HOOKYARD_DATABASE_CONNECTIONS: '7' })).to.throw('must be between 8 and 500');
  });
});
