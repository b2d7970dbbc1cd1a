import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createConfigCache } from '../../activities/config-cache.ts';
import { gateOf } from '../../api/ingest/route-matching.ts';
import { createRoutingCache } from '../../api/ingest/routing.ts';
import { newId } from '../../core/text/ids.ts';
import { SecretBox } from '../../db/encryption/secret-box.ts';
import { createPool } from '../../db/connections/pool.ts';
import { senderOf } from '../../providers/index.ts';
import { insertSource } from '../support/database/own-database.ts';
import { useDatabase } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

const MOST = 3;
const OTHERS = 3 * MOST;
const KIBIBYTE = 1024;

describe('of more than a process keeps', () => {
  const secretBox = new SecretBox([{ id: 'k1', key: randomBytes(32) }]);
  const reader = { secretBox, senderOf, gateOf };
  const { database } = useDatabase('caches');
  let organizationId: string;
  before(async () => {
    ({ organizationId } = await insertSource(database.pool));
    for (const slug of ['busy', ...others]) {
      await execute(database.pool)`insert into sources (id, organization_id, name, slug)
        values (${newId('src')}, ${organizationId}, ${slug}, ${slug})`;
      await execute(database.pool)`insert into transforms (id, organization_id, name, slug, type, code)
        values (${slug}, ${organizationId}, 'before', ${slug}, 'jsonata', '$')`;
    }
  });

  const others = Array.from({ length: OTHERS }, (_, n) => `other-${n}`);

  it('the configuration that attempts use most stays', async () => {
    const { pool } = database;
    const configs = createConfigCache(pool, secretBox, () => false, MOST);
    const nameOf = async (id: string) => (await configs.transform(organizationId, id, 1))?.name;
    for (const id of ['busy', ...others.flatMap((other) => [other, 'busy'])])
      expect(await nameOf(id)).to.equal('before');
    // Past the triggers: what is kept of a version stays, however it changes.
    await pool.query(`update transforms set name = 'after'`);
    expect(await nameOf('busy')).to.equal('before');
    expect(await nameOf('other-0'), 'the one used longest ago').to.equal('after');
  });

  it('the source that receives most stays', async () => {
    const { pool } = database;
    // Without routes, each takes as much.
    const routing = createRoutingCache(pool, reader, MOST * 5 * KIBIBYTE);
    const isEnabled = async (slug: string) => (await routing.get('acme', slug))?.enabled;
    for (const slug of ['busy', ...others.flatMap((other) => [other, 'busy'])])
      expect(await isEnabled(slug)).to.equal(true);
    await pool.query('update sources set enabled = false');
    expect(await isEnabled('busy')).to.equal(true);
    expect(await isEnabled('other-0'), 'the one used longest ago').to.equal(false);
  });

  it('a source that is known does not wait behind the names that strangers try', async () => {
    const routing = createRoutingCache(database.pool, reader);
    const slug = 'busy';
    const organization = 'acme';
    await routing.get(organization, slug);
    let answered = 0;
    const tries = Array.from({ length: 1000 }, (_, n) =>
      routing.getCurrent(`unknown-${n}`, slug).then(() => (answered += 1)),
    );
    routing.forget(organization, slug);
    await routing.get(organization, slug);
    expect(answered, 'strangers that were served before').to.be.below(500);
    await Promise.all(tries);
  });

  it('names that strangers try leave connections to what stores webhooks', async () => {
    const pool = createPool(database.databaseUrl, { max: 16, statementTimeoutMs: 10_000, onError: () => {} });
    try {
      const routing = createRoutingCache(pool, reader);
      const tries = Array.from({ length: 200 }, (_, n) => routing.getCurrent('acme', `unknown-${n}`));
      expect(await Promise.all(tries)).to.deep.equal(Array(200).fill(null));
      expect(pool.totalCount).to.be.within(1, 4);
    } finally {
      await pool.end();
    }
  });

  it('a name that was tried in vain is found once it is there', async () => {
    const routing = createRoutingCache(database.pool, reader);
    expect(await routing.get('acme', 'late')).to.equal(null);
    await execute(database.pool)`insert into sources (id, organization_id, name, slug)
      values (${newId('src')}, ${organizationId}, 'Late', 'late')`;
    expect(await routing.get('acme', 'late'), 'may be out of date').to.equal(null);
    expect((await routing.getCurrent('acme', 'late'))?.enabled).to.equal(true);
    routing.forget('acme', 'late');
    expect((await routing.get('acme', 'late'))?.enabled).to.equal(true);
  });
});
