import { expect } from 'chai';
import { type DueMessage, finishMessage, giveUpMessage } from '../../db/messages/outbox.ts';
import { noteArrived, noteNotifying } from '../../db/messages/alert-channels.ts';
import { alertRows } from '../support/messages/alert-rows.ts';
import { useDatabase } from '../support/use-hookyard.ts';
import { selectRows, selectValue } from '../support/database/sql.ts';

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
const REASON = 'The channel returned 410';

describe('alerts that do not arrive', () => {
  const { pool } = useDatabase('alerts_failing', { connections: 8 });
  const { organization, channel, issue, setState, round, sent, told } = alertRows(() => pool);
  afterEach(() => pool.query('with gone as (delete from organizations) delete from issues'));

  const giveUp = (message: DueMessage | undefined) => giveUpMessage(pool, keyOf(message), REASON);
  const keyOf = (message: DueMessage | undefined) => {
    if (!message) throw new Error('there is no message');
    const { organizationId, messageId } = message;
    return { organizationId, messageId };
  };
  // Longer than channels that fail are left alone: a time is rounded to its millisecond, so one that is just over may
  // be still to come.
  const passTheWait = () =>
    pool.query(`update alert_channels set failed_at = now() - interval '16 minutes' where failed_at is not null`);
  const setEnabled = (id: string, enabled: boolean) =>
    pool.query('update alert_channels set enabled = $2 where id = $1', [id, enabled]);

  it('are told when their channel, disabled meanwhile, is enabled again', async () => {
    const { id, organizationId } = await channel();
    const first = await issue(organizationId);
    const [opened] = await round();
    await setEnabled(id, false);
    await finishMessage(pool, keyOf(opened), 'unwanted');
    await setEnabled(id, true);
    expect(await told()).to.deep.equal([`opened ${first}`]);
    await setState(first, 'resolved');
    const [resolved] = await round();
    await setEnabled(id, false);
    await finishMessage(pool, keyOf(resolved), 'unwanted');
    await setEnabled(id, true);
    expect(await told()).to.deep.equal([`resolved ${first}`]);
  });

  it('that are given up mark their channel, and another one is told, once until it works again', async () => {
    const owner = await organization();
    const pager = await channel({ type: 'pagerduty' }, owner);
    const broken = await channel({ kinds: ['delivery_failing'] }, owner);
    const other = await channel({ kinds: ['circuit_open'] }, owner);
    await pool.query(`update alert_channels set kinds = '{circuit_open}' where id = $1`, [pager.id]);
    const id = await issue(owner);
    const [message] = await round();
    const key = { organizationId: owner, messageId: message?.messageId ?? '' };
    const given = { channelId: broken.id, type: 'slack', notifiedChannelId: other.id };
    expect(await giveUpMessage(pool, key, 'The channel returned 410')).to.deep.equal(given);
    expect(await giveUpMessage(pool, key, 'The channel returned 410'), 'a repeat').to.equal(null);
    const state = async () => {
      const rows = await selectRows<{ failing: boolean; error: string | null }>(pool)`select failing_since is not null
        as failing, last_error as error from alert_channels where id = ${broken.id}`;
      return rows[0];
    };
    expect(await state()).to.deep.equal({ failing: true, error: 'The channel returned 410' });
    const [failing, ...others] = await round();
    expect(others, 'it is left alone for a while').to.deep.equal([]);
    expect(failing).to.include({ kind: 'failing', channelId: other.id });
    expect(failing?.changes.map(({ issueId }) => issueId)).to.deep.equal([id]);
    await sent(failing as DueMessage);
    // Afterwards it is told what it has not been told, and nobody else once more.
    await passTheWait();
    const [again] = await round();
    expect(again?.changes).to.deep.equal([{ issueId: id, change: 'opened', before: null, exhausted: false }]);
    await giveUpMessage(pool, { organizationId: owner, messageId: again?.messageId ?? '' }, 'The channel returned 410');
    expect(await round()).to.deep.equal([]);
    await passTheWait();
    const [third] = await round();
    await sent(third as DueMessage);
    expect(await state()).to.deep.equal({ failing: false, error: null });
  });

  it('are passed on by a channel that fails as well, to one that was not tried', async () => {
    const owner = await organization();
    const broken = await channel({}, owner);
    const second = await channel({ kinds: ['circuit_open'], created_at: hoursAgo(2) }, owner);
    const third = await channel({ kinds: ['circuit_open'], created_at: hoursAgo(1) }, owner);
    const fourth = await channel({ kinds: ['circuit_open'], type: 'pagerduty' }, owner);
    const id = await issue(owner);
    await giveUp((await round())[0]);
    const [toSecond] = await round();
    expect(toSecond).to.include({ kind: 'failing', channelId: second.id });
    // Known as failing before it gives this one up.
    await pool.query('update alert_channels set failing_since = now(), failed_at = now() where id = $1', [second.id]);
    expect(await giveUp(toSecond)).to.include({ channelId: second.id, notifiedChannelId: third.id });
    const [toThird, ...others] = await round();
    expect(others).to.deep.equal([]);
    expect(toThird?.changes.map(({ issueId }) => issueId)).to.deep.equal([id]);
    expect(await about(toThird)).to.equal(broken.id);
    // Disabled meanwhile.
    await setEnabled(third.id, false);
    await finishMessage(pool, keyOf(toThird), 'unwanted');
    const [toFourth] = await round();
    expect(toFourth).to.include({ kind: 'failing', channelId: fourth.id });
    expect(await about(toFourth)).to.equal(broken.id);
    expect(await giveUp(toFourth)).to.include({ notifiedChannelId: null });
    expect(await round()).to.deep.equal([]);
  });

  it('are over when the channel works again: anyone who was told that it fails is told so, in this order', async () => {
    const owner = await organization();
    const broken = await channel({}, owner);
    const pager = await channel({ type: 'pagerduty', kinds: ['circuit_open'] }, owner);
    await issue(owner);
    await giveUp((await round())[0]);
    const toPager = async () => {
      await pool.query(`update messages set due_at = now() - interval '1 second'`);
      return (await round()).filter(({ channelId }) => channelId === pager.id);
    };
    const [failing] = await toPager();
    await noteNotifying(pool, keyOf(failing));
    await noteArrived(pool, broken);
    expect(
      (await toPager()).map(({ kind }) => kind),
      'the first is still on its way',
    ).to.deep.equal(['failing']);
    await sent(failing as DueMessage);
    const [recovered, ...others] = await toPager();
    expect(others).to.deep.equal([]);
    expect(recovered).to.deep.include({ kind: 'recovered', changes: [] });
    expect(await about(recovered)).to.equal(broken.id);
    await sent(recovered as DueMessage);
    await noteArrived(pool, broken);
    expect(await toPager(), 'once').to.deep.equal([]);
  });

  it('are one at a time while their channel fails', async () => {
    const { organizationId } = await channel({ last_sent_at: new Date() });
    for (let n = 0; n < 10; n += 1) await issue(organizationId);
    for (const each of await round()) await giveUp(each);
    await passTheWait();
    const probes = await round();
    expect(probes).to.have.length(1);
    expect(await round()).to.deep.equal([]);
    const [probe] = probes;
    await sent(probe as DueMessage);
    expect(await round()).to.have.length(9);
  });

  function about(message: DueMessage | undefined): Promise<string> {
    return selectValue<string>(pool)`select failing_channel_id as id from messages
      where organization_id = ${message?.organizationId} and id = ${message?.messageId}`;
  }
});
