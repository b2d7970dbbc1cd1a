// Secrets that are in files.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeSettings, readSettings } from '../../core/config/config.ts';
import { ConfigError, currentSecret, secretOf, SECRETS, withSecretFiles } from '../../core/config/secret-files.ts';

const problemsOf = (run: () => unknown): string[] => {
  try {
    run();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

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
    const problems = problemsOf(() =>
      withSecretFiles({
        DATABASE_URL: 'postgres://user:pass1@host/db',
        DATABASE_URL_FILE: fileOf('postgres://user:pass2@host/db'),
        SMTP_URL_FILE: empty,
        HOOKYARD_API_KEY_FILE: blank,
        TEMPORAL_API_KEY_FILE: join(folder, 'none'),
        HOOKYARD_OPERATOR_KEY_FILE: folder,
      }),
    );
    expect(problems).to.have.members([
      'DATABASE_URL and DATABASE_URL_FILE are both set; remove one of them',
      `SMTP_URL_FILE: ${empty} is empty; it must contain the secret`,
      `HOOKYARD_API_KEY_FILE: ${blank} is empty; it must contain the secret`,
      `TEMPORAL_API_KEY_FILE: ${join(folder, 'none')} cannot be read (ENOENT); check that the file exists and that the process can read it`,
      `HOOKYARD_OPERATOR_KEY_FILE: ${folder} cannot be read (EISDIR); check that the file exists and that the process can read it`,
    ]);
    expect(problems.join()).to.not.match(/pass1|pass2/);
    expect(problemsOf(() => withSecretFiles({ SMTP_URL_FILE: empty }))).to.have.length(1);
  });

  it('are checked like those in variables, and their files are shown in place of them', () => {
    const file = fileOf('postgres://user:secret@host/db\n');
    const settings = readSettings(withSecretFiles({ DATABASE_URL_FILE: file }));
    expect(settings.DATABASE_URL).to.equal('postgres://user:secret@host/db');
    expect(describeSettings(settings)).to.include.members(['DATABASE_URL=****', `DATABASE_URL_FILE=${file}`]);
    const wrong = problemsOf(() => readSettings(withSecretFiles({ DATABASE_URL_FILE: fileOf('mysql://secret@host') })));
    expect(wrong).to.deep.equal(['DATABASE_URL must be a URL starting with postgres:// or postgresql://']);
  });

  it('are all that may be in files', () => {
    expect(problemsOf(() => readSettings({ HOOKYARD_PORT_FILE: '/port', HOOKYARD_PROT_FILE: '/port' }))).to.deep.equal([
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
