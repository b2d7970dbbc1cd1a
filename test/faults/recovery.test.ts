// A worker whose process dies is replaced at once, and no change of who works on what makes an attempt twice.
import { expect } from 'chai';
import { type FaultInstance, useFaultInstance } from '../support/fault-instance.ts';
import type { OwnHookyard } from '../support/hookyard.ts';
import type { Service } from '../support/service.ts';
import { sessionLockHolders } from '../support/session-locks.ts';
import { until } from '../support/until.ts';

const PATIENCE_MS = 180_000;

interface LeaseRow {
  owner: string;
  session: string | null;
  isAll: boolean;
}

describe('recovery of relays @turns @lanes', function () {
  this.timeout(900_000);
  let testInstance: OwnHookyard;
  let line: FaultInstance['line'];
  useFaultInstance((made) => {
    ({ testInstance, line } = made);
  });

  async function leases(): Promise<LeaseRow[]> {
    const { rows } = await testInstance.pool.query<LeaseRow>(
      `select owner, session, positions = '{[0,2048)}' as "isAll" from relay_leases order by owner`,
    );
    return rows;
  }

  const leaseOf = async ({ pid }: Service) => (await leases()).find(({ owner }) => owner.includes(`:${pid}:`));

  const shared = (...workers: Service[]) =>
    until('all to hold their share and their session lock', async () => {
      const rows = await leases();
      expect(rows).to.have.length(workers.length);
      for (const worker of workers)
        expect(await leaseOf(worker))
          .to.have.property('session')
          .that.is.a('string');
      const { rows: counts } = await testInstance.pool.query<{ count: number }>(
        `select count(*)::int as count from relay_leases where positions <> '{}'`,
      );
      expect(counts[0]?.count).to.equal(workers.length);
      return rows;
    });

  /** Waits until the lease of a killed relay is taken over, and keeps it from expiring meanwhile. */
  const takenOver = (lease: LeaseRow | undefined) =>
    until('the lease to be taken over before its end', async () => {
      const { rowCount } = await testInstance.pool.query(
        `update relay_leases set expires_at = now() + interval '5 seconds' where owner = $1`,
        [lease?.owner],
      );
      return rowCount === 0;
    });

  it('gives the positions of a killed worker to another one before their lease ends', async () => {
    const [killed, other] = await testInstance.onlyWorkers({}, {});
    await shared(killed, other);
    const lease = await leaseOf(killed);
    const { ledger } = await line();
    const posts = Array.from({ length: 40 }, () => ledger.post());
    await killed.kill();
    await takenOver(lease);
    await Promise.all([...posts, ...Array.from({ length: 40 }, () => ledger.post())]);
    await ledger.settle(PATIENCE_MS);
    expect((await leaseOf(other))?.isAll).to.equal(true);
  });

  it('does not keep a worker waiting for the lease of the one that was killed before it', async () => {
    const killed = await testInstance.onlyWorker();
    await shared(killed);
    const lease = await leaseOf(killed);
    await killed.kill();
    const { ledger } = await line();
    await Promise.all(Array.from({ length: 10 }, () => ledger.post()));
    const starting = testInstance.startWorker();
    await takenOver(lease);
    await starting;
    await ledger.settle(PATIENCE_MS);
    for (const id of ledger.acknowledged.keys()) expect(ledger.arrivals(id)).to.equal(1);
  });

  it('starts nothing twice that is in flight when another worker takes its share', async () => {
    const first = await testInstance.onlyWorker();
    await shared(first);
    const gate = Promise.withResolvers<void>();
    const { ledger, endpoint } = await line([{ after: gate.promise }]);
    await Promise.all(Array.from({ length: 30 }, () => ledger.post()));
    await until('attempts to run', () => endpoint.requests.length >= 30);
    const second = await testInstance.startWorker();
    await shared(first, second);
    expect(await leftovers(), 'of the positions that were given up').to.be.within(1, 29);
    // The new one claims: what is posted now arrives, by both. To another destination: the first worker has more than its half of what
    // this one may have under way.
    const later = await line();
    await Promise.all(Array.from({ length: 20 }, () => later.ledger.post()));
    await until('new ones to arrive, too', () => later.endpoint.requests.length >= 20);
    gate.resolve();
    for (const each of [ledger, later.ledger]) {
      await each.settle(PATIENCE_MS);
      for (const id of each.acknowledged.keys()) expect(each.arrivals(id)).to.equal(1);
    }
    await until('nothing to be left over', async () => (await leftovers()) === 0);
  });

  it('leaves what waits to others when a worker is told to end, and lets its own attempts finish', async () => {
    const ending = await testInstance.onlyWorker({ HOOKYARD_SHUTDOWN_SECONDS: '60' });
    await shared(ending);
    const gate = Promise.withResolvers<void>();
    const held = await line([{ after: gate.promise }]);
    await Promise.all(Array.from({ length: 10 }, () => held.ledger.post()));
    await until('attempts to run', () => held.endpoint.requests.length >= 10);
    const ended = ending.stop();
    await until('the worker to begin its end', () => ending.output().includes('worker ends'));
    await testInstance.startWorker();
    const { ledger, endpoint } = await line();
    await Promise.all(Array.from({ length: 10 }, () => ledger.post()));
    await until('what waits to be delivered by the other one', () => endpoint.requests.length >= 10, PATIENCE_MS);
    expect(ending.running, 'the first one is still about to end').to.equal(true);
    gate.resolve();
    expect(await ended).to.equal(0);
    await ledger.settle(PATIENCE_MS);
    await held.ledger.settle(PATIENCE_MS);
    for (const id of held.ledger.acknowledged.keys()) expect(held.ledger.arrivals(id)).to.equal(1);
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
    await until("all positions to be the other one's", async () => (await leaseOf(other))?.isAll === true);
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

  it('lets a worker work on whose lock connection breaks, and has it take the lock again', async () => {
    const [first, second] = await testInstance.onlyWorkers({}, {});
    const before = await shared(first, second);
    const gate = Promise.withResolvers<void>();
    const { ledger, endpoint } = await line([{ after: gate.promise }]);
    await Promise.all(Array.from({ length: 20 }, () => ledger.post()));
    await until('attempts to run', () => endpoint.requests.length >= 20);
    const broken = await lockHolders();
    expect(broken).to.have.length(2);
    await testInstance.pool.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [broken]);
    await until('other connections to hold the locks', async () => {
      const pids = await lockHolders();
      return pids.length === 2 && pids.every((pid) => !broken.includes(pid));
    });
    gate.resolve();
    await ledger.settle(PATIENCE_MS);
    for (const id of ledger.acknowledged.keys()) expect(ledger.arrivals(id)).to.equal(1);
    expect(await shared(first, second), 'nobody was taken for dead').to.deep.equal(before);
  });

  async function leftovers(): Promise<number> {
    const { rows } = await testInstance.pool.query<{ count: number }>(
      'select count(*)::int as count from relay_leftovers',
    );
    return rows[0]?.count ?? 0;
  }

  /** Processes of PostgreSQL that hold the session lock of a relay. */
  const lockHolders = () => sessionLockHolders(testInstance.pool);
});
