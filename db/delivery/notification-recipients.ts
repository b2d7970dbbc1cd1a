// Addresses that routes notify: whose owners have agreed, and whom to ask (migration 0039).
// Rules: NOTE-08 to NOTE-11.
import type { Queryable } from '../pool.ts';

export interface Recipient {
  address: string;
  confirmedAt: Date | null;
  askedAt: Date | null;
}

/** An owner to be asked. */
export interface Asked {
  organizationId: string;
  /** Its slug. */
  organization: string;
  address: string;
}

// A stranger's address is asked for by whoever writes it into a route. So an organization sends about this many such mails an hour,
// and one address gets about that many a day from all organizations together.
const PER_ORGANIZATION_AND_HOUR = 30;
const PER_ADDRESS_AND_DAY = 5;

// Addresses that no route names any more. Those that were asked stay, so that writing them again is no way to ask again.
const FORGET = `
delete from notification_recipients n
where confirmed_at is null and asked_at is null and ask_at <= now()
  and not exists (
    select from routes r where r.organization_id = n.organization_id and n.address = any(notified_addresses(r.notify_emails))
  )`;

// Rows are locked while they are claimed and moved ahead in time, so each is claimed by one worker, and comes back when sending
// fails. Workers that claim at the same time may each count before the other: the limits are approximate.
const CLAIM = `
with due as (
  select n.organization_id, n.address from notification_recipients n
  where n.confirmed_at is null and n.ask_at <= now()
    and (select count(*) from notification_recipients o
         where o.organization_id = n.organization_id and o.asked_at > now() - interval '1 hour') < ${PER_ORGANIZATION_AND_HOUR}
    and (select count(*) from notification_recipients o
         where o.address = n.address and o.asked_at > now() - interval '1 day') < ${PER_ADDRESS_AND_DAY}
  order by n.ask_at limit $1 for update of n skip locked
)
update notification_recipients n set ask_at = now() + interval '300 seconds', asked_at = now()
from due d join organizations o on o.id = d.organization_id
where n.organization_id = d.organization_id and n.address = d.address
returning n.organization_id as "organizationId", o.slug as organization, n.address`;

/** Claims owners to be asked; one whose mail cannot be sent comes back after five minutes. */
export async function claimRecipients(db: Queryable, limit: number): Promise<Asked[]> {
  await db.query(FORGET);
  return (await db.query<Asked>(CLAIM, [limit])).rows;
}

/** The mail was sent, or will never be. */
export async function noteAsked(db: Queryable, { organizationId, address }: Asked): Promise<void> {
  await db.query(
    `update notification_recipients set ask_at = null, asked_count = asked_count + 1
     where organization_id = $1 and address = $2`,
    [organizationId, address],
  );
}

/** @returns false when the organization no longer knows the address */
export async function confirmRecipient(
  db: Queryable,
  { organizationId, address }: Pick<Asked, 'organizationId' | 'address'>,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update notification_recipients set confirmed_at = coalesce(confirmed_at, now()), ask_at = null
     where organization_id = $1 and address = $2`,
    [organizationId, address],
  );
  return rowCount === 1;
}

/** Those of the addresses, in lower case, whose owners have agreed. */
export async function confirmedAddresses(
  db: Queryable,
  organizationId: string,
  addresses: readonly string[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ address: string }>(
    `select address from notification_recipients
     where organization_id = $1 and address = any($2::text[]) and confirmed_at is not null`,
    [organizationId, addresses],
  );
  return new Set(rows.map(({ address }) => address));
}

const MEMBERS = 'address, confirmed_at as "confirmedAt", asked_at as "askedAt"';

/** A page in the order of addresses, and how many there are. */
export async function listRecipients(
  db: Queryable,
  organizationId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<[Recipient[], number]> {
  const [page, all] = await Promise.all([
    db.query<Recipient>(
      `select ${MEMBERS} from notification_recipients where organization_id = $1 order by address limit $2 offset $3`,
      [organizationId, limit, offset],
    ),
    db.query<{ total: number }>(
      'select count(*)::int as total from notification_recipients where organization_id = $1',
      [organizationId],
    ),
  ]);
  return [page.rows, all.rows[0]?.total ?? 0];
}

/** A recipient, and in how many seconds its owner may be asked again: an hour after the first mail, then twice as long each time. */
export async function findRecipient(
  db: Queryable,
  organizationId: string,
  address: string,
): Promise<(Recipient & { waitSeconds: number }) | undefined> {
  const { rows } = await db.query<Recipient & { waitSeconds: number }>(
    `select ${MEMBERS}, coalesce(ceil(extract(epoch from
       asked_at + least(interval '7 days', interval '1 hour' * power(2, least(asked_count, 8) - 1)) - now())), 0)::int as "waitSeconds"
     from notification_recipients where organization_id = $1 and address = $2`,
    [organizationId, address],
  );
  return rows[0];
}

export async function askAgain(db: Queryable, organizationId: string, address: string): Promise<void> {
  await db.query(
    `update notification_recipients set ask_at = now()
     where organization_id = $1 and address = $2 and confirmed_at is null`,
    [organizationId, address],
  );
}
