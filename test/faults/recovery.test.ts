import { expect } from 'chai';
import type { Service } from '../support/service.ts';
import { SHARDS } from '../../db/hot-path/shards.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { selectValue } from '../support/database/sql.ts';

const PATIENCE_MS = 180_000;

describe('recovery of relays', function () {
  this.timeout(900_000);
  const { testInstance, line } = useHookyard({});

  async function owned({ pid }: Service): Promise<number> {
    const { rowCount } = await testInstance.pool.query('select from shards where owner like $1', [`%:${pid}:%`]);
    return rowCount ?? 0;
  }

  const shared = (...workers: Service[]) =>
    until('all to own their share', async () => {
      for (const worker of workers) expect(await owned(worker)).to.equal(SHARDS / workers.length);
      return true;
    });

  it('keeps what it has under way in workflows from others when a worker is told to end', async () => {
    const ending = await testInstance.onlyWorker({ HOOKYARD_LANE: 'workflow', HOOKYARD_SHUTDOWN_SECONDS: '60' });
    await shared(ending);
    const gate = Promise.withResolvers<void>();
    const held = await line([{ after: gate.promise }]);
    await Promise.all(Array.from({ length: 10 }, () => held.ledger.post()));
    await until('attempts to run', () => held.endpoint.requests.length >= 10);
    const other = await testInstance.startWorker({ HOOKYARD_LANE: 'express' });
    await shared(ending, other);
    const ended = ending.stop();
    await shared(other);
    // It claims now, several times.
    for (let round = 1; round <= 3; round += 1) {
      const { ledger, endpoint } = await line();
      await Promise.all(Array.from({ length: 10 }, () => ledger.post()));
      await until('new ones to arrive', () => endpoint.requests.length >= 10);
    }
    expect(ending.running, 'the first one is still about to end').to.equal(true);
    expect(await leftovers()).to.equal(10);
    gate.resolve();
    expect(await ended).to.equal(0);
    await held.ledger.settle(PATIENCE_MS);
    for (const id of held.ledger.acknowledged.keys()) expect(held.ledger.arrivals(id)).to.equal(1);
    expect(await leftovers()).to.equal(0);
  });

  function leftovers(): Promise<number> {
    return selectValue<number>(testInstance.pool)`select count(*)::int as count from workers, unnest(handed_over)`;
  }
});
