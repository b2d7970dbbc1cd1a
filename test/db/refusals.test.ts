import { expect } from 'chai';
import { pino } from 'pino';
import { ApiError } from '../../api/request/errors.ts';
import { IngestIssues, Refusals } from '../../api/ingest/refusals.ts';
import { newId } from '../../core/text/ids.ts';
import { IssueCounts } from '../../core/messages/issue-counts.ts';
import type { RefusalCount, RefusedWebhook } from '../../core/ingest/refusals.ts';
import { deleteSource } from '../../db/delivery/deletions.ts';
import { createPool, inTransaction } from '../../db/connections/pool.ts';
import { readRefusals, recordRefusals } from '../../db/history/refusals.ts';
import { forgetRefusals } from '../../db/operations/expired.ts';
import { addOwner, type EventOwner } from '../support/database/new-events.ts';
import { arrivalTo } from '../support/organizations/refusals.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { useDatabase, useEach } from '../support/use-hookyard.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KEPT = 100;
const REFUSED = new ApiError(401, 'INVALID_SIGNATURE', 'The signature does not match');
const issues = new IngestIssues(new IssueCounts());

function sampleOf(owner: EventOwner, at: number): RefusedWebhook {
  return {
    ...owner,
    ...{ id: newId('ref', at), at: new Date(at), limit: null, status: 401, message: 'no' },
    ...{ method: 'POST', clientAddress: '192.0.2.1', headers: { 'x-a': 'b' }, payloadSize: 2 },
    cause: 'signature',
    payloadStart: Buffer.from('{}'),
  };
}
const samples = (owner: EventOwner, count: number, at = Date.now()) =>
  Array.from({ length: count }, () => sampleOf(owner, at));
function countOf(owner: EventOwner, count: number, at = Date.now()): RefusalCount {
  return { ...owner, cause: 'signature', limit: null, hour: at - (at % HOUR_MS), count, lastAt: at };
}

describe('refused webhooks in PostgreSQL', () => {
  const { database, pool } = useDatabase('refusals', { connections: 8 });
  const owner = useEach(() => addOwner(pool));

  const ALL = { withPayload: true, step: 'day', since: new Date(0) } as const;
  const listed = (of = owner) => readRefusals(pool, of, ALL, { limit: KEPT, offset: 0 });
  const rowsOf = async (table: string, of = owner) =>
    (await pool.query(`select from ${table} where source_id = $1`, [of.sourceId])).rowCount;
  const counted = async (of = owner) => (await listed(of)).counts.reduce((sum, { count }) => sum + count, 0);

  it('are kept up to a number for each source, the last ones', async () => {
    const other = await addOwner(pool);
    await recordRefusals(pool, [countOf(other, 1)], samples(other, 1));
    const all: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      const added = samples(owner, 45);
      all.push(...added.map(({ id }) => id));
      await recordRefusals(pool, [countOf(owner, 45)], added);
      expect(await rowsOf('refused_webhooks')).to.equal(Math.min(KEPT, all.length));
    }
    const { refusals, total } = await listed();
    expect(total).to.equal(KEPT);
    expect(refusals.map(({ id }) => id)).to.deep.equal(all.slice(-KEPT).toReversed());
    expect(await counted()).to.equal(6 * 45);
    expect(await rowsOf('refusal_counts')).to.equal(1);
    expect(await rowsOf('refused_webhooks', other)).to.equal(1);
  });

  it('are counted exactly, and stay bounded, when many processes store at once', async () => {
    const others = await Promise.all([addOwner(pool), addOwner(pool)]);
    const owners = [owner, ...others];
    await Promise.all(
      Array.from({ length: 30 }, (_, n) => {
        const turned = [...owners.slice(n % 3), ...owners.slice(0, n % 3)];
        return recordRefusals(
          pool,
          turned.map((of) => countOf(of, 7)),
          turned.flatMap((of) => samples(of, 30)),
        );
      }),
    );
    for (const of of owners) {
      expect(await counted(of)).to.equal(30 * 7);
      expect((await listed(of)).total, 'no more are shown').to.equal(KEPT);
      await recordRefusals(pool, [countOf(of, 1)], samples(of, 1));
      expect(await rowsOf('refused_webhooks', of), 'and the next statement removes the others').to.equal(KEPT);
    }
  });

  it('of a source that is gone are left out, and go with their source', async () => {
    const gone = { ...owner, sourceId: newId('src') };
    const locked = await recordRefusals(
      pool,
      [countOf(gone, 3), countOf(owner, 4)],
      [...samples(gone, 3), ...samples(owner, 4)],
    );
    expect([...locked]).to.deep.equal([]);
    expect([await rowsOf('refused_webhooks', gone), await rowsOf('refusal_counts', gone)]).to.deep.equal([0, 0]);
    expect([await rowsOf('refused_webhooks'), await rowsOf('refusal_counts')]).to.deep.equal([4, 1]);
    await deleteSource(pool, owner.organizationId, owner.sourceId);
    expect([await rowsOf('refused_webhooks'), await rowsOf('refusal_counts')]).to.deep.equal([0, 0]);
  });

  it('of a source that is being changed wait for it, and nobody else does', async () => {
    const other = await addOwner(pool);
    await inTransaction(pool, async (db) => {
      await db.query('select from sources where id = $1 for update', [owner.sourceId]);
      const locked = await recordRefusals(
        pool,
        [countOf(owner, 2), countOf(other, 3)],
        [...samples(owner, 2), ...samples(other, 3)],
      );
      expect([...locked]).to.deep.equal([owner.sourceId]);
      expect([await counted(), await counted(other)]).to.deep.equal([0, 3]);
    });
  });

  it('go after 30 days, or with the payloads of their time', async () => {
    const store = async (days: number) => {
      const at = Date.now() - days * DAY_MS;
      await recordRefusals(pool, [countOf(owner, 1, at)], samples(owner, 1, at));
    };
    for (const days of [0, 4, 6, 29, 31, 200]) await store(days);
    const left = async () => [await rowsOf('refused_webhooks'), await rowsOf('refusal_counts')];
    expect(await left()).to.deep.equal([6, 6]);
    expect(await forgetRefusals(pool, null)).to.equal(false);
    expect(await left()).to.deep.equal([4, 4]);
    await forgetRefusals(pool, 90);
    expect(await left()).to.deep.equal([4, 4]);
    await forgetRefusals(pool, 5);
    expect(await left()).to.deep.equal([2, 2]);
  });

  it('are not counted twice when the connection breaks, and the log says how many may be missing', async () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => lines.push(line) });
    const told = (text: string) => lines.filter((line) => line.includes(text));
    const url = new URL(database.databaseUrl);
    const proxy = await startTcpProxy(url.host);
    url.host = proxy.address;
    const behindProxy = createPool(url.href, { max: 1, statementTimeoutMs: 20_000, onError: () => {} });
    try {
      await behindProxy.query('select 1');
      const refusals = new Refusals({ issues, pool: behindProxy, log, everyMs: 20 });
      proxy.holdAnswers();
      for (let n = 0; n < 12; n += 1) refusals.note(arrivalTo(owner), REFUSED);
      await until('them to be stored', async () => (await counted()) === 12);
      proxy.breakConnections();
      await until('the line in the log', () => told('failed to count some refused webhooks').length > 0);
      expect(told('"count":12')).to.have.length(1);
      refusals.note(arrivalTo(owner), REFUSED);
      await until('the next one', async () => (await counted()) === 13);
      await refusals.close();
      expect(await counted()).to.equal(13);
    } finally {
      await behindProxy.end();
      await proxy.close();
    }
  });
});
