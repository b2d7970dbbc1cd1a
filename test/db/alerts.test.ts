import { expect } from 'chai';
import { MAX_DIGEST_CHANGES } from '../../core/messages/message.ts';
import { newId } from '../../core/text/ids.ts';
import { inTransaction } from '../../db/connections/pool.ts';
import { createAnnouncements } from '../../db/messages/announcements.ts';
import type { DueMessage } from '../../db/messages/outbox.ts';
import { LOCKS } from '../../db/sql/rules.ts';
import { announcements } from '../../worker/loops/due-workflows.ts';
import { alertRows } from '../support/messages/alert-rows.ts';
import { useDatabase } from '../support/use-hookyard.ts';
import { execute, selectRows } from '../support/database/sql.ts';

const inAnHour = () => new Date(Date.now() + 3_600_000);

describe('alerts that are due', () => {
  const { pool } = useDatabase('alerts', { connections: 8 });
  const { organization, channel, issue, setState, round, claim, sent, told } = alertRows(() => pool);
  afterEach(() => pool.query('with gone as (delete from organizations) delete from issues'));

  it('are one for each change of state, in its order, and none for a change that was undone', async () => {
    const { organizationId } = await channel({ on_acknowledged: true });
    const id = await issue(organizationId);
    const [first, ...others] = await round();
    expect(others).to.deep.equal([]);
    expect(first?.changes).to.deep.equal([{ issueId: id, change: 'opened', before: null, exhausted: false }]);
    await setState(id, 'acknowledged');
    await setState(id, 'resolved');
    expect(await round(), 'the first is still on its way').to.deep.equal([]);
    await sent(first as DueMessage);
    const [second] = await round();
    expect(second?.changes).to.deep.equal([{ issueId: id, change: 'resolved', before: 'opened', exhausted: false }]);
    await sent(second as DueMessage);
    expect(await told()).to.deep.equal([]);
    const brief = await issue(organizationId);
    await setState(brief, 'resolved');
    expect(await told()).to.deep.equal([]);
  });

  it('follow the rules of their channel: kinds, records, count', async () => {
    const owner = await organization();
    const [route, destination, source] = [newId('rte'), newId('dst'), newId('src')];
    const named = await issue(owner, { route_id: route, destination_id: destination, count: 3 });
    const other = await issue(owner, { kind: 'signature_failing', source_id: source, count: 10 });
    const rules: [Record<string, unknown>, string[]][] = [
      [{}, [named, other]],
      [{ kinds: ['signature_failing'] }, [other]],
      [{ kinds: ['circuit_open'] }, []],
      [{ route_ids: [route] }, [named]],
      [{ route_ids: [newId('rte')] }, []],
      [{ destination_ids: [destination] }, [named]],
      [{ source_ids: [source] }, [other]],
      [{ after_count: 4 }, [other]],
      [{ enabled: false }, []],
    ];
    for (const [rule, expected] of rules) {
      const { id } = await channel(rule, owner);
      expect(await told(), JSON.stringify(rule)).to.have.members(expected.map((each) => `opened ${each}`));
      await pool.query('delete from alert_channels where id = $1', [id]);
    }
    // The rule is about whom to tell first: who was told of an issue is told of its end.
    const { id } = await channel({}, owner);
    await told();
    await pool.query(`update alert_channels set kinds = '{circuit_open}' where id = $1`, [id]);
    await setState(named, 'resolved');
    expect(await told()).to.deep.equal([`resolved ${named}`]);
  });

  it('are in a digest as many as it can show, and the rest in the next, which does not wait', async () => {
    const owner = await organization();
    const old = new Date(Date.now() - 600_000);
    for (let n = 0; n < 20; n += 1) await channel({ digest_minutes: 5 }, owner);
    for (let n = 0; n < MAX_DIGEST_CHANGES + 5; n += 1) await issue(owner, { changed_at: old });
    const sizes: number[][] = [];
    // So many channels that one round is not enough.
    for (let turn = 0; turn < 4; turn += 1) {
      const due = await round();
      sizes.push(due.map(({ changes }) => changes.length));
      await Promise.all(due.map(sent));
    }
    expect(new Set(sizes.flat())).to.deep.equal(new Set([MAX_DIGEST_CHANGES, 5]));
    expect(sizes.flat().filter((size) => size === MAX_DIGEST_CHANGES)).to.have.length(20);
    expect(sizes.flat().filter((size) => size === 5)).to.have.length(20);
    await issue(owner, { changed_at: old });
    expect(await round(), 'this one does').to.deep.equal([]);
  });

  it('are made once, also by several workers at a time', async () => {
    const owners = await Promise.all(Array.from({ length: 5 }, organization));
    for (const owner of owners) {
      const answered = { last_sent_at: new Date() };
      await Promise.all([channel(answered, owner), channel(answered, owner)]);
      await Promise.all(Array.from({ length: 10 }, () => issue(owner)));
    }
    const rounds = await Promise.all(
      Array.from({ length: 6 }, async () => {
        for (let turn = 0; turn < 5; turn += 1) await createAnnouncements(pool, '');
        return claim(1000);
      }),
    );
    const claimed = [...rounds.flat(), ...(await round())];
    expect(claimed).to.have.length(100);
    const about = claimed.map(({ channelId, changes }) => `${channelId} ${changes[0]?.issueId}`);
    expect(new Set(about).size).to.equal(100);
  });

  it('come back when the worker that claimed them has died', async () => {
    const { organizationId } = await channel();
    await issue(organizationId);
    const [claimed] = await round();
    expect(await claim(10)).to.deep.equal([]);
    await pool.query(`update messages set due_at = now() - interval '1 second'`);
    expect(await claim(10)).to.deep.equal([claimed]);
  });

  it('are bounded for each channel, and what is beyond comes later', async () => {
    const { organizationId } = await channel();
    for (let n = 0; n < 130; n += 1) await issue(organizationId);
    const first = await round();
    expect(first, 'until it has taken one').to.have.length(5);
    await Promise.all(first.map(sent));
    const second = await round();
    expect(second).to.have.length(100);
    expect(await round()).to.deep.equal([]);
    await Promise.all(second.map(sent));
    expect(await round()).to.have.length(25);
  });

  it('have their turn in every channel, also while another worker is at it', async () => {
    const owner = await organization();
    for (let n = 0; n < 201; n += 1) await channel({ kinds: ['circuit_open'] }, owner);
    await pool.query(`update alert_channels set kinds = null where id = (select max(id) from alert_channels)`);
    await issue(owner);
    const look = announcements(pool);
    await look();
    await inTransaction(pool, async (db) => {
      await db.query('select pg_advisory_xact_lock($1)', [LOCKS.messages]);
      await look();
    });
    await look();
    expect(await claim(10)).to.have.length(1);
  });

  it('are looked for in fewer channels at a time where there are many issues', async () => {
    const owner = await organization();
    await execute(pool)`insert into issues (id, organization_id, kind, cause, first_seen_at, last_seen_at, count)
      select 'iss_' || lpad(n::text, 28, '0'), ${owner}, 'delivery_failing', n::text, now(), now(), 1
      from generate_series(1, 1000) n`;
    const channels: string[] = [];
    for (let n = 0; n < 30; n += 1) channels.push((await channel({ kinds: ['circuit_open'] }, owner)).id);
    const other = await channel();
    await issue(other.organizationId);
    expect(await createAnnouncements(pool, '')).to.deep.equal({ created: 0, last: channels.toSorted()[19] });
    expect(await round()).to.have.length(1);
  });

  // The rules of channels: test/core/announcements.test.ts.
  it('are claimed although the clock was set back', async () => {
    const { organizationId } = await channel();
    const id = await issue(organizationId, { changed_at: inAnHour() });
    await createAnnouncements(pool, '');
    await pool.query('update messages set created_at = $1, due_at = $1', [inAnHour()]);
    expect(await told()).to.deep.equal([`opened ${id}`]);
  });

  it('go with their channel and their organization', async () => {
    const { id, organizationId } = await channel();
    await issue(organizationId);
    await round();
    await pool.query('delete from alert_channels where id = $1', [id]);
    const rows = await selectRows(pool)`select (select count(*)::int from messages) as messages, (select count(*)::int
      from alert_announcements) as told`;
    expect(rows).to.deep.equal([{ messages: 0, told: 0 }]);
  });
});
