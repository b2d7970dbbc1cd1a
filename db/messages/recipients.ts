// Addresses that routes notify: whose owners have agreed, and whom to ask (notification_recipients).
import type { RecipientRule, StopLink } from '../../core/messages/route-mails.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { hops } from '../sql/rules.ts';
import { sealStop, type SecretBox } from '../encryption/secret-box.ts';
import { fragment, raw, sql } from '../connections/statements.ts';

/** Mails that ask one address, of all organizations together, first ones and repeated ones. */
const PER_ADDRESS_AND_DAY = 5;

export interface Recipient {
  address: string;
  confirmedAt: Date | null;
  askedAt: Date | null;
  /** Whether its owner has said that no more mails are wanted. */
  refused: boolean;
}

// When the owner of an address that wants no more mails is asked again.
const NEVER = 'infinity';

export interface Asked {
  organizationId: string;
  organization: string;
  address: string;
}

type RecipientKey = Pick<Asked, 'organizationId' | 'address'>;

/** @returns false when the organization does not know the address, or not in that state */
async function update(
  db: Queryable,
  { organizationId, address }: RecipientKey,
  set: string,
  state = 'true',
): Promise<boolean> {
  return sql(db).any`
    update notification_recipients set ${raw(set)} where organization_id = ${organizationId} and address = ${address}
      and ${raw(state)}`;
}

/** The mail was sent, or will never be. */
export const noteAsked = (db: Queryable, asked: RecipientKey) =>
  update(db, asked, 'ask_at = null, asked_count = asked_count + 1');

/** @returns false when the organization no longer knows the address */
export const confirmRecipient = (db: Queryable, recipient: RecipientKey) =>
  update(db, recipient, 'confirmed_at = coalesce(confirmed_at, now()), ask_at = null');

/**
 * Its owner wants no more mails, whatever routes say later. Only the owner can change that.
 * @returns false when the organization no longer knows the address
 */
export const refuseRecipient = (db: Queryable, recipient: RecipientKey) =>
  update(db, recipient, `confirmed_at = null, ask_at = '${NEVER}'`);

export const askAgain = (db: Queryable, organizationId: string, address: string) =>
  update(
    db,
    { organizationId, address },
    'ask_at = now()',
    `confirmed_at is null and ask_at is distinct from '${NEVER}'`,
  );

/** Those of the addresses, in lower case, whose owners have agreed. */
export async function confirmedAddresses(
  db: Queryable,
  organizationId: string,
  addresses: readonly string[],
): Promise<Set<string>> {
  const confirmed = await sql(db).column`
    select address from notification_recipients
    where organization_id = ${organizationId} and address = any(${addresses}::text[]) and confirmed_at is not null`;
  return new Set(confirmed);
}

const MEMBERS = `address, confirmed_at, asked_at, ask_at is not distinct from '${NEVER}' as refused`;

