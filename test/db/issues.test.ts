import { expect } from 'chai';
import { IssueCounts } from '../../core/messages/issue-counts.ts';
import { newId } from '../../core/text/ids.ts';
import {
  ISSUE_DAYS,
  type Issue,
  issueSubjects,
  MAX_CAUSES,
  MAX_ISSUES,
  REOPENS_WITHIN_MINUTES,
} from '../../core/messages/issues.ts';
import { changeIssue, findIssue, listIssues } from '../../db/issues/list-issues.ts';
import { recordIssues, resolveRecovered } from '../../db/issues/record-issues.ts';
import { inTransaction, type Queryable } from '../../db/connections/pool.ts';
import { forgetIssues } from '../../db/operations/expired.ts';
import { insertRoute } from './fixtures.ts';
import { addOwner, type EventOwner } from '../support/database/new-events.ts';
import { useDatabase } from '../support/use-hookyard.ts';

const HOUR = 3600;

describe('issues in PostgreSQL', () => {
  const { pool } = useDatabase('issues', { connections: 12 });
  let owner: EventOwner;
  let routeId: string;
  beforeEach(async () => {
    owner = await addOwner(pool);
    routeId = await insertRoute(pool, owner, []);
  });

  async function destinations(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => newId('dst'));
    await pool.query(
      `insert into destinations (id, organization_id, name, slug, type, url, method, auth_type, timeout_ms, retry_policy)
       select id, $2, id, id, 'http', 'http://127.0.0.1/', 'POST', 'none', 5000, '{}' from unnest($1::text[]) id`,
      [ids, owner.organizationId],
    );
    return ids;
  }
  const subjectOf = (destinationId = '', { organizationId } = owner) =>
    issueSubjects.delivery(organizationId, routeId, destinationId);

  /** Stores what `count` counts, as one process does. */
  async function stored(count: (counts: IssueCounts) => void, db: Queryable = pool): Promise<void> {
    const counts = new IssueCounts();
    count(counts);
    const { failing, working } = counts.subjects();
    await recordIssues(db, failing, working);
  }
  const fail = (destinationId: string | undefined, times: number, cause = 'HTTP_500', isFinal = false) =>
    stored((counts) => {
      for (let n = 0; n < times; n += 1) counts.failed(subjectOf(destinationId), { cause, at: Date.now(), isFinal });
    });
  const work = (destinationId: string | undefined) => stored((counts) => counts.worked(subjectOf(destinationId)));
  const issues = async (of = owner) =>
    (await listIssues(pool, of.organizationId, {}, { limit: 5000, offset: 0 })).issues;
  const totalOf = (all: Issue[]) => all.reduce((sum, { count }) => sum + count, 0);
  async function only(): Promise<Issue> {
    const [issue, ...others] = await issues();
    if (!issue || others.length > 0) throw new Error(`${others.length} others`);
    return issue;
  }
  const rowsOf = async (table: string) =>
    (await pool.query(`select from ${table} where organization_id = $1`, [owner.organizationId])).rowCount;

  it('open after so many failures in a row, counted over all processes, with those before', async () => {
    const [destination] = await destinations(1);
    const began = Date.now();
    await fail(destination, 2);
    await fail(destination, 2, 'TIMEOUT');
    expect(await issues()).to.deep.equal([]);
    await fail(destination, 1);
    const issue = await only();
    expect(issue).to.include({ kind: 'delivery_failing', state: 'open', cause: 'HTTP_500', count: 5, routeId });
    expect(issue).to.include({ destinationId: destination, sourceId: null, sampleEventId: null, resolvedAt: null });
    expect(issue.firstSeenAt.getTime()).to.be.within(began, issue.lastSeenAt.getTime());
    await fail(destination, 3);
    await fail(destination, 1, 'TIMEOUT');
    const counted = (await issues()).map(({ cause, count }) => `${cause} ${count}`).toSorted();
    expect(counted, 'what fails already has an issue for each cause').to.deep.equal(['HTTP_500 8', 'TIMEOUT 1']);
  });

  it('do not open when something works in between, in whichever process', async () => {
    const [destination] = await destinations(1);
    for (let round = 0; round < 3; round += 1) {
      await fail(destination, 4);
      await work(destination);
    }
    await fail(destination, 4);
    await stored((counts) => {
      counts.worked(subjectOf(destination));
      for (let n = 0; n < 4; n += 1) counts.failed(subjectOf(destination), { cause: 'HTTP_500', at: Date.now() });
    });
    expect(await issues()).to.deep.equal([]);
    await fail(destination, 1);
    expect((await only()).count).to.equal(5);
  });

  it('are one for each failure, however many processes count it at the same moment', async () => {
    const ids = await destinations(3);
    await Promise.all(
      Array.from({ length: 12 }, () =>
        stored((counts) => {
          for (const id of ids.toReversed()) {
            counts.failed(subjectOf(id), { cause: 'HTTP_500', at: Date.now(), isFinal: true });
            counts.failed(subjectOf(id), { cause: 'TIMEOUT', at: Date.now(), isFinal: true });
          }
        }),
      ),
    );
    const all = await issues();
    expect(all.map(({ count }) => count)).to.deep.equal(Array(6).fill(12));
  });

  it('resolve when it works after the last failure, and nothing has failed for some time', async () => {
    const [failing, other] = await destinations(2);
    await fail(failing, 1, 'HTTP_500', true);
    await fail(failing, 1, 'TIMEOUT', true);
    await fail(other, 1, 'HTTP_500', true);
    const states = async () => (await issues()).toReversed().map(({ cause, state }) => `${cause} ${state}`);
    const open = ['HTTP_500 open', 'TIMEOUT open', 'HTTP_500 open'];
    await resolveRecovered(pool, 0);
    expect(await states()).to.deep.equal(open);
    await work(failing);
    await resolveRecovered(pool, HOUR);
    expect(await states(), 'it is too early').to.deep.equal(open);
    await fail(failing, 1, 'TIMEOUT');
    await resolveRecovered(pool, 0);
    const again = ['HTTP_500 resolved', 'TIMEOUT open', 'HTTP_500 open'];
    expect(await states(), 'what failed again has not recovered').to.deep.equal(again);
    await stored((counts) => {
      counts.failed(subjectOf(failing), { cause: 'TIMEOUT', at: Date.now() });
      counts.worked(subjectOf(failing));
    });
    await resolveRecovered(pool, 0);
    expect(await states()).to.deep.equal(['HTTP_500 resolved', 'TIMEOUT resolved', 'HTTP_500 open']);
    const [, second] = (await issues()).toReversed();
    expect(second).to.include({ count: 3 });
    expect(second?.resolvedAt).to.deep.equal(second?.changedAt);
    await fail(failing, 1, 'TIMEOUT', true);
    expect(await states(), 'the same one').to.deep.equal(['HTTP_500 resolved', 'TIMEOUT open', 'HTTP_500 open']);
  });

  it('open again with their id when it fails within an hour after they were resolved', async () => {
    const [destination] = await destinations(1);
    await fail(destination, 2, 'HTTP_500', true);
    const first = await only();
    await work(destination);
    await resolveRecovered(pool, 0);
    expect(await only()).to.include({ state: 'resolved' });
    await Promise.all(Array.from({ length: 6 }, () => fail(destination, 1, 'HTTP_500', true)));
    const again = await only();
    expect(again).to.deep.include({ id: first.id, state: 'open', count: 8, resolvedAt: null });
    expect(again.openedAt).to.deep.equal(first.openedAt);
    await resolveRecovered(pool, 0);
    expect((await only()).state, 'it has not recovered').to.equal('open');
    await work(destination);
    await resolveRecovered(pool, 0);
    await fail(destination, 1, 'TIMEOUT', true);
    const other = (await issues()).find(({ cause }) => cause === 'TIMEOUT');
    expect(other?.id, 'another cause').not.to.equal(first.id);
    await pool.query(`update issues set resolved_at = now() - make_interval(mins => $2) where id = $1`, [
      first.id,
      REOPENS_WITHIN_MINUTES + 1,
    ]);
    await fail(destination, 1, 'HTTP_500', true);
    const [newest] = await issues();
    expect(newest, 'too late').to.include({ cause: 'HTTP_500', state: 'open', count: 1 });
    expect(newest?.id).not.to.equal(first.id);
    expect(await findIssue(pool, owner.organizationId, first.id)).to.include({ state: 'resolved', count: 8 });
  });

  it('that are ignored count on and stay, acknowledged ones resolve themselves', async () => {
    const [first, second] = await destinations(2);
    await fail(first, 1, 'HTTP_500', true);
    await fail(second, 1, 'HTTP_500', true);
    const [acknowledged, ignored] = await issues();
    if (!acknowledged || !ignored) throw new Error('two were asked for');
    const set = ({ id }: Issue, state: Issue['state']) => changeIssue(pool, owner.organizationId, id, state);
    await set(acknowledged, 'acknowledged');
    await set(ignored, 'ignored');
    await fail(first, 2);
    await fail(second, 2);
    await work(first);
    await work(second);
    await resolveRecovered(pool, 0);
    const states = async () => (await issues()).map(({ state, count }) => `${state} ${count}`);
    expect(await states()).to.deep.equal(['resolved 3', 'ignored 3']);
    expect(await changeIssue(pool, newId('org'), ignored.id, 'open'), 'of another organization').to.equal(null);
    expect(await set(ignored, 'open')).to.include({ state: 'open', resolvedAt: null });
    await work(first);
    await resolveRecovered(pool, 0);
    expect(await states()).to.deep.equal(['resolved 3', 'resolved 3']);
  });

  it('are bounded by causes and by organization, lose no count, and cost their number, however many there are', async () => {
    const [destination = ''] = await destinations(1);
    for (let round = 0; round < 4; round += 1) {
      await stored((counts) => {
        for (let n = 0; n < 100; n += 1)
          counts.failed(subjectOf(destination), { cause: `HTTP_${round}_${n}`, at: Date.now(), isFinal: true });
      });
    }
    const ofOne = await issues();
    expect(ofOne.length).to.be.within(2, MAX_CAUSES + 1);
    expect(totalOf(ofOne)).to.equal(400);

    const many = await destinations(MAX_ISSUES + 400);
    const step = 200;
    for (let at = 0; at < many.length; at += step) {
      await inTransaction(pool, async (db) => {
        await stored((counts) => {
          for (const id of many.slice(at, at + step))
            counts.failed(subjectOf(id), { cause: 'HTTP_500', at: Date.now(), isFinal: true });
        }, db);
        const { rows } = await db.query<{ read: number }>(
          `select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relname = 'issues'`,
        );
        // What was there once, and a few for each new one; one look at all that was there for each would be 200 times
        // 800.
        expect(rows[0]?.read).to.be.within(1, 30_000);
      });
    }
    const all = await issues();
    expect(all.length).to.equal(MAX_ISSUES + 1);
    expect(totalOf(all)).to.equal(400 + many.length);
    const together = all.filter(({ routeId: route, destinationId }) => route === null && destinationId === null);
    expect(together.map(({ kind, cause }) => `${kind} ${cause}`)).to.deep.equal(['delivery_failing OTHER']);
    await resolveRecovered(pool, 0);
    const left = await listIssues(pool, owner.organizationId, { state: 'open' }, { limit: 1, offset: 0 });
    expect(left.total, 'nothing can say that these have recovered').to.equal(MAX_ISSUES);
  });

  it('that a final failure opens count the failures in a row before it, and none twice', async () => {
    const [first, second] = await destinations(2);
    const began = Date.now();
    await fail(first, 2, 'TIMEOUT');
    await fail(first, 1, 'HTTP_500', true);
    const issue = await only();
    expect(issue).to.include({ cause: 'HTTP_500', count: 3 });
    expect(issue.firstSeenAt.getTime()).to.be.within(began, issue.lastSeenAt.getTime());
    const counts = async () => (await issues()).map(({ cause, count }) => `${cause} ${count}`).toSorted();
    await fail(first, 1, 'TLS', true);
    await fail(first, 1, 'HTTP_500');
    expect(await counts(), 'its own only').to.deep.equal(['HTTP_500 4', 'TLS 1']);
    for (const { id } of await issues()) await changeIssue(pool, owner.organizationId, id, 'resolved');
    await fail(first, 1, 'DNS', true);
    expect(await counts(), 'resolved while it fails').to.deep.equal(['DNS 1', 'HTTP_500 4', 'TLS 1']);
    await work(first);
    await fail(first, 1, 'TIMEOUT');
    await fail(first, 1, 'HTTP_500', true);
    expect(await counts(), 'a row of its own').to.deep.equal(['DNS 1', 'HTTP_500 6', 'TLS 1']);

    await fail(second, 1);
    await Promise.all(['A', 'B', 'C', 'D'].map((cause) => fail(second, 1, cause, true)));
    const ofSecond = (await issues()).filter(({ destinationId }) => destinationId === second);
    expect(totalOf(ofSecond), 'at the same moment').to.be.within(4, 5);
  });

  it('are not opened of what was deleted, and those that there are resolve', async () => {
    const [destination, gone] = await destinations(2);
    await fail(destination, 1, 'HTTP_500', true);
    await changeIssue(pool, owner.organizationId, (await only()).id, 'ignored');
    await pool.query('delete from destinations where id = any($1)', [[destination, gone]]);
    expect((await only()).state).to.equal('resolved');
    await fail(gone, 1, 'HTTP_500', true);
    expect(await issues()).to.have.length(1);
  });

  it('are tidied by housekeeping: old ones, and those that cannot end otherwise', async () => {
    const [destination] = await destinations(1);
    await fail(destination, 1, 'HTTP_500', true);
    await stored((counts) => {
      const { organizationId } = owner;
      counts.failed(issueSubjects.schema(organizationId, routeId), { cause: 'SCHEMA_MISMATCH', at: Date.now() });
      counts.failed(issueSubjects.transform(organizationId, routeId), { cause: 'EXCEPTION', at: Date.now() });
      const refused = { cause: 'MAIL_REFUSED', at: Date.now(), isFinal: true };
      counts.failed(issueSubjects.notification(organizationId, routeId), refused);
    });
    await forgetIssues(pool);
    const states = async () => (await issues()).map(({ kind, state }) => `${kind} ${state}`).toSorted();
    expect(await states(), 'the route has neither schema nor transform nor addresses').to.deep.equal([
      'delivery_failing open',
      'notification_failing resolved',
      'schema_refusing resolved',
      'transform_failing resolved',
    ]);
    const aged = (table: string, column: string, days: number) =>
      pool.query(`update ${table} set ${column} = now() - make_interval(days => $2) where organization_id = $1`, [
        owner.organizationId,
        days,
      ]);
    await aged('issues', 'resolved_at', ISSUE_DAYS - 1);
    await forgetIssues(pool);
    expect(await issues()).to.have.length(4);
    await aged('issues', 'resolved_at', ISSUE_DAYS + 1);
    await aged('issue_streaks', 'last_at', ISSUE_DAYS + 1);
    await forgetIssues(pool);
    expect(await states()).to.deep.equal(['delivery_failing open']);
    expect(await rowsOf('issue_streaks')).to.equal(0);
  });
});
