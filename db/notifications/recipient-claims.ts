// Which owners of notified addresses are asked next (NOTE-08), and addresses that nobody names any more.
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { type Asked, PER_ADDRESS_AND_DAY } from './notification-recipients.ts';

/** A place in the queue of due addresses. */
export interface Place {
  askAt: Date;
  organizationId: string;
  address: string;
}

export interface Claim extends Asked {
  askedAt: Date;
  /** It was never asked before. */
  first: boolean;
}

/** Where a sweep through the queue begins. */
export const QUEUE_START: Place = { askAt: new Date(0), organizationId: '', address: '' };

// A stranger's address is asked for by anyone who writes it into a route. So an organization sends about this many such mails an hour,
// and one address gets a few a day from all organizations together.
const PER_ORGANIZATION_AND_HOUR = 30;
// One round reads at most so many due rows, and compares at most so many with the limit of their address.
const MAX_SEEN = 10_000;
const MAX_JUDGED = 200;
const MAX_FORGOTTEN = 200;

const AFTER = 'ask_at >= $1 and (ask_at, organization_id, address) > ($1::timestamptz, $2::text, $3::text)';

// Organizations take turns: the first row of each comes before the second row of any, and one that has sent its share costs a single
// look. What an address' own limit stops comes back after an hour, so that it is not in the way of others.
// Rows are locked while they are claimed and moved ahead in time, so each is claimed by one worker, and comes back when sending
// fails. A claim counts as a mail: a mail server may take the mail and not say so. Workers that claim at the same time may each count before the other: the limits are approximate.
const CLAIM = `
with seen as materialized (
  select ask_at, organization_id, address from notification_recipients
  where confirmed_at is null and ask_at <= now() and ${AFTER}
  order by ask_at, organization_id, address limit ${MAX_SEEN}
), senders as materialized (
  select s.organization_id, ${PER_ORGANIZATION_AND_HOUR} - (
    select count(*) from (
      select from notification_recipients o
      where o.organization_id = s.organization_id and o.asked_at > now() - interval '1 hour' limit ${PER_ORGANIZATION_AND_HOUR}
    ) recent) as room
  from (select distinct organization_id from seen) s
), turns as (
  select s.*, row_number() over (partition by s.organization_id order by s.ask_at, s.address) as turn
  from seen s join senders o on o.organization_id = s.organization_id and o.room > 0
), candidates as materialized (
  select t.* from turns t join senders o on o.organization_id = t.organization_id and t.turn <= o.room
  order by t.turn, t.ask_at limit ${MAX_JUDGED}
), locked as materialized (
  select n.organization_id, n.address, n.asked_at, c.turn, c.ask_at
  from candidates c join notification_recipients n on n.organization_id = c.organization_id and n.address = c.address
  where n.confirmed_at is null and n.ask_at <= now() for update of n skip locked
), judged as (
  select l.*, (select count(*) from notification_recipients o
                 cross join lateral (select unnest(o.asked_times) as time
                   union all select o.asked_at where o.asked_at <> all(o.asked_times)) asked
               where o.address = l.address and o.asked_at > now() - interval '1 day'
                 and asked.time > now() - interval '1 day') < ${PER_ADDRESS_AND_DAY} as allowed
  from locked l
), chosen as (
  select j.*, row_number() over (partition by allowed order by turn, ask_at) as place from judged j
), claimed as (
  update notification_recipients n
  set ask_at = now() + case when c.allowed then interval '300 seconds' else interval '1 hour' end,
      asked_at = case when c.allowed then now() else n.asked_at end,
      asked_times = case when c.allowed then (now()::timestamptz(3) || n.asked_times)[1:${PER_ADDRESS_AND_DAY}] else n.asked_times end
  from chosen c join organizations o on o.id = c.organization_id
  where n.organization_id = c.organization_id and n.address = c.address and (not c.allowed or c.place <= $4)
  returning n.organization_id, o.slug, n.address, n.asked_at, c.asked_at is null as first, c.allowed
)
select
  (select coalesce(jsonb_agg(jsonb_build_object('organizationId', organization_id, 'organization', slug, 'address', address,
     'askedAt', asked_at, 'first', first)), '[]') from claimed where allowed) as claims,
  (select jsonb_build_object('askAt', ask_at, 'organizationId', organization_id, 'address', address)
   from seen offset ${MAX_SEEN - 1}) as last`;

