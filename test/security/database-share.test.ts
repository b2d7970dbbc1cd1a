import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { send } from '../support/requests/http-client.ts';
import { quotaTenant, type Tenant } from '../support/attacks/quotas.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const MIB = 1024 * 1024;
/** What the database may grow, with the tenth that one organization leaves to others. */
const ROOM = 40 * MIB;
const BODY = 256 * 1024;
const OTHERS = 25;
const AT_ONCE = 4;

describe('an organization that fills the database', () => {
  const { testInstance } = useHookyard({});
  let greedy: Tenant;
  let other: Tenant;
  let limit: number;
  before(async () => {
    limit = (await size()) + ROOM;
    await testInstance.api.stop();
    await testInstance.startApi({ HOOKYARD_MAX_DATABASE_BYTES: String(limit) });
    [greedy, other] = await Promise.all([quotaTenant(testInstance), quotaTenant(testInstance)]);
  });

  async function size(): Promise<number> {
    const { rows } = await testInstance.pool.query<{ bytes: number }>(
      'select pg_database_size(current_database()) as bytes',
    );
    return rows[0]?.bytes ?? 0;
  }
  const webhook = ({ slug, source }: Tenant, body: Buffer | string) =>
    send('POST', `${testInstance.api.url}/ingest/${slug}/${source.slug}`, { 'content-type': 'text/plain' }, body);
  const ingest = async () => (await testInstance.client.get<{ ingest: string }>('/readyz')).ingest;

  it('is refused at nine tenths, and the other continues', async () => {
    // What is stored while a look runs may count twice until the next one: only a look refuses for good.
    const refused = await until('a refusal that a look confirms', async () => {
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => webhook(greedy, randomBytes(BODY))));
      return (await ingest()) === 'partly_full' && answers.find(({ status }) => status !== 200);
    });
    expect(refused.status).to.equal(503);
    expect(refused.body.message).to.match(/^This organization has used up its share of the database/);
    expect(refused.headers['retry-after']).to.match(/^\d+$/);
    expect(await size(), 'room is left').to.be.below(limit);
    for (let number = 0; number < OTHERS; number += 1) {
      expect((await webhook(greedy, '{}')).status, 'the greedy one').to.equal(503);
      expect((await webhook(other, '{}')).status, `webhook ${number}`).to.equal(200);
    }
    expect(await ingest()).to.equal('partly_full');
  });
});
