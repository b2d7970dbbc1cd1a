// What an API and a worker ask of PostgreSQL while nothing happens: a look now and then, and a sign that the worker is
// alive. Counted are transactions, which do not depend on the machine.
import { expect } from 'chai';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { Records } from '../support/records.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { useReceiver } from '../support/use-hookyard.ts';

const SECONDS = 10;
// The relay renews its lease and claims about six times; each other part looks once in ten seconds or more rarely.
const MOST_PER_SECOND = 4;
const QUIET_WITHIN_MS = 240_000;

describe('an idle API with an idle worker', function () {
  this.timeout(2 * QUIET_WITHIN_MS);
  let hookyard: OwnHookyard;
  const receiver = useReceiver();
  /** Connected to another database. */
  let outside: Pool;
  before(async () => {
    hookyard = await startHookyard();
    await hookyard.startWorker();
    outside = createPool(stackAddresses().databaseUrl, { max: 1, statementTimeoutMs: 20_000, onError: () => {} });
  });
  after(() => Promise.all([hookyard.close(), outside.end()]));

  async function commits(): Promise<number> {
    const { rows } = await outside.query<{ commits: number }>(
      'select xact_commit::float8 as commits from pg_stat_database where datname = $1',
      [new URL(hookyard.databaseUrl).pathname.slice(1)],
    );
    return rows[0]?.commits ?? 0;
  }

  async function commitsPerSecond(): Promise<number> {
    const before = await commits();
    await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000));
    return ((await commits()) - before) / SECONDS;
  }

  it('commits a few times a second, and delivers the next webhook as usual', async () => {
    let seen = Number.POSITIVE_INFINITY;
    await until(
      'quiet',
      async () => {
        seen = await commitsPerSecond();
        return seen <= MOST_PER_SECOND;
      },
      QUIET_WITHIN_MS,
    );
    expect(seen).to.be.at.most(MOST_PER_SECOND);
    await new Records(hookyard).deliver(receiver.endpoint(200).url, '{"n":1}', 'delivered');
  });
});