type Stored<T, K extends keyof T> = Omit<T, K> & Record<K, string>;

/**
 * Claims owners to be asked; one whose mail cannot be sent comes back after five minutes.
 * @param after where the last round ended
 * @returns with them, where the next round continues
 */
export async function claimRecipients(
  db: Queryable,
  limit: number,
  after: Place = QUEUE_START,
): Promise<{ claims: Claim[]; next: Place }> {
  const { rows } = await db.query<{ claims: Stored<Claim, 'askedAt'>[]; last: Stored<Place, 'askAt'> | null }>(CLAIM, [
    after.askAt,
    after.organizationId,
    after.address,
    limit,
  ]);
  const last = rows[0]?.last;
  return {
    claims: (rows[0]?.claims ?? []).map((claim) => ({ ...claim, askedAt: new Date(claim.askedAt) })),
    next: last ? { ...last, askAt: new Date(last.askAt) } : QUEUE_START,
  };
}

/** Addresses that were never asked, from a place in the queue, and where the next ones are. */
export async function neverAsked(db: Queryable, after: Place): Promise<{ places: Place[]; next: Place }> {
  const { rows } = await db.query<Place & { asked: boolean }>(
    `select ask_at as "askAt", organization_id as "organizationId", address, asked_at is not null as asked
     from notification_recipients where confirmed_at is null and ask_at < 'infinity' and ${AFTER}
     order by ask_at, organization_id, address limit ${MAX_FORGOTTEN}`,
    [after.askAt, after.organizationId, after.address],
  );
  return { places: rows.filter(({ asked }) => !asked), next: rows.at(-1) ?? QUEUE_START };
}

/**
 * Removes those addresses of an organization that no route and no channel names any more. Those that were asked before stay, so that writing them
 * again is no way to ask again.
 * @param askedAt of the claim that the caller holds; null for addresses that nobody has claimed
 * @returns the removed ones
 */
export function forgetUnnamed(
  pool: Pool,
  organizationId: string,
  addresses: readonly string[],
  askedAt: Date | null,
): Promise<string[]> {
  // Locked first: a route that names one of them at this time either waits, or is seen by the next statement.
  return inTransaction(pool, async (db) => {
    const locked = await db.query<{ address: string }>(
      `select address from notification_recipients
       where organization_id = $1 and address = any($2::text[]) and confirmed_at is null
         and asked_at is not distinct from $3::timestamptz
       order by address for update skip locked`,
      [organizationId, addresses, askedAt],
    );
    const { rows } = await db.query<{ address: string }>(
      `with named as materialized (
         select distinct named.address from routes r cross join unnest(notified_addresses(r.notify_emails)) as named (address)
         where r.organization_id = $1 and r.notify_emails is not null
         union
         select named.address from alert_channels c cross join unnest(notified_addresses(c.notify_emails)) as named (address)
         where c.organization_id = $1 and c.notify_emails is not null
       )
       delete from notification_recipients n
       where n.organization_id = $1 and n.address = any($2::text[]) and n.address not in (select address from named)
       returning n.address`,
      [organizationId, locked.rows.map(({ address }) => address)],
    );
    return rows.map(({ address }) => address);
  });
}

/** How many never-asked addresses wait for an organization, counted up to `most`, and how many of the given would be new. */
export async function waitingRecipients(
  db: Queryable,
  organizationId: string,
  addresses: readonly string[],
  most: number,
): Promise<{ waiting: number; added: number }> {
  const { rows } = await db.query<{ waiting: number; added: number }>(
    `select
       (select count(*)::int from (
          select from notification_recipients
          where organization_id = $1 and confirmed_at is null and asked_at is null limit $3) counted) as waiting,
       (select count(*)::int from unnest($2::text[]) as given (address)
        where not exists (
          select from notification_recipients n where n.organization_id = $1 and n.address = given.address)) as added`,
    [organizationId, addresses, most],
  );
  return rows[0] ?? { waiting: 0, added: 0 };
}
