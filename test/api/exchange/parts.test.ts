import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { newId } from '../../../core/text/ids.ts';
import { commandLine } from '../../support/programs/cli.ts';
import { inOpenTransaction } from '../../support/database/row-lock.ts';
import { listenHttp } from '../../support/servers/listen.ts';
import { createOrganization, type TestOrganization, testPool } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { exported, importInto, signingSecret, url } from './destination-files.ts';

// More than the buffers of a connection hold, so that the service waits for a client that does not read.
const MANY = 1200;
const LONG = 20_000;

describe('Exports in parts', () => {
  let organization: TestOrganization;
  let ids: string[];

  /** An organization with copies of one destination, all of the same moment. */
  async function withDestinations(count: number, bytes: number): Promise<void> {
    organization = await createOrganization();
    const auth = { authType: 'basic', authConfig: { username: 'u', password: 'a long password' } };
    const { destinations } = await importInto(organization, [{ name: 'First', url, ...auth, signingSecret }]);
    ids = [String(destinations[0]?.id), ...Array.from({ length: count - 1 }, () => newId('dst')).toSorted()];
    await testPool().query(
      `insert into destinations select (jsonb_populate_record(d, jsonb_build_object('id', copies.id, 'slug', 'copy-' || n,
         'name', copies.id, 'description', repeat('x', $3), 'auth_type', 'none', 'auth_config', null, 'signing_secret', null))).*
       from destinations d, unnest($2::text[]) with ordinality as copies (id, n) where d.id = $1`,
      [ids[0], ids.slice(1), bytes],
    );
  }
  const deleteSome = (some: string[]) => testPool().query('delete from destinations where id = any($1)', [some]);

  /** An export of which the first bytes have come; nothing more is read before `text` is called. */
  async function begun(token: string) {
    const headers = { Authorization: `Bearer ${token}` };
    const [answer]: [IncomingMessage] = (await once(
      get(`${organization.api.url}/api/destinations/export`, { headers, agent: false }),
      'response',
    )) as [IncomingMessage];
    expect(answer.statusCode).to.equal(200);
    const text = async () => {
      answer.setEncoding('utf8');
      let read = '';
      for await (const chunk of answer) read += chunk;
      return read;
    };
    return { answer, text };
  }

  it('hold every record once, oldest first, those of the same moment too, and chosen ones', async () => {
    await withDestinations(250, 0);
    const names = async (query = '') => (await exported(organization, query)).destinations.map(({ name }) => name);
    expect(await names()).to.deep.equal(['First', ...ids.slice(1)]);
    const chosen = ids.slice(100, 231);
    expect(await names(`?ids=${chosen.toReversed().join()}`)).to.deep.equal(chosen);
    for (const count of [200, 100]) {
      await deleteSome(ids.slice(count));
      expect(await names(), `${count}`).to.have.length(count);
    }
  });

  it('leave the file of before when they break off, from the command line', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hookyard-export-'));
    const file = join(folder, 'kept.json');
    writeFileSync(file, 'of before');
    const broken = await listenHttp((_request, response) => {
      response.setHeader('Content-Type', 'application/json');
      response.write('{"version":"1.0","destinations":[\n', () => response.destroy());
    });
    try {
      const args = ['export', 'destinations', '-o', file, '--url', broken.url, '--timeout', '1'];
      const { code, stdout } = await commandLine(await createOrganization()).run(args);
      // A process that had to be killed has a signal for its code.
      expect(code).to.be.a('number').above(0);
      expect(stdout).to.equal('');
    } finally {
      await broken.close();
    }
    expect(readFileSync(file, 'utf8')).to.equal('of before');
    expect(readdirSync(folder).filter((name) => name.startsWith('kept'))).to.deep.equal(['kept.json']);
    rmSync(folder, { recursive: true });
  });

  describe('to a client that reads slowly', () => {
    before(() => withDestinations(MANY, LONG));

    it('read a part when the one before was taken', async () => {
      const { text } = await begun(organization.token);
      const last = ids.slice(-10);
      await deleteSome(last);
      const { destinations } = JSON.parse(await text());
      expect(destinations.map(({ name }: { name: string }) => name)).to.deep.equal(['First', ...ids.slice(1, -10)]);
    });

    it('break the connection when a part cannot be read, here because the key was revoked', async () => {
      const key = await organization.api.create<{ token: string }>('/api/api-keys', { name: 'short-lived' });
      const { answer, text } = await begun(key.token);
      await organization.api.delete(`/api/api-keys/${key.id}`);
      const error = await text().then(
        () => null,
        (reason: NodeJS.ErrnoException) => reason,
      );
      expect(error?.code).to.equal('ECONNRESET');
      expect(answer.complete).to.equal(false);
    });

    it('end with the client', async () => {
      const reads = async () => {
        const { rows } = await testPool().query<{ count: number }>(
          `select count(*)::int as count from pg_stat_activity
           where application_name = 'hookyard-api' and state <> 'idle' and query like '%from "destinations"%'`,
        );
        return rows[0]?.count;
      };
      const { answer } = await begun(organization.token);
      // The next part waits for the lock when the client goes.
      await inOpenTransaction(testPool(), async (db) => {
        await db.query('lock table destinations in access exclusive mode');
        answer.resume();
        await until('the next part is asked for', async () => (await reads()) === 1);
        answer.destroy();
      });
      await until('nothing is read any more', async () => (await reads()) === 0);
      expect((await exported(organization, `?ids=${ids[0]}`)).destinations).to.have.length(1);
    });
  });
});
