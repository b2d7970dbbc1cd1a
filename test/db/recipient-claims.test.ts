import { expect } from 'chai';
import { claimRecipients, findRecipient, forgetUnnamed, withNeverAsked } from '../../db/messages/recipients.ts';
import { insertRoute } from './fixtures.ts';
import { insertSource } from '../support/database/own-database.ts';
import { useDatabase, useMade } from '../support/use-hookyard.ts';
import { execute, selectRows } from '../support/database/sql.ts';

describe('claiming recipients of notifications', () => {
  const { pool } = useDatabase('recipients');
  const flooding = useMade('a source', () => insertSource(pool));
  const quiet = useMade('another source', () => insertSource(pool, 'quiet'));
  beforeEach(() => pool.query('delete from notification_recipients'));

  const add = (organizationId: string, addresses: string[], secondsAgo: number) =>
    execute(pool)`insert into notification_recipients (organization_id, address, ask_at)
      select ${organizationId}, address, now() - make_interval(secs => ${secondsAgo})
      from unnest(${addresses}::text[]) as address`;
  const numbered = (count: number, prefix = 'n') =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}@flooded.example`);

  // A time is stored in whole milliseconds, so that of now may be one that is still to come.
  const letAllBeDue = () => pool.query(`update notification_recipients set ask_at = now() - interval '1 second'`);

  it('takes organizations in turn: 5,000 addresses of one are not in the way of another', async () => {
    await add(flooding.organizationId, numbered(5000), 60);
    await add(quiet.organizationId, ['late@friends.example'], 1);
    const claims = await claimRecipients(pool, 10);
    expect(claims).to.have.length(10);
    expect(claims.filter(({ organizationId }) => organizationId === quiet.organizationId)).to.have.length(1);
  });

  it('lets somebody be asked again after an hour, then after twice as long each time, up to a week', async () => {
    const { organizationId } = flooding;
    const [address = ''] = numbered(1);
    await add(organizationId, [address], 60);
    for (const [count, hours] of [
      [1, 1],
      [2, 2],
      [8, 128],
      [9, 168],
      [1000, 168],
    ] as const) {
      await execute(pool)`update notification_recipients set asked_at = now(), asked_count = ${count}`;
      const { waitSeconds = 0 } = (await findRecipient(pool, organizationId, address)) ?? {};
      expect(waitSeconds / 3600, `after ${count}`).to.be.within(hours - 0.5, hours + 0.1);
    }
  });

  it('puts off addresses that were asked often, and asks others meanwhile', async () => {
    const often = numbered(10);
    for (let count = 0; count < 5; count++) {
      const { organizationId: id } = await insertSource(pool, `other-${count}`);
      await execute(pool)`insert into notification_recipients (organization_id, address, asked_at)
        select ${id}, address, now() from unnest(${often}::text[]) as address`;
    }
    await add(flooding.organizationId, often, 60);
    await add(flooding.organizationId, ['other@friends.example'], 1);
    const claims = await claimRecipients(pool, 10);
    expect(claims.map(({ address }) => address)).to.deep.equal(['other@friends.example']);
    const rows = await selectRows(pool)`select from notification_recipients
      where organization_id = ${flooding.organizationId} and asked_at is null and ask_at > now()`;
    expect(rows).to.have.length(10);
  });

  it('counts mails of which it is not known whether they were sent', async () => {
    await add(quiet.organizationId, ['slow@friends.example'], 60);
    let mails = 0;
    for (let times = 0; times < 8; times++) {
      mails += (await claimRecipients(pool, 10)).length;
      await letAllBeDue();
    }
    expect(mails).to.equal(5);
  });

  it('forgets what no route names, and keeps what one names or somebody was asked', async () => {
    const { organizationId } = flooding;
    await insertRoute(pool, flooding, ['dst_1'], { notify_emails: 'Kept@friends.example, asked@friends.example' });
    await add(organizationId, numbered(450), 60);
    await pool.query(`update notification_recipients set asked_at = now() where address like 'n7_@%'`);
    expect(await withNeverAsked(pool, '', 10)).to.deep.equal([organizationId]);
    expect(await withNeverAsked(pool, organizationId, 10)).to.deep.equal([]);
    const forgotten = await forgetUnnamed(pool, organizationId, null);
    expect(forgotten).to.have.length(440);
    const rows = await selectRows<{ address: string }>(pool)`select address from notification_recipients
      where asked_at is null order by address`;
    expect(rows.map(({ address }) => address)).to.deep.equal(['asked@friends.example', 'kept@friends.example']);
  });

  it('forgets a claimed address only for the claim it belongs to', async () => {
    const { organizationId } = flooding;
    await add(organizationId, ['gone@friends.example'], 1);
    const [claim] = await claimRecipients(pool, 10);
    if (!claim) throw new Error('nothing was claimed');
    expect(claim).to.include({ address: 'gone@friends.example', first: true, organization: 'acme' });
    expect(await forgetUnnamed(pool, organizationId, null)).to.deep.equal([]);
    const other = { ...claim, askedAt: new Date(0) };
    expect(await forgetUnnamed(pool, organizationId, [other])).to.deep.equal([]);
    expect(await forgetUnnamed(pool, organizationId, [claim])).to.deep.equal(['gone@friends.example']);
  });
});