/** A page in the order of addresses, and how many there are. */
export async function listRecipients(
  db: Queryable,
  organizationId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<[Recipient[], number]> {
  const ofOrganization = fragment`from notification_recipients where organization_id = ${organizationId}`;
  return Promise.all([
    sql(db).rows<Recipient>`
      select ${raw(MEMBERS)} ${ofOrganization} order by address limit ${limit} offset ${offset}`,
    sql(db).value<number>`select count(*)::int ${ofOrganization}`,
  ]);
}

/**
 * A recipient, and in how many seconds its owner may be asked again: an hour after the first mail, then twice as long
 * each time.
 */
export async function findRecipient(
  db: Queryable,
  organizationId: string,
  address: string,
): Promise<(Recipient & { waitSeconds: number }) | undefined> {
  return sql(db).first<Recipient & { waitSeconds: number }>`
    select ${raw(MEMBERS)}, coalesce(ceil(extract(epoch from
      asked_at + least(interval '7 days', interval '1 hour' * power(2, least(asked_count, 9) - 1)) - now())), 0)::int
        as wait_seconds
    from notification_recipients where organization_id = ${organizationId} and address = ${address}`;
}

// Claims of owners to be asked, and addresses that nobody names any more.

export interface Claim extends Asked {
  askedAt: Date;
  /** It was never asked before. */
  first: boolean;
}

// A stranger's address is asked for by anyone who writes it into a route. So an organization sends about this many such
// mails an hour, and one address gets a few a day from all organizations together.
const PER_ORGANIZATION_AND_HOUR = 30;
// Addresses that one round compares with the limit of each, at most.
const MAX_JUDGED = 200;

const IS_DUE = 'n.confirmed_at is null and n.ask_at <= now()';

/** Claims owners to be asked; one whose mail cannot be sent comes back after five minutes. */
export async function claimRecipients(db: Queryable, limit: number): Promise<Claim[]> {
  // Organizations take turns: the first address of each comes before the second of any, and one that has sent its
  // share has none. What an address' own limit stops comes back after an hour, so that it is not in the way of others.
  // Rows are locked while they are claimed and moved ahead in time, so each is claimed by one worker, and comes back
  // when sending fails. A claim counts as a mail: a mail server may take the mail and not say so. Workers that claim
  // at the same time may each count before the other: the limits are approximate.
  return sql(db).rows<Claim>`
    with recursive ${raw(hops('asking', 'notification_recipients', 'organization_id', { within: IS_DUE }))},
    candidates as materialized (
      select a.id as organization_id, d.* from asking a
      cross join lateral (
        select count(*) as sent from notification_recipients n where n.organization_id = a.id
          and n.asked_at > now() - interval '1 hour'
      ) s
      cross join lateral (
        select n.address, n.ask_at, row_number() over (order by n.ask_at, n.address) as turn
        from notification_recipients n where n.organization_id = a.id and ${raw(IS_DUE)}
        order by n.ask_at, n.address limit greatest(${raw(PER_ORGANIZATION_AND_HOUR)} - s.sent, 0)
      ) d
      order by d.turn, d.ask_at limit ${raw(MAX_JUDGED)}
    ), locked as materialized (
      select n.organization_id, n.address, n.asked_at, c.turn, c.ask_at
      from candidates c join notification_recipients n on n.organization_id = c.organization_id
        and n.address = c.address
      where ${raw(IS_DUE)} for update of n skip locked
    ), judged as (
      select l.*, (select count(*) from notification_recipients o
                     cross join lateral (select unnest(o.asked_times) as time
                       union all select o.asked_at where o.asked_at <> all(o.asked_times)) asked
                   where o.address = l.address and o.asked_at > now() - interval '1 day'
                     and asked.time > now() - interval '1 day') < ${raw(PER_ADDRESS_AND_DAY)} as allowed
      from locked l
    ), chosen as (
      select j.*, row_number() over (partition by allowed order by turn, ask_at) as place from judged j
    ), claimed as (
      update notification_recipients n
      set ask_at = now() + case when c.allowed then interval '300 seconds' else interval '1 hour' end,
          asked_at = case when c.allowed then now() else n.asked_at end,
          asked_times = case when c.allowed then (now()::timestamptz(3) || n.asked_times)[1:${raw(PER_ADDRESS_AND_DAY)}]
                             else n.asked_times end
      from chosen c join organizations o on o.id = c.organization_id
      where n.organization_id = c.organization_id and n.address = c.address and (not c.allowed or c.place <= ${limit})
      returning n.organization_id, o.slug, n.address, n.asked_at, c.asked_at is null as first, c.allowed
    )
    select organization_id, slug as organization, address, asked_at, first
    from claimed where allowed`;
}

/** Organizations with addresses that were never asked, in the order of their ids, after one. */
export function withNeverAsked(db: Queryable, after: string, limit: number): Promise<string[]> {
  return sql(db).column`
    select distinct organization_id as id from notification_recipients
    where confirmed_at is null and asked_at is null and ask_at < 'infinity' and organization_id > ${after}
    order by id limit ${limit}`;
}

/**
 * Removes addresses of an organization that no route and no channel names any more. Those that were asked before stay,
 * so that writing them again is no way to ask again.
 * @param claim addresses that the caller has just claimed for the first time; null: those that were never asked
 * @returns the removed ones
 */
export function forgetUnnamed(
  pool: Pool,
  organizationId: string,
  claim: Pick<Claim, 'address' | 'askedAt'>[] | null,
): Promise<string[]> {
  const chosen = claim?.map(({ address }) => address);
  // Locked first: a route that names one of them at this time either waits, or is seen by the next statement.
  return inTransaction(pool, async (db) => {
    const locked = await sql(db).column`
      select address from notification_recipients
      where organization_id = ${organizationId} and confirmed_at is null and ask_at < 'infinity'
        and (${chosen}::text[] is null or address = any(${chosen}::text[]))
        and asked_at is not distinct from ${claim?.[0]?.askedAt}::timestamptz
      order by address for update skip locked`;
    if (locked.length === 0) return [];
    return sql(db).column`
      with named as materialized (
        select distinct n.address from routes r cross join unnest(notified_addresses(r.notify_emails)) as n (address)
        where r.organization_id = ${organizationId} and r.notify_emails is not null
        union
        select n.address from alert_channels c cross join unnest(notified_addresses(c.notify_emails)) as n (address)
        where c.organization_id = ${organizationId} and c.notify_emails is not null
      )
      delete from notification_recipients n
      where n.organization_id = ${organizationId}
        and n.address = any(${locked}::text[])
        and n.address not in (select address from named)
      returning n.address`;
  });
}

/**
 * How many never-asked addresses wait for an organization, counted up to `most`, and how many of the given would be
 * new.
 */
export async function waitingRecipients(
  db: Queryable,
  organizationId: string,
  addresses: readonly string[],
  most: number,
): Promise<{ waiting: number; added: number }> {
  return sql(db).only<{ waiting: number; added: number }>`
    select
      (select count(*)::int from (
         select from notification_recipients
         where organization_id = ${organizationId} and confirmed_at is null and asked_at is null
         limit ${most}) counted) as waiting,
      (select count(*)::int from unnest(${addresses}::text[]) as given (address)
       where not exists (
         select from notification_recipients n
         where n.organization_id = ${organizationId} and n.address = given.address)) as added`;
}

interface StopLinkDeps {
  secretBox: SecretBox;
  recipientRule: () => RecipientRule;
}

/** @param publicUrl base of the link; empty when it is not known */
export function createStopLink({ secretBox, recipientRule }: StopLinkDeps, publicUrl: () => string): StopLink {
  return ({ id: organizationId, slug: organization }, address) => {
    const base = publicUrl();
    if (base === '' || recipientRule() !== 'confirmed') return null;
    return `${base}/notifications/stop/${sealStop(secretBox, { organizationId, organization, address: address.toLowerCase() })}`;
  };
}
