// TLS to PostgreSQL: every connection of both roles is encrypted and knows the server by the certificate of its
// authority.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { selfSigned } from '../support/servers/certificates.ts';
import { problemsIn } from '../support/telemetry/log-lines.ts';
import { runToEnd } from '../support/service.ts';
import { asServices, stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

describe('TLS to PostgreSQL', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-tls-'));
  const [authority, stranger] = [join(folder, 'authority.pem'), join(folder, 'stranger.pem')];
  let admin: Pool;
  const reload = async (...settings: string[]) => {
    for (const setting of settings) await admin.query(`alter system ${setting}`);
    await admin.query('select pg_reload_conf()');
  };
  /** PostgreSQL refuses a key that others may read, so it writes the file itself. */
  const writeBeside = async (file: string, text: string) => {
    await admin.query(`copy (select unnest(string_to_array('${text}', E'\\n'))) to program 'umask 077; cat > ${file}'`);
  };
  const tlsUrl = (url: string, options: string) => {
    const tls = new URL(url);
    tls.hostname = 'localhost';
    return `${tls.href}?${options}`;
  };
  const verified = (file = authority) => `sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`;

  before(async () => {
    admin = createPool(stackAddresses().databaseUrl, { max: 1, statementTimeoutMs: 20_000, onError: () => {} });
    const { cert, key } = selfSigned('localhost');
    writeFileSync(authority, cert);
    writeFileSync(stranger, selfSigned('localhost').cert);
    await writeBeside('test-tls.crt', cert.trim());
    await writeBeside('test-tls.key', key.trim());
    await reload(`set ssl_cert_file = 'test-tls.crt'`, `set ssl_key_file = 'test-tls.key'`, 'set ssl = on');
    await until('TLS', async () => (await admin.query(`show ssl`)).rows[0].ssl === 'on');
  });
  const settings = (url: string) => ({ DATABASE_URL: tlsUrl(url, verified()) });
  const { testInstance, records, receiver } = useHookyard({ settings, workers: [{}] });
  after('TLS is as before', async () => {
    await reload('reset ssl', 'reset ssl_cert_file', 'reset ssl_key_file');
    await admin?.end();
    rmSync(folder, { recursive: true });
  });

  it('is used by all connections of both roles', async () => {
    await records.deliver(receiver.endpoint().url, '{}', 'delivered');
    const { rows } = await admin.query<{ application_name: string; ssl: boolean; count: number }>(
      `select application_name, ssl, count(*)::int from pg_stat_activity join pg_stat_ssl using (pid)
       where datname = $1 and application_name in ('hookyard-api', 'hookyard-worker') group by 1, 2 order by 1`,
      [new URL(testInstance.databaseUrl).pathname.slice(1)],
    );
    expect(rows.map(({ application_name, ssl }) => `${application_name} ${ssl}`)).to.deep.equal([
      'hookyard-api true',
      'hookyard-worker true',
    ]);
    // Of ingest, of the service, of the management API and of its records.
    expect(rows[0]?.count).to.be.at.least(4);
  });

  const refused: [string, string, RegExp][] = [
    [
      'a certificate of another authority',
      verified(stranger),
      /^DATABASE_URL: could not establish a secure connection .*sslrootcert/,
    ],
    [
      'an authority whose file is missing',
      verified(join(folder, 'none')),
      /^DATABASE_URL: sslrootcert=.* cannot be read \(ENOENT\)/,
    ],
    [
      'a certificate of an authority that nobody named',
      'sslmode=verify-full',
      /^DATABASE_URL: could not establish a secure connection/,
    ],
  ];
  for (const [what, options, line] of refused) {
    it(`ends the start of an API with one clear line: ${what}`, async () => {
      const url = tlsUrl(asServices(stackAddresses().databaseUrl), options);
      const { code, output } = await runToEnd('api', { DATABASE_URL: url, LOG_LEVEL: 'warn' });
      expect(code).to.equal(1);
      expect(problemsIn(output)).to.match(line);
      expect(output).to.not.include(new URL(url).password);
    });
  }
});
