// What an API and a worker ask of PostgreSQL while nothing happens: a look now and then, and a sign that the worker is
// alive. Counted are transactions, which do not depend on the machine.
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { useHookyard, usePool } from '../support/use-hookyard.ts';
import { selectValue } from '../support/database/sql.ts';

const SECONDS = 10;
// The relay renews its lease and claims about six times; each other part looks once in ten seconds or more rarely.
const MOST_PER_SECOND = 4;
const QUIET_WITHIN_MS = 240_000;

describe('an idle API with an idle worker', function () {
  this.timeout(2 * QUIET_WITHIN_MS);
  const { testInstance, records, receiver } = useHookyard({ workers: [{}] });
  /** Connected to another database. */
  const outside = usePool(stackAddresses(), { max: 1 });

  function commits(): Promise<number> {
    return selectValue<number>(outside)`select xact_commit::float8 as commits from pg_stat_database
      where datname = ${new URL(testInstance.databaseUrl).pathname.slice(1)}`;
  }

  it('commits a few times a second, and delivers the next webhook as usual', async () => {
    const looks: { at: number; commits: number }[] = [];
    await until(
      `at most ${MOST_PER_SECOND} commits a second in ${SECONDS} seconds`,
      async () => {
        const last = { at: performance.now(), commits: await commits() };
        looks.push(last);
        const first = looks.findLast(({ at }) => last.at - at >= SECONDS * 1000);
        return first !== undefined && last.commits - first.commits <= (MOST_PER_SECOND * (last.at - first.at)) / 1000;
      },
      QUIET_WITHIN_MS,
    );
    await records.deliver(receiver.endpoint(200).url, '{"n":1}', 'delivered');
  });
});
