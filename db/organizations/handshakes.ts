import { jsonParameter, sql } from '../connections/statements.ts';
import { type AuditEntry, recordEntry } from './audit.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';

export interface Handshaken {
  sourceId: string;
  kind: string;
  at: Date;
  /** What the owner needs to continue, encrypted; null: nothing. */
  shown: string | null;
}

/** Stores them; each source at most once. @throws a database error */
export async function recordHandshakes(db: Queryable, handshakes: Handshaken[]): Promise<void> {
  // One statement for all sources, in the order of their ids. A source that is being changed or deleted is skipped
  // instead of waiting for its lock.
  await sql(db).run`
    with noted as materialized (
      select * from json_to_recordset(${jsonParameter(handshakes)}::json) as n("sourceId" text, kind text,
        at timestamptz, shown text)
    ), free as (
      select id from sources where id in (select "sourceId" from noted) order by id for no key update skip locked
    )
    update sources s set last_handshake_kind = n.kind, last_handshake_at = n.at, last_handshake_shown = n.shown
    from free join noted n on n."sourceId" = free.id
    where s.id = free.id and (s.last_handshake_at is null or s.last_handshake_at < n.at)`;
}

export interface SentSecret {
  organizationId: string;
  sourceId: string;
  sealed: string;
  address: string;
  userAgent: string;
}

/**
 * Remembers the secret that came with a handshake, and records that in the audit log. Of two that come at once the
 * first wins: the condition is checked again when the row is locked.
 * @returns whether it was stored; false when the source has one
 */
export function rememberSecret(pool: Pool, sent: SentSecret): Promise<boolean> {
  const { organizationId, sourceId, sealed, address, userAgent } = sent;
  const entry: AuditEntry = {
    ...{ organizationId, address, userAgent },
    ...{ actor: 'provider', action: 'rememberSecret', resource: 'sources', outcome: 'done' },
    recordIds: [sourceId],
    members: ['verificationConfig.secret'],
  };
  return inTransaction(pool, async (db) => {
    const rowCount = await sql(db).run`
      update sources set verification_secret = ${sealed}, version = version + 1, updated_at = clock_timestamp()
      where id = ${sourceId} and organization_id = ${organizationId} and provider is not null
        and verification_secret is null`;
    if (rowCount !== 1) return false;
    await recordEntry(db, entry);
    return true;
  });
}
