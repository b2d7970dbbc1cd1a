// Addresses that routes notify: whose owners have agreed, and whom to ask (notification_recipients).
import type { RecipientRule, StopLink } from '../../core/messages/recipients.ts';
import type { Queryable } from '../connections/pool.ts';
import { sealStop, type SecretBox } from '../encryption/secret-box.ts';

/** Mails that ask one address, of all organizations together, first ones and repeated ones. */
export const PER_ADDRESS_AND_DAY = 5;

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
  const { rowCount } = await db.query(
    `update notification_recipients set ${set} where organization_id = $1 and address = $2 and ${state}`,
    [organizationId, address],
  );
  return rowCount === 1;
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
  const { rows } = await db.query<{ address: string }>(
    `select address from notification_recipients
     where organization_id = $1 and address = any($2::text[]) and confirmed_at is not null`,
    [organizationId, addresses],
  );
  return new Set(rows.map(({ address }) => address));
}

const MEMBERS = `address, confirmed_at as "confirmedAt", asked_at as "askedAt", ask_at is not distinct from '${NEVER}' as refused`;

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

/**
 * A recipient, and in how many seconds its owner may be asked again: an hour after the first mail, then twice as long
 * each time.
 */
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
