import { expect } from 'chai';
import { describeSettings, publicUrl, readLogSettings, readSettings } from '../../core/config/config.ts';
import { ConfigError } from '../../core/config/secret-files.ts';

function problemsOf(env: Record<string, string>): string[] {
  try {
    readSettings(env);
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
      'DATABASE_URL must be set to the URL of the same database, because DATABASE_DIRECT_URL is set',
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
